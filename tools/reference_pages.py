"""The reference pages of the manual, from the engine, the suite reader and the command line."""

from collections.abc import Iterator, Sequence
from typing import Any

import typer

from strider.cli import app
from strider.engine import Description, Interface, Operation, Parameter, Pattern, Tree
from strider.suite.values import show, size_words
from strider.suite.vocabulary import SUITE_PARAMETERS
from strider.units import format_bytes, format_seconds

NOTE = "<!-- written by tools/reference_pages.py (make pages); changes are lost -->"


def reference_pages(description: Description) -> dict[str, str]:
    """Name and content of each page of docs/reference.

    Args:
        description: The engine's description of itself.
    """
    return {
        "command-line.md": _page("The command line", command_line()),
        "keys.md": _page("Keys of a suite", _keys(description)),
        "operations.md": _page("Operations", _operations(description.operations)),
        "trees.md": _page("Trees", _trees(description.trees)),
        "patterns.md": _page("Access patterns", _overview(description.patterns, "patterns")),
        "interfaces.md": _page("Interfaces", _overview(description.interfaces, "interfaces")),
    }


def _page(title: str, lines: Iterator[str]) -> str:
    return "\n".join([f"# {title}", "", NOTE, "", *lines]) + "\n"


# --- parameters ---


def parameter_table(parameters: Sequence[Parameter], prefix: str) -> list[str]:
    """A table with a line for each parameter, under the name that a suite gives it."""
    if not parameters:
        return ["It has no parameters."]
    rows = [
        (f"`{prefix}{each.name}`", limits_of(each), default_of(each), each.doc.replace("|", "\\|"))
        for each in parameters
    ]
    return _table(("parameter", "values", "default", "meaning"), rows)


def limits_of(parameter: Parameter) -> str:
    """The values that a parameter takes, in words and with their unit."""
    if parameter.kind == "url":
        return ", ".join(f"`{scheme}://…`" for scheme in parameter.choices)
    if parameter.choices:
        return ", ".join(f"`{choice}`" if choice else '`""`' for choice in parameter.choices)
    low, high = parameter.minimum, parameter.maximum
    parts = [f"at least {_with_unit(parameter, low)}"] if low is not None else []
    parts += [f"at most {_with_unit(parameter, high)}"] if high is not None else []
    words = [f"`{show(word)}`" for word in size_words(parameter)]
    return ", ".join([parameter.kind, *parts, *words])


def _with_unit(parameter: Parameter, limit: float) -> str:
    if parameter.kind == "bytes" and limit >= 1024:
        return format_bytes(int(limit))
    if parameter.kind == "seconds" and limit:
        return format_seconds(limit)
    return str(int(limit)) if limit == int(limit) else f"{limit:g}"


def default_of(parameter: Parameter) -> str:
    """A default as it would be typed in a suite; a dash where none can be named."""
    if parameter.default is None:
        return "required" if parameter.required else "—"
    if parameter.kind == "bytes":
        return f"`{format_bytes(parameter.default)}`"
    return f"`{show(parameter.default)}`"


# --- the engine ---


def _keys(description: Description) -> Iterator[str]:
    yield (
        "Keys of a suite file ([suites](../suites.md)); `strider describe case` prints the "
        'same. Write sizes as `"4KiB"`, times as `"30s"`.'
    )
    yield from ("", "## `[suite]`", "")
    yield from parameter_table(list(SUITE_PARAMETERS.values()), "")
    yield from ("", "Keys that every case has may also be set here, as defaults of all cases.")
    yield from ("", "## `[[case]]` with a pattern", "")
    yield (
        "A data case names an `interface` and a `pattern`. It has the keys below, the "
        "parameters of its [pattern](patterns.md) and those of its [interfaces](interfaces.md)."
    )
    yield from ("", *parameter_table(description.case, ""))
    yield from ("", "## `[[case]]` with a tree", "")
    yield (
        "A metadata case names an `interface` and a `tree`. It has the keys below, the "
        "parameters of its [tree](trees.md) and those of its [interfaces](interfaces.md)."
    )
    yield from ("", *parameter_table(description.tree_case, ""))


def _operations(operations: Sequence[Operation]) -> Iterator[str]:
    data = [each for each in operations if each.direction != "metadata"]
    metadata = [each for each in operations if each.direction == "metadata"]
    yield (
        "The key `operations` of a case lists operations; Strider times each as a separate "
        "phase ([what is measured](../measuring.md))."
    )
    yield from ("", "## Of data", "")
    yield from _table(("operation", "does", "counts as"), [(f"`{e.name}`", e.doc, e.direction) for e in data])
    yield from ("", "## Of metadata", "")
    yield (
        "Metadata operations work on the items of a [tree](trees.md); [metadata](../metadata.md) "
        "describes how Strider measures them."
    )
    rows = [(f"`{e.name}`", e.doc, e.visits, "yes" if e.mixes else "") for e in metadata]
    yield from ("", *_table(("operation", "does", "works on", "may be part of a mix"), rows))


def _trees(trees: Sequence[Tree]) -> Iterator[str]:
    yield "Directory trees for metadata operations ([metadata](../metadata.md))."
    for tree in trees:
        yield from ("", f"## {tree.name}", "", tree.doc, "", "```", *tree.formula.split("; "), "```", "")
        yield from (f"From: {tree.source}.", "", *parameter_table(tree.parameters, ""))


_INTRODUCTIONS = {
    "patterns": (
        "A pattern defines WHERE each rank accesses the file, and in which order. The key "
        "`pattern` of a case names one pattern, or several in a list."
    ),
    "interfaces": (
        "An interface defines HOW ranks access the file. The key `interface` of a case names "
        "one interface, or several in a list. Options follow the name of the interface: "
        "`posix.direct = true`."
    ),
}


def _overview(entries: Sequence[Pattern] | Sequence[Interface], folder: str) -> Iterator[str]:
    yield from (_INTRODUCTIONS[folder], "")
    rows = [(f"[{entry.name}](../{folder}/{entry.name}.md)", entry.doc) for entry in entries]
    yield from _table((folder.removesuffix("s"), "is"), rows)
    yield from ("", "```{toctree}", ":hidden:", ":glob:", "", f"../{folder}/*", "```")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [
        "| " + " | ".join(line) + " |" if line[0] != "---" else "|" + "---|" * len(head) for line in lines
    ]


# --- the command line ---


def command_line() -> Iterator[str]:
    """A section for each verb: what `strider VERB --help` prints."""
    root = typer.main.get_command(app)
    yield from (str(root.help), "", str(root.epilog))
    for words, command in commands(root):
        yield from _command(words, command)


def commands(root: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 (Typer keeps the class to itself)
    """The verbs with the words that call them, those of groups after the group's own."""
    for name, command in root.commands.items():
        if command.hidden:
            continue
        yield name, command
        for sub, each in getattr(command, "commands", {}).items():
            yield f"{name} {sub}", each


def _command(words: str, command: Any) -> Iterator[str]:  # noqa: ANN401
    context = type(command).context_class(command, info_name=f"strider {words}")
    level = "#" * (len(words.split()) + 1)
    yield from ("", f"{level} strider {words}", "")
    pieces = [piece.strip("{}") for piece in command.collect_usage_pieces(context)]
    yield from ("```text", " ".join(["strider", words, *pieces]), "```", "", str(command.help or ""))
    rows = [
        (_code(record[0]), record[1].replace("|", "\\|"))
        for parameter in command.get_params(context)
        if parameter.name != "help" and (record := parameter.get_help_record(context))
    ]
    if rows:
        yield from ("", *_table(("argument or option", "meaning"), rows))


def _code(words: str) -> str:
    """Arguments without the type that Typer adds behind them: `SUITE <str>`."""
    name = words.partition(" <")[0]
    return "`" + name.replace("|", "\\|") + "`"
