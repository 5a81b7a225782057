"""A suite of mdtest's tests: the same trees, with as many items and as many operations on them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from strider.engine import Json
from strider.importers import status_file
from strider.importers.imported import (
    CaseDraft,
    Imported,
    ResultFile,
    SuiteDraft,
    origin,
    size,
)
from strider.importers.mdtest import kept, summary
from strider.importers.mdtest.checks import INTERFACES, check
from strider.importers.mdtest.summary import TestInfo
from strider.importers.mdtest.workload import Workload
from strider.store.model import Run
from strider.suite.mistakes import Mistakes, Place

_SOURCES: dict[str, tuple[str, ...]] = {
    "interface": ("api",),
    "depth": ("depth", "items"),
    "fanout": ("branch_factor", "depth", "items"),
    "items": ("items_per_dir", "items"),
    "place": ("leaf_only", "items"),
    "file_size": ("write_bytes", "read_bytes"),
    "clients": ("last",),
    "repetitions": ("iterations",),
    "sharing": ("unique_dir_per_task",),
    "order": ("randomize",),
    "seed": ("random_seed",),
    "readback": ("nstride",),
    "shift": ("nstride",),
    "sync": ("call_sync", "sync_file"),
    "deadline_of": ("stone_wall_timer_seconds",),
    "deadline": ("stone_wall_timer_seconds",),
    "wear_out": ("stone_wall_timer_seconds",),
    "settle": ("pre_delay",),
    "verify": ("verify_read",),
}
"""The options from which each key of a case comes."""


def make(workloads: Sequence[Workload], source: str) -> Imported:
    """Makes a suite of some tests.

    Args:
        workloads: At least one.
        source: The file, or the command line.

    Raises:
        SuiteError: A test is wrong, or asks for what Strider cannot do.
    """
    mistakes = Mistakes()
    for workload in workloads:
        check(workload, mistakes)
    target = _target(workloads, mistakes)
    mistakes.raise_if_any()
    drafters = list(_drafters(workloads, kept.Kept.found_in(target), mistakes))
    mistakes.raise_if_any()
    tests = [(drafter.workload, drafter.tasks) for drafter in drafters]
    cases = [
        drafter.case(f"test {number}" if len(tests) > 1 else "") for number, drafter in enumerate(drafters, 1)
    ]
    draft = SuiteDraft.of_tests(
        "mdtest",
        source,
        f"mdtest as in {source}",
        (target, workloads[0].settings.place("dirpath")),
        workloads[0].surroundings.tasks_per_node,
        cases,
    )
    notes = list(
        dict.fromkeys(
            note for drafter in drafters for note in (*drafter.workload.settings.notes(), *drafter.notes)
        )
    )
    infos = [_info(workload, tasks) for workload, tasks in tests]
    return Imported(
        draft.document(),
        notes,
        lambda run, _: summary.render(run, infos, source),
        lambda run, grades: summary.remarks(run, grades, infos),
        files=list(_status_files(drafters)),
        makes_target=True,
    )


def _drafters(workloads: Sequence[Workload], tree: kept.Kept, mistakes: Mistakes) -> Iterator["_Drafter"]:
    """Yields what makes a case of each test; notes where tests do not fit the tree that is there."""
    for workload in workloads:
        kept.check(workload, tree, mistakes)
        found = None if "create" in workload.phases else tree.tree
        is_kept = tree.is_used_by(workload)
        for tasks in workload.task_counts:
            drafter = _Drafter(workload, tasks, is_kept=is_kept)
            if is_kept and found and (misfit := kept.misfit(found, drafter.shape())):
                mistakes.add(
                    workload.settings.place("items", "items_per_dir"), f"{misfit}: as in its creation"
                )
            yield drafter


def _status_files(drafters: Sequence["_Drafter"]) -> Iterator[ResultFile]:
    """Yields the files in which creations that a deadline ends note how many items each task has."""
    for number, drafter in enumerate(drafters, start=1):
        settings = drafter.workload.settings
        path, place = settings.text(kept.STATUS), settings.place(kept.STATUS)
        if path and settings.number("stone_wall_timer_seconds") and "create" in drafter.workload.phases:
            yield _status_file(Path(path), place, number)


def _status_file(path: Path, place: Place, case: int) -> ResultFile:
    def write(run: Run) -> None:
        for sample in run.samples:
            if sample.case == case and sample.operation in ("create", "mknod") and sample.valid:
                status_file.write(path, sample.requests // run.cases[case].clients, place.text)

    return ResultFile(path, place, check=lambda: status_file.require_writable(path, place.text), write=write)


@dataclass
class _Drafter:
    """Makes a case of a test.

    Attributes:
        workload: The test.
        tasks: Number of tasks.
        is_kept: Whether the tree outlives the test, or is that of an earlier one.
        notes: What differs from mdtest.
    """

    workload: Workload
    tasks: int
    is_kept: bool = False
    notes: list[str] = field(default_factory=list)

    def case(self, name: str) -> CaseDraft:
        settings = self.workload.settings
        keys: dict[str, Json] = {
            **({"name": name} if name else {}),
            "interface": INTERFACES[settings.text("api", "POSIX").lower()],
            **({"dataset": kept.NAME} if self.is_kept else {}),
            **self._tree(),
            "clients": self.tasks,
            "operations": self._operations(),
            "repetitions": settings.number("iterations", 1),
            "sharing": self._sharing(),
            **self._order(),
            **self._readback(),
            **self._further(),
        }
        self._note_rest()
        places = {
            key: origin(settings.place(*options))
            for key in keys
            for options in [_SOURCES.get(key, ())]
            if any(option in settings.by_name for option in options)
        }
        return CaseDraft(keys, settings.line, places)

    def shape(self) -> dict[str, Json]:
        """The keys that must be those of the case that made the tree."""
        return {**self._tree(), "clients": self.tasks, "sharing": self._sharing()}

    def _sharing(self) -> str:
        return "per-rank" if self.workload.flag("unique_dir_per_task") else "shared"

    def _note(self, option: str, message: str) -> None:
        self.notes.append(f"{self.workload.place(option)}: {message}")

    def _tree(self) -> dict[str, Json]:
        """The tree. Trees side by side, of one directory each, are the leaves of a tree of two levels."""
        work = self.workload
        side_by_side = work.loops > 1
        depth = 1 if side_by_side else work.depth
        return {
            "tree": "balanced",
            **({"depth": depth} if depth else {}),
            **({"fanout": work.loops if side_by_side else work.branches} if depth else {}),
            "items": work.items_per_directory,
            **({"place": "leaves"} if depth and (side_by_side or work.flag("leaf_only")) else {}),
            **({"file_size": size(work.file_size)} if work.file_size else {}),
        }

    def _operations(self) -> list[str]:
        """The phases in mdtest's order: the tree, directories, files, the tree."""
        work = self.workload
        asked = set(work.phases)
        read = "small-read" if work.settings.number("read_bytes") else "open-close"
        directories = {"create": "mkdir", "stat": "stat-directory", "remove": "rmdir"}
        if work.items > 1:
            directories["rename"] = "rename-directory"
        files = {
            "create": "mknod" if work.flag("make_node") else "create",
            "stat": "stat",
            "read": read,
            "remove": "unlink",
        }
        phases = ("create", "stat", "read", "rename", "remove")
        return [
            *(["make-tree"] if "create" in asked else []),
            *(directories[p] for p in phases if work.directories and p in asked and p in directories),
            *(files[p] for p in phases if work.files and p in asked and p in files),
            *(["remove-tree"] if "remove" in asked else []),
        ]

    def _order(self) -> dict[str, Json]:
        """The order of items (-R)."""
        if not self.workload.flag("randomize"):
            return {}
        self._note(
            "randomize",
            "Strider uses random order in all phases, mdtest only in stat and read; the order "
            "differs from mdtest's, which depends on its C library",
        )
        seed = self.workload.settings.number("random_seed")
        return {"order": "random", **({"seed": abs(seed)} if seed else {})}

    def _readback(self) -> dict[str, Json]:
        """Whose items a task works on (-N)."""
        if not self.workload.flag("nstride"):
            return {}
        shift = self.workload.shift(self.tasks)
        if not shift:
            self._note(
                "nstride",
                f"with {self.tasks} tasks, each task works on its own items, because the shift is a "
                "multiple of the number of tasks",
            )
            return {}
        return {"readback": "growing-shift", "shift": shift}

    def _further(self) -> dict[str, Json]:
        """Checks, syncing, deadline and pauses."""
        settings = self.workload.settings
        deadline, delay = settings.number("stone_wall_timer_seconds"), settings.number("pre_delay")
        if deadline and "create" not in self.workload.phases:
            self._note("stone_wall_timer_seconds", "it has no effect without creation, as in mdtest")
            deadline = 0
        if self.workload.flag("verify_read"):
            self._note(
                "verify_read",
                "data generation and verification count as measured time (reported as prepare_s)",
            )
        return {
            **({"verify": "full"} if self.workload.flag("verify_read") else {}),
            **({"sync": self._sync()} if self._sync() else {}),
            **({"deadline": deadline, "deadline_of": "creation", "wear_out": True} if deadline else {}),
            **({"settle": delay} if delay else {}),
        }

    def _sync(self) -> str:
        """When data is synced; mdtest syncs only files with bytes."""
        if self.workload.flag("call_sync"):
            return "node"
        syncs_files = self.workload.flag("sync_file") and self.workload.settings.number("write_bytes")
        return "each" if syncs_files else ""

    def _note_kept(self) -> None:
        """Notes where the tree stays, and where its number of items comes from."""
        settings = self.workload.settings
        folder = Path(settings.text("dirpath", ".")) / f"strider-data-{kept.NAME}"
        if "create" in self.workload.phases:
            self.notes.append(f"-r is missing: the tree stays, in {folder}")
            return
        status = settings.text(kept.STATUS)
        if status and kept.count_in(Path(status)) is None:
            self._note(kept.STATUS, "it cannot be read, and the tree's own record is used")

    def _note_rest(self) -> None:
        """Notes what comes of the phases that are left out, and of counts that do not divide."""
        work, settings = self.workload, self.workload.settings
        given, items = settings.number("items"), work.items
        if given and items != given:
            self._note(
                "items",
                f"as in mdtest, each task has {work.items_per_directory} items in each of "
                f"{work.places} directories: {items} in total",
            )
        if self.is_kept:
            self._note_kept()
        elif "create" not in work.phases:
            self.notes.append(
                "-C is missing: Strider creates the items that the phases need beforehand, unmeasured"
            )
        if "remove" not in work.phases and not self.is_kept:
            self.notes.append("-r is missing: Strider removes the remaining items at the end, unmeasured")
        if work.directories and "rename" in work.phases and items > 1:
            self.notes.append(
                "Strider renames a directory within its parent; mdtest gives it the name of the "
                "previous directory, which may have another parent"
            )
        if work.flag("unique_dir_per_task") and {"create", "remove"} & set(work.phases):
            self._note(
                "unique_dir_per_task",
                "Tree creation and Tree removal count the directories of all tasks; in mdtest, "
                "they count those of one task",
            )
        if work.flag("collective_creates"):
            self._note("collective_creates", "each task creates its own items, unmeasured")


def _info(work: Workload, tasks: int) -> TestInfo:
    """The test in the summary."""
    settings = work.settings
    both = work.flag("print_rate_and_time")
    return TestInfo(
        tasks=tasks,
        items=work.items,
        directories=work.directories,
        files=work.files,
        path=settings.text("dirpath", "."),
        shows_rate=both or not work.flag("print_time"),
        shows_time=both or work.flag("print_time"),
    )


def _target(workloads: Sequence[Workload], mistakes: Mistakes) -> str:
    """The directory of all tests."""
    target = workloads[0].settings.text("dirpath", ".")
    for workload in workloads[1:]:
        if workload.settings.text("dirpath", ".") != target:
            mistakes.add(
                workload.settings.place("dirpath"),
                f"a run has one target directory, and the first test's is {target}: use the same "
                "directory here, or run the tests separately",
            )
    return target
