"""Reads a suite file, applies the changes of the command line, and expands it to a plan."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Literal

from strider.engine import Description, Json
from strider.suite import changes as command_line
from strider.suite import document as documents
from strider.suite.axes import AxesReader, Axis
from strider.suite.changes import Changes, selection
from strider.suite.document import Document
from strider.suite.expand import Origin, expand
from strider.suite.groups import grouped
from strider.suite.mistakes import Mistakes, Place, unknown
from strider.suite.offers import check_keys, check_metadata
from strider.suite.placement import ranks_of
from strider.suite.plan import Plan, SuiteTitle
from strider.suite.positions import Path
from strider.suite.scaling import scaled_down
from strider.suite.targets import targets_of
from strider.suite.values import convert, show
from strider.suite.vocabulary import SUITE_NAME, SUITE_PARAMETERS, ShapeKey, Vocabulary
from strider.text import forbidden, shortened
from strider.units import MOST_DIGITS

Target = Literal["needed", "optional", "several"]
_SEVERAL = "target: several directories can be measured only by strider run SUITE: name one directory"


@dataclass(frozen=True)
class Suite:
    """A suite without mistakes.

    Attributes:
        document: The file as read.
        plan: Its cases.
        origins: For each case of the plan, where it stands in the file.
        changes: The changes by the command line.
    """

    document: Document
    plan: Plan
    origins: list[Origin]
    changes: Changes


def load(
    file: FilePath,
    description: Description,
    changes: Changes | None = None,
    target: Target = "needed",
) -> Suite:
    """Reads a suite file and expands it.

    Args:
        file: The suite file.
        description: Capabilities of the engine.
        changes: The changes by the command line.
        target: The number of targets in the suite: a directory (`needed`), one or none (`optional`), or any
            number (`several`): the plan has the first of them.

    Raises:
        SuiteError: The suite has mistakes; the message has a line for each.
        StriderError: The file cannot be read.
    """
    return build(documents.read(file), description, changes or Changes(), target)


def build(
    document: Document,
    description: Description,
    changes: Changes,
    target: Target = "needed",
) -> Suite:
    """Expands a suite that was read; see `load`."""
    mistakes = Mistakes()
    vocabulary = Vocabulary.of(description)
    _require_readable(document)
    _check_tables(document, mistakes)
    mistakes.raise_if_any()
    _check_names(document, mistakes)
    command_line.apply(document, vocabulary, changes, mistakes)
    # Typed values may have escapes too.
    _require_readable(document)
    settings = _suite_settings(document, vocabulary, mistakes, target)
    reader = AxesReader(document, vocabulary, mistakes)
    defaults = _defaults(document, vocabulary, reader, mistakes)
    tables = [
        (reader.read_case(index, table, defaults), document.key(("case", index)))
        for index, table in document.cases()
    ]
    # Report invalid values before expansion, which needs all values.
    mistakes.raise_if_any()
    expanded = expand(tables, vocabulary, settings["seed"], mistakes)
    cases = scaled_down(expanded, settings["scale_down"], vocabulary, document, mistakes)
    check_metadata(cases, vocabulary, document, mistakes)
    check_keys(cases, document, mistakes)
    cases = grouped(cases, vocabulary, document, mistakes)
    mistakes.raise_if_any()
    plan = Plan(
        suite=SuiteTitle(name=settings["name"], description=settings["description"]),
        target=settings["target"] or "",
        ranks=ranks_of([case for case, _ in cases], settings["ranks_per_node"]),
        ranks_per_node=settings["ranks_per_node"],
        seed=settings["seed"],
        scale_down=settings["scale_down"],
        interleave=settings["interleave"],
        stall_timeout_s=settings["stall_timeout"],
        time_limit_s=settings["time_limit"],
        cases=[case for case, _ in cases],
    )
    return Suite(document, plan, [origin for _, origin in cases], changes)


def _defaults(
    document: Document, vocabulary: Vocabulary, reader: AxesReader, mistakes: Mistakes
) -> dict[ShapeKey, list[Axis]]:
    """The case keys in `[suite]` as axes, for each kind of case that the suite has."""
    table = document.data.get("suite", {})
    selected = [selection(case, vocabulary).workload for _, case in document.cases()]
    used = [workload for workload in vocabulary.workloads if workload in selected]
    for key in table:
        owners = [workload for workload in vocabulary.workloads if key in workload.common]
        if owners and not any(workload in used for workload in owners):
            message = f'"{key}" applies to {owners[0].noun} cases, but the suite has none'
            mistakes.add(document.key(("suite", key)), message)
    return reader.read_defaults(table, used)


def _require_readable(document: Document) -> None:
    """Rejects strings with forbidden characters, and numbers that are too long.

    It runs before all other checks, because their messages quote the input.

    Raises:
        SuiteError: There is one.
    """
    mistakes = Mistakes()
    for path, value, place in _values(document, (), document.data):
        names = [part for part in path if isinstance(part, str)]
        key = shortened(".".join(names[1:] if names[0] in ("suite", "case") and names[1:] else names))
        if isinstance(value, int):
            if abs(value) >= 10**MOST_DIGITS:
                mistakes.add(place, f"{key}: numbers are limited to {MOST_DIGITS} digits")
        elif found := forbidden(value):
            mistakes.add(
                place,
                f'{key}: "{shortened(value)}" contains {found}: remove control characters, line '
                "separators and bidirectional formatting characters",
            )
    mistakes.raise_if_any()


def _values(document: Document, path: Path, value: Json) -> Iterator[tuple[Path, str | int, Place]]:
    """All names, texts and whole numbers below a path, with where they stand."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*path, name), name, document.key((*path, name))
            yield from _values(document, (*path, name), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _values(document, (*path, index), inner)
    elif isinstance(value, str | int):
        yield path, value, document.value(path)


def _check_tables(document: Document, mistakes: Mistakes) -> None:
    """Checks that the file has one `[suite]` and some `[[case]]`; without them nothing can be read."""
    data = document.data
    if not isinstance(data.get("suite", {}), dict):
        mistakes.add(document.key(("suite",)), "suite must be one table: write [suite]")
    cases = data.get("case")
    if isinstance(cases, dict):
        mistakes.add(
            document.key(("case",)), "case must be a list of tables: write [[case]] with double brackets"
        )
    elif not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases) or not cases:
        mistakes.add(
            document.key(("case",)),
            "the suite has no case: add a [[case]] with interface, pattern and operations",
        )
    # If a table name is mistyped, report only that.
    if mistakes.found or "suite" not in data:
        _check_names(document, mistakes)


def _check_names(document: Document, mistakes: Mistakes) -> None:
    """Checks that the file has nothing else."""
    for name, value in document.data.items():
        if name not in ("suite", "case"):
            what = "table" if isinstance(value, dict | list) else "key outside a table"
            mistakes.add(document.key((name,)), unknown(what, name, ["suite", "case"]))


def _suite_settings(
    document: Document, vocabulary: Vocabulary, mistakes: Mistakes, target: Target
) -> dict[str, Json]:
    """Values of the `[suite]` keys that are not defaults for the cases."""
    table = document.data.get("suite", {})
    settings = {name: parameter.default for name, parameter in SUITE_PARAMETERS.items()}
    for key, typed in table.items():
        if key == "target" and isinstance(typed, list) and target == "several":
            settings[key] = targets_of(document)[0]
        elif key == "target" and isinstance(typed, list):
            mistakes.add(document.value(("suite", key)), _SEVERAL)
        elif key in SUITE_PARAMETERS:
            try:
                settings[key] = convert(SUITE_PARAMETERS[key], typed)
            except ValueError as error:
                mistakes.add(document.value(("suite", key)), f"{key}: {error}")
        elif key not in vocabulary.common_keys():
            mistakes.add(document.key(("suite", key)), _unknown_suite_key(key, vocabulary))
    _check_name(document, settings["name"], "name" in table, mistakes)
    if target == "needed" and table.get("target", "") == "":
        place = document.key(("suite", "target"))
        mistakes.add(
            place,
            'there is no target directory: add target = "/path/to/measure" to [suite], or use --target',
        )
    return settings


def _check_name(document: Document, name: Json, given: bool, mistakes: Mistakes) -> None:
    place: Place = document.value(("suite", "name")) if given else document.key(("suite",))
    if not given:
        mistakes.add(place, 'the suite has no name: add name = "my-suite" to [suite]')
    elif isinstance(name, str) and not re.fullmatch(SUITE_NAME, name):
        remedy = "1 to 64 letters, digits, dots, hyphens and underscores, the first a letter or a digit"
        mistakes.add(place, f"name: {show(name)} cannot be part of a run id: use {remedy}")


def _unknown_suite_key(key: str, vocabulary: Vocabulary) -> str:
    if key in vocabulary.case_keys() or vocabulary.interfaces_with(key):
        return f'"{key}" belongs in [[case]], not in [suite]'
    return unknown("key", key, [*SUITE_PARAMETERS, *vocabulary.common_keys()])
