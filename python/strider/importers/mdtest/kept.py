"""Phases apart: a tree that one command line leaves for the next, the data set `mdtest` of the directory."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from strider.datasets import find
from strider.datasets.trees import KeptTree
from strider.engine import Json
from strider.errors import StriderError
from strider.importers import status_file
from strider.importers.mdtest.workload import Workload
from strider.suite.mistakes import Mistakes

NAME = "mdtest"
"""The data set of a directory."""
STATUS = "stoneWallingStatusFile"
"""The option that names the status file."""
_NEEDS = {"files": ("files", "-F"), "directories": ("directories", "-D")}


@dataclass
class Kept:
    """The tree that stays in the directory between tests.

    Attributes:
        tree: The tree on storage; None if there is none before the first test, or its marker is unreadable.
        is_there: Whether there is a tree, also one of an earlier test of the same input.
    """

    tree: KeptTree | None = None
    is_there: bool = False

    @classmethod
    def found_in(cls, target: str) -> "Kept":
        """Returns the items in the directory of the tests."""
        try:
            marker = find(Path(target).expanduser().absolute(), NAME)
        except StriderError:
            # The run names the error.
            return cls(None, is_there=True)
        return cls(marker.tree, is_there=True) if marker else cls()

    def is_used_by(self, workload: Workload) -> bool:
        """Returns whether a test uses the tree or leaves items for the next test."""
        creates, removes = ("create" in workload.phases), ("remove" in workload.phases)
        if creates and removes:
            return False
        uses = creates or self.is_there
        if creates:
            self.tree = None
        self.is_there = self.is_there if not uses else not removes
        return uses


def check(workload: Workload, kept: Kept, mistakes: Mistakes) -> None:
    """Notes what keeps a test from leaving a tree, or from using the one that is there."""
    creates, removes = ("create" in workload.phases), ("remove" in workload.phases)
    if creates and removes:
        return
    if creates and kept.is_there:
        target = workload.settings.text("dirpath", ".")
        mistakes.add(
            workload.settings.place("create_only"),
            f"{target} holds the tree of an earlier creation: remove it with -r, or with strider data remove "
            f"{NAME} --target {target}",
        )
    if not creates and not kept.is_there:
        if workload.settings.text(STATUS):
            mistakes.add(
                workload.settings.place(STATUS),
                "there is no tree of an earlier creation: run the phase -C first",
            )
        return
    if workload.settings.number("iterations", 1) > 1:
        mistakes.add(
            workload.settings.place("iterations"),
            "phases apart have one iteration: remove -i, or measure all phases in one run",
        )
    if len(workload.task_counts) > 1:
        mistakes.add(
            workload.settings.place("last"),
            "phases apart have one number of tasks: remove -f, -l and -s, or measure all phases in one run",
        )
    if not creates and kept.tree is not None:
        for option, message in _misfits(workload, kept.tree):
            mistakes.add(workload.settings.place(option), message)


def _misfits(workload: Workload, tree: KeptTree) -> list[tuple[str, str]]:
    """Returns options that do not fit the tree, each with both values."""
    found: list[tuple[str, str]] = []
    population = tree.population
    for thing, (name, option) in _NEEDS.items():
        wanted = workload.files if thing == "files" else workload.directories
        if wanted and thing not in population.present:
            other = "-D" if option == "-F" else "-F"
            found.append(("files_only", f"the phases need {name}, and the tree has none: give {other} alone"))
    read = workload.settings.number("read_bytes") if "read" in workload.phases else 0
    if read > population.file_bytes:
        found.append(
            ("read_bytes", f"-e is {read}, and the files of the tree have {population.file_bytes} bytes")
        )
    status = workload.settings.text(STATUS)
    count = count_in(Path(status)) if status else None
    if count is not None and workload.files and count != population.files:
        found.append(
            (
                STATUS,
                f"{status} has {count} items, and the tree {population.files} files of each task: use the "
                "file that the creation of this tree wrote",
            )
        )
    return found


def misfit(tree: KeptTree, keys: Mapping[str, Json]) -> str:
    """Returns how a case differs from the tree that is there, with both values; empty if it fits."""
    shape = {"name": "balanced", "depth": 0, "fanout": 1, "place": "all", **keys}
    return tree.misfit(shape, int(keys["clients"]), keys["sharing"])


def count_in(path: Path) -> int | None:
    """Returns the number of items in a status file; None if it cannot be read, as in mdtest."""
    try:
        return status_file.read(path, str(path))
    except StriderError:
        return None
