"""Output of `strider describe`."""

import re
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from strider.engine import Description, Interface, Json, Operation, Parameter, Pattern, Tree
from strider.launch.launchers.words import BINDING_WORDS, LAUNCHER_WORDS, LaunchWords
from strider.statistics.grades import GRADES, GradeWords, Reason, plain
from strider.suite.catalogue import SuiteEntry, catalogue
from strider.suite.values import show, size_words
from strider.suite.vocabulary import SUITE_PARAMETERS
from strider.units import format_bytes, format_seconds

_READABLE = 80
"""Columns of texts."""
_LARGE = 1_000_000
"""Larger limits are those of the program, and no help to choose a value."""
_REASONS_OF = {
    "result": "reasons of results: grades, meaning, remedy",
    "card": "reasons of cards",
    "comparison": "reasons of comparisons",
}

SMALLEST_SUITE = """\
[suite]
name = "mine"

[[case]]
interface  = "posix"                  # any value but those of operations may be a list
pattern    = "segmented"
transfer   = "1MiB"
block      = "256MiB"
operations = ["write", "read"]
"""


def print_overview(description: Description, console: Console) -> None:
    """Prints one line for each entry of the description."""
    sections: list[tuple[str, list[tuple[str, str]]]] = [
        (
            "interfaces: I/O APIs and libraries",
            [(entry.name, _short(entry)) for entry in description.interfaces],
        ),
        (
            "patterns: file offsets that each rank accesses",
            [(entry.name, entry.doc) for entry in description.patterns],
        ),
        (
            "trees: directories and items of metadata operations",
            [(entry.name, entry.doc) for entry in description.trees],
        ),
        (
            "operations: data operations on a pattern",
            [(e.name, e.doc) for e in description.operations if e.direction != "metadata"],
        ),
        (
            "operations: metadata operations on a tree",
            [(e.name, e.doc) for e in description.operations if e.direction == "metadata"],
        ),
        ("case: keys of all data cases", [(entry.name, entry.doc) for entry in description.case]),
        (
            "tree-case: keys of all metadata cases",
            [(entry.name, entry.doc) for entry in description.tree_case],
        ),
        ("suite: keys of the run", [(entry.name, entry.doc) for entry in SUITE_PARAMETERS.values()]),
        ("suites: predefined, for strider run NAME", [(e.name, e.doc) for e in catalogue(description)]),
        ("trust: grades of results", [(entry.name, plain(entry.meaning)) for entry in GRADES]),
        ("launchers: values of --launcher", [(one.name, one.meaning) for one in LAUNCHER_WORDS]),
        ("binding: values of --bind", [(one.name, one.meaning) for one in BINDING_WORDS]),
    ]
    for title, rows in sections:
        if rows:
            console.print(Text(title, style="bold"))
            console.print(Padding(_grid(rows), (0, 0, 1, 2)))
    console.print(Text("the smallest suite, for strider run FILE --target DIR", style="bold"))
    console.print(Padding(Text(SMALLEST_SUITE), (0, 0, 1, 2)))
    console.print(
        "Details: strider describe TOPIC NAME, for example strider describe patterns strided", style="dim"
    )


def print_keys(keys: Sequence[Parameter], console: Console) -> None:
    """Prints keys of suite files as a table."""
    console.print(_parameters(list(keys)))


def print_entries(
    entries: Sequence[Interface | Pattern | Tree | Operation], description: Description, console: Console
) -> None:
    """Prints interfaces, patterns, trees or operations in full."""
    for entry in entries:
        _print_entry(entry, _keys_of(entry, description), console)


def _keys_of(entry: Interface | Pattern | Tree | Operation, description: Description) -> list[Parameter]:
    """Returns the parameters of an entry; of an operation the keys that its sentence names."""
    if not isinstance(entry, Operation):
        return entry.parameters
    of_trees = [parameter for tree in description.trees for parameter in tree.parameters]
    keys = [*description.tree_case, *of_trees] if entry.direction == "metadata" else description.case
    named = re.findall(r"\w+", entry.doc)
    return list({key.name: key for key in keys if key.name in named}.values())


def print_suites(suites: Sequence[SuiteEntry], console: Console) -> None:
    """Prints predefined suites with purpose and number of cases, in 80 columns; of one, its notes too."""
    width = min(_READABLE, console.width)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("suite", no_wrap=True)
    table.add_column("cases", no_wrap=True, justify="right")
    table.add_column("purpose")
    for suite in suites:
        table.add_row(suite.name, str(suite.cases), Text(suite.doc))
    console.print(table, width=width)
    name = suites[0].name
    if len(suites) == 1:
        console.print()
        for paragraph in _paragraphs(suites[0].notes):
            console.print(Text(paragraph), width=width, soft_wrap=paragraph.startswith(" "))
        console.print(Text(f"\nfile: {suites[0].file}"), soft_wrap=True)
    console.print(f"\ncases: strider plan {name}; measure: strider run {name} --target DIR", style="dim")


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Yields each paragraph of a comment in one line; empty lines and commands stay lines of their own."""
    words: list[str] = []
    for line in lines:
        if line and not line.startswith(" "):
            words.append(line)
            continue
        if words:
            yield " ".join(words)
            words = []
        yield line
    if words:
        yield " ".join(words)


def print_namesakes(topics: Sequence[str], name: str, console: Console) -> None:
    """Prints where else something of a name is described."""
    if topics:
        commands = ", ".join(f"strider describe {topic} {name}" for topic in topics)
        console.print(Text(f"of the same name: {commands}"), style="dim", soft_wrap=True)


def print_trust(entries: Sequence[GradeWords | Reason], console: Console) -> None:
    """Prints grades with their needs, then reasons with their meanings and remedies, in 80 columns."""
    width = min(_READABLE, console.width)
    grades = [entry for entry in entries if isinstance(entry, GradeWords)]
    for grade in grades:
        needs = _grid([("-", plain(f"{need.criterion}: {need.need}")) for need in grade.needs])
        grid = _grid([(grade.name, plain(grade.meaning))])
        grid.add_row("", needs)
        console.print(Padding(grid, (0, 0, 1, 0)), width=width)
    for kind, title in _REASONS_OF.items():
        reasons = [entry for entry in entries if isinstance(entry, Reason) and entry.of == kind]
        if reasons:
            console.print(Text(title, style="bold"), width=width)
            grid = _grid([(one.name, _reason(one)) for one in reasons])
            console.print(Padding(grid, (0, 0, 1, 0)), width=width)
    if len(grades) > 1:
        console.print("The weakest criterion decides, and its word is the reason: docs/trust.md", style="dim")


def print_launch(entries: Sequence[LaunchWords], console: Console) -> None:
    """Prints launchers or bindings with the words that they stand for, in 80 columns."""
    grid = _grid([(one.name, plain("\n".join(filter(None, _launch(one))))) for one in entries])
    console.print(Padding(grid, (0, 0, 1, 0)), width=min(_READABLE, console.width))
    console.print("Details: docs/howto/measure-with-16-nodes.md", style="dim")


def _launch(one: LaunchWords) -> Sequence[str]:
    return one.meaning, one.words, one.remark


def _reason(one: Reason) -> str:
    """Returns the grades, the meaning and the remedy of a reason."""
    return plain(f"{one.grades}: {one.meaning}\n{one.remedy}")


def _print_entry(
    entry: Interface | Pattern | Tree | Operation, keys: list[Parameter], console: Console
) -> None:
    console.print(Text(entry.name, style="bold"))
    for line in _facts(entry):
        console.print(Padding(Text(line), (0, 0, 0, 2)))
    if keys:
        prefix = f"{entry.name}." if isinstance(entry, Interface) else ""
        console.print(Padding(_parameters(keys, prefix), (1, 0, 0, 2)))
    console.print()


def _facts(entry: Interface | Pattern | Tree | Operation) -> Iterator[str]:
    yield entry.doc
    if isinstance(entry, Interface):
        if not entry.available:
            yield f"not available: {entry.unavailable_reason}"
        able = [name.replace("_", " ") for name, has in entry.capabilities.items() if has is True]
        yield f"capabilities: {', '.join(able) or 'none'}"
        yield f"operations on a tree: {', '.join(entry.metadata) or 'none'}"
    if isinstance(entry, Operation) and entry.direction == "metadata":
        yield f"works on: {entry.visits}" + (", may be part of a mix" if entry.mixes else "")
    if isinstance(entry, Pattern | Tree):
        yield entry.formula
    if isinstance(entry, Pattern):
        yield (
            "coverage: the ranks together access each byte exactly once"
            if entry.tiles
            else "coverage: bytes may be accessed several times or not at all"
        )
    if isinstance(entry, Pattern | Tree):
        yield f"from: {entry.source}"


def _short(interface: Interface) -> str:
    return (
        interface.doc
        if interface.available
        else f"{interface.doc} Not available: {interface.unavailable_reason}"
    )


def _grid(rows: list[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for name, text in rows:
        grid.add_row(Text(name), Text(text))
    return grid


def _parameters(parameters: list[Parameter], prefix: str = "") -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("key", no_wrap=True)
    table.add_column("value", overflow="fold", max_width=30)
    table.add_column("default", overflow="fold", max_width=20)
    table.add_column("meaning")
    for parameter in parameters:
        cells = (prefix + parameter.name, _values(parameter), _default(parameter), parameter.doc)
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _values(parameter: Parameter) -> str:
    """Returns the permitted values of a parameter."""
    if parameter.kind == "choice":
        return ", ".join(choice or '""' for choice in parameter.choices)
    if parameter.kind == "url":
        return ", ".join(f"{scheme}://…" for scheme in parameter.choices)
    words = {"bytes": "size", "count": "number", "flag": "true, false", "seconds": "time", "map": "table"}
    word = {**words, "weights": "operations with weights"}.get(parameter.kind, parameter.kind)
    if parameter.kind == "sharing":
        return "shared, per-rank, per-node, or a number"
    return ", ".join([word, *_range(parameter), *map(show, size_words(parameter))])


def _range(parameter: Parameter) -> Iterator[str]:
    """Yields the range of a number: `1 to 64`, `from 1`, `up to 99`; nothing without limits."""
    least, most = parameter.minimum, parameter.maximum
    has_most = parameter.kind == "count" and most is not None and most <= _LARGE
    if least and has_most:
        yield f"{_plain(parameter, least)} to {_plain(parameter, most)}"
    elif least:
        yield f"from {_plain(parameter, least)}"
    elif has_most:
        yield f"up to {_plain(parameter, most)}"


def _default(parameter: Parameter) -> str:
    if parameter.default is None:
        return "required" if parameter.required else "derived"
    return _plain(parameter, parameter.default)


def _plain(parameter: Parameter, value: Json) -> str:
    """Formats a value with its unit."""
    if parameter.kind == "bytes":
        return format_bytes(int(value))
    if parameter.kind == "seconds":
        return format_seconds(float(value)) if value else "0"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, str):
        return value or '""'
    if value == {}:
        return "none"
    return show(value)
