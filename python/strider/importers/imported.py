"""A suite made of another benchmark's input."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from strider import __version__
from strider.engine import Json
from strider.suite.document import Document
from strider.suite.mistakes import Place
from strider.suite.positions import Path, Positions
from strider.units import format_bytes

if TYPE_CHECKING:
    import tomlkit
    from tomlkit.items import Table

    from strider.store.model import Run

VERSION = f"4.1.0+strider-{__version__}"
"""The version of IOR and mdtest whose output form results have, and the program that measured."""
Render = Callable[["Run"], Iterator[str]]
"""Lines that show the results of a run."""
Grades = Mapping[tuple[int, str], str]
"""Grade with reasons, such as `C short`, by number of the case and operation."""


GradedRender = Callable[["Run", Grades], Iterator[str]]
"""The same, with the grades of the results."""


@dataclass(frozen=True)
class ResultFile:
    """A file of results that the input requests.

    Attributes:
        path: The file; a run replaces it.
        place: Where the input requests it.
        render: Returns its lines.
        check: Raises an error if it could not be written after the run; None for the usual check.
        write: Writes it, given the run, in place of `render`; None for the usual way.
    """

    path: FilePath
    place: Place
    render: GradedRender = lambda run, grades: iter(())
    check: Callable[[], None] | None = None
    write: Callable[["Run"], None] | None = None


@dataclass(frozen=True)
class Imported:
    """Another benchmark's input, read.

    Attributes:
        document: The suite.
        notes: What differs from the other benchmark, one sentence each.
        render: Returns lines that show the results of a run as the other benchmark does.
        remarks: Returns lines of Strider's own about them.
        files: Files of results that the input requests.
        manifests: Manifests of cases with files that stay in the user's directory, by the case's number.
        makes_target: Whether a run makes the target directory if it is missing, and removes it at the end.
    """

    document: Document
    notes: list[str]
    render: GradedRender
    remarks: GradedRender = lambda run, grades: iter(())
    files: Sequence[ResultFile] = ()
    manifests: Mapping[int, dict[str, Json]] = field(default_factory=dict)
    makes_target: bool = False


@dataclass
class CaseDraft:
    """A `[[case]]` to be.

    Attributes:
        keys: Its keys in their order; an option of an interface is written `posix.direct`.
        line: Line of the original where it begins; 0 where the original is a command line.
        places: For keys with a place of their own, the line in the original or the option that gave them.
        comment: The original text.
    """

    keys: dict[str, Json]
    line: int = 0
    places: dict[str, int | str] = field(default_factory=dict)
    comment: str = ""


@dataclass
class SuiteDraft:
    """A suite to be.

    Attributes:
        source: The original as messages name it.
        keys: The keys of `[suite]`.
        cases: The cases.
        places: Like a case's, for the keys of `[suite]`.
        comments: Lines at the head of the suite file.
    """

    source: str
    keys: dict[str, Json]
    cases: list[CaseDraft]
    places: dict[str, int | str] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)

    @classmethod
    def of_tests(
        cls,
        program: str,
        source: str,
        description: str,
        target: tuple[str, Place],
        tasks_per_node: int | None,
        cases: list[CaseDraft],
    ) -> "SuiteDraft":
        """A suite of tests that a program makes one after the other.

        Args:
            program: Its name.
            source: Its command line, or the file.
            description: Description of the suite, if the source is a file.
            target: The directory of all tests, and the place that gave it.
            tasks_per_node: How many tasks are on each node; None where not given.
            cases: A case for each test.
        """
        directory, place = target
        keys: dict[str, Json] = {
            "name": program,
            "description": source if source.startswith(f"{program} ") else description,
            "target": directory,
            "interleave": "none",
            **({"ranks_per_node": tasks_per_node} if tasks_per_node else {}),
        }
        comments = [f"Made from {source} by Strider."]
        return cls(source, keys, cases, {"target": origin(place)}, comments)

    def document(self) -> Document:
        """The suite as if it had been read from a file, with places in the original."""
        text = self._text()
        document = Document(self.source, text, tomllib.loads(text), Positions())
        _add_places(document, ("suite",), self.places)
        for index, case in enumerate(self.cases):
            if case.line:
                document.lines.keys["case", index] = case.line
            else:
                document.changed["case", index] = self.source
            _add_places(document, ("case", index), case.places)
        return document

    def _text(self) -> str:
        import tomlkit

        document = tomlkit.document()
        for comment in self.comments:
            document.add(tomlkit.comment(comment))
        document.add("suite", _table(self.keys))
        cases = tomlkit.aot()
        for case in self.cases:
            table = _table(case.keys)
            if case.comment:
                table.comment(case.comment)
            cases.append(table)
        document.add("case", cases)
        return tomlkit.dumps(document)


def origin(place: Place) -> int | str:
    """A place as drafts have it: the line in the original, or where that is a command line the option."""
    return place.line or place.text


def size(count: int) -> int | str:
    """A size as one types it: `"64KiB"`, or the number where no unit fits."""
    text = format_bytes(count)
    return text.replace(" ", "") if text.endswith("iB") else count


def _add_places(document: Document, table: Path, places: dict[str, int | str]) -> None:
    for key, place in places.items():
        path: Path = (*table, *key.split("."))
        if isinstance(place, str):
            document.changed[path] = place
        else:
            document.lines.keys[path] = document.lines.values[path] = place


def _table(keys: dict[str, Json]) -> "Table":
    import tomlkit

    table = tomlkit.table()
    for key, value in keys.items():
        table.append(tomlkit.key(key.split(".")) if "." in key else key, _value(value))
    return table


def _value(value: Json) -> "tomlkit.items.Item":
    import tomlkit

    if isinstance(value, dict):
        inline = tomlkit.inline_table()
        inline.update(value)
        return inline
    return tomlkit.item(value)
