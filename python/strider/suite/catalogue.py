"""The predefined suites with their purposes, in the order in which a newcomer wants them."""

import re
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from strider.engine import Description
from strider.suite.load import load
from strider.suite.ready_made import ready_made

FIRST = ("sequential", "random", "interfaces", "mixed", "metadata", "load")
"""Suites for any storage; the others follow by name, those that repeat a publication last."""
_SOURCE = re.compile(r", (19|20)\d\d\)$")
"""End of the description of a suite that repeats a publication: `(thesis, 2009)`."""


@dataclass(frozen=True)
class SuiteEntry:
    """A predefined suite.

    Attributes:
        name: Name for the command line.
        doc: Purpose, in one line.
        cases: Number of cases.
        file: Suite file.
        notes: What its first comment says, in lines; those of commands begin with spaces.
    """

    name: str
    doc: str
    cases: int
    file: Path
    notes: tuple[str, ...] = ()

    def model_dump(self) -> dict[str, str | int]:
        """Returns it as an object of JSON."""
        notes = "\n".join(self.notes)
        return {
            "name": self.name,
            "doc": self.doc,
            "cases": self.cases,
            "file": str(self.file),
            "notes": notes,
        }


def catalogue(description: Description) -> list[SuiteEntry]:
    """Returns the predefined suites: each file of their folder.

    Args:
        description: Features of the engine.

    Raises:
        SuiteError: A suite has mistakes; the message has a line for each.
    """
    entries = []
    for name, file in ready_made().items():
        plan = load(file, description, target="several").plan
        entries.append(SuiteEntry(name, plan.suite.description, len(plan.cases), file, _notes(file)))
    return sorted(entries, key=_order)


def _notes(file: Path) -> tuple[str, ...]:
    """Returns the lines of a suite's first comment."""
    lines = file.read_text(encoding="utf-8").splitlines()
    head = takewhile(lambda line: line.startswith("#"), lines)
    return tuple(line.removeprefix("#").removeprefix(" ").rstrip() for line in head)


def _order(entry: SuiteEntry) -> tuple[int, bool, str]:
    """Returns the position of a suite in the list."""
    first = FIRST.index(entry.name) if entry.name in FIRST else len(FIRST)
    return first, bool(_SOURCE.search(entry.doc)), entry.name
