"""A suite of IOR's tests: the same offsets and lengths, through the same interface.

Offsets of IOR: transfer j of task r in segment i is at i · tasks · block + r · block + j · transfer of the
shared file, at i · block + j · transfer of a task's own file (`-F`). That is Strider's pattern segmented.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from strider.engine import Json
from strider.importers.imported import CaseDraft, Imported, SuiteDraft, origin, size
from strider.importers.ior.checks import INTERFACES, check
from strider.importers.ior.forms import imported_of
from strider.importers.ior.hints import hints_of
from strider.importers.ior.kept import INTERFACES as INTERFACES_OF_KEPT_FILES
from strider.importers.ior.kept import STATUS, KeptFiles, KeptTest
from strider.importers.ior.test_info import TestInfo
from strider.importers.ior.workload import Workload
from strider.importers.options import Settings, Surroundings
from strider.suite.mistakes import Mistakes

_SOURCES = {
    "interface": "api",
    "pattern": "randomOffset",
    "transfer": "transferSize",
    "block": "blockSize",
    "segments": "segmentCount",
    "size": "blockSize",
    "order": "randomOffset",
    "clients": "numTasks",
    "repetitions": "repetitions",
    "sharing": "filePerProc",
    "sync": "fsyncPerWrite",
    "deadline": "deadlineForStonewalling",
    "runtime": "minTimeDuration",
    "think": "interIODelay",
    "settle": "interTestDelay",
    "posix.direct": "useO_DIRECT",
    "mpiio.access": "collective",
    "mpiio.method": "useFileView",
    "mpiio.prefix": "testFile",
    "mpiio.hints": "hintsFileName",
}
"""The option from which each key of a case comes."""


def make(tests: Sequence[Settings], source: str, surroundings: Surroundings) -> Imported:
    """Makes a suite of some tests.

    Args:
        tests: At least one.
        source: The script, or the command line.
        surroundings: What IOR learns from MPI.

    Raises:
        SuiteError: A test is wrong, or asks for what Strider cannot do.
    """
    mistakes = Mistakes()
    workloads = [Workload(settings, surroundings) for settings in tests]
    for workload in workloads:
        check(workload, mistakes)
    target = _target(workloads, mistakes)
    mistakes.raise_if_any()
    files = KeptFiles(mistakes)
    drafts = [_Drafter(workload, files.of(workload)) for workload in workloads]
    mistakes.raise_if_any()
    cases: list[CaseDraft] = []
    infos: list[TestInfo] = []
    manifests: dict[int, dict[str, Json]] = {}
    for number, drafter in enumerate(drafts):
        own = drafter.cases(f"TestID {number}" if len(drafts) > 1 else "")
        first = len(cases) + 1
        infos.append(TestInfo(number, drafter.workload, range(first, first + len(own))))
        manifests |= dict(enumerate(drafter.kept.manifests if drafter.kept else (), first))
        cases += own
    per_node = {workload.tasks_per_node for workload in workloads if workload.tasks_per_node}
    draft = SuiteDraft.of_tests(
        "ior",
        source,
        f"IOR's {Path(source).name}",
        (target, workloads[0].settings.place("testFile")),
        per_node.pop() if len(per_node) == 1 else None,
        cases,
    )
    limits = [note for workload in workloads for note in _limit_time(draft, workload, len(workloads))]
    of_cases = [note for drafter in drafts for note in (*drafter.settings.notes(), *drafter.notes)]
    notes = list(dict.fromkeys((*of_cases, *limits)))
    return imported_of(draft.document(), notes, infos, source, manifests)


@dataclass
class _Drafter:
    """Makes a case of a test.

    Attributes:
        workload: The test.
        kept: How it uses files that stay; None if its files are Strider's own and are removed.
        notes: What differs from IOR.
    """

    workload: Workload
    kept: KeptTest | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        """The test's options."""
        return self.workload.settings

    def cases(self, name: str) -> list[CaseDraft]:
        """The case, or with several files that stay one for each repetition."""
        draft = self._case(name)
        if self.kept is None:
            self._note_removal()
            return [draft]
        self.notes += self.kept.notes
        sets = self.kept.data_sets
        if self.workload.flag("multiFile"):
            draft.keys["repetitions"] = 1
        return [replace(draft, keys={**draft.keys, "dataset": one}) for one in sets]

    def _note_removal(self) -> None:
        """Notes the options that have no effect on files that are Strider's own."""
        if self.workload.api == "DUMMY":
            return
        notes = {
            "setTimeStampSignature": "verified data encodes run, file and offset, so it differs in every run",
            "keepFile": "Strider removes its test files at the end of a run",
            "keepFileWithError": "Strider removes its test files at the end of a run",
            "uniqueDir": "all files are in one directory, which affects only the time to open them",
            "multiFile": "each repetition creates new files anyway",
        }
        for option, note in notes.items():
            if self.settings.number(option):
                self._note(option, note)
        if self.settings.text("dataPacketType"):
            self._note(
                "dataPacketType",
                "verified data encodes run, file and offset; other data is the same in each transfer",
            )
        if self.settings.text(STATUS):
            self._note(STATUS, "a suite has no status file: use strider ior")

    def _case(self, name: str) -> CaseDraft:
        work = self.workload
        keys: dict[str, Json] = {
            **({"name": name} if name else {}),
            "interface": INTERFACES[work.api.lower()],
            **self._pattern(),
            "clients": work.tasks,
            "operations": self._operations(),
            "repetitions": self.settings.number("repetitions", 1),
            "sharing": "per-rank" if work.flag("filePerProc") else "shared",
            "sync": "each" if work.flag("fsyncPerWrite") else "end" if work.flag("fsync") else "none",
            **self._readback(),
            **self._further(),
            **self._interface_options(),
        }
        given = self.settings.by_name
        places = {key: origin(given[_SOURCES[key]].place) for key in keys if _SOURCES.get(key) in given}
        return CaseDraft(keys, self.settings.line, places)

    def _note(self, option: str, message: str) -> None:
        self.notes.append(f"{self.workload.place(option)}: {message}")

    def _pattern(self) -> dict[str, Json]:
        """The pattern, its parameters, and the order of requests."""
        work = self.workload
        own = {"transfer": size(work.transfer), "block": size(work.block), "segments": work.segments}
        if not work.flag("randomOffset"):
            return {"pattern": "segmented", **own}
        if work.draws:
            return self._drawn()
        if work.flag("filePerProc"):
            self._note("randomOffset", "the random order differs from IOR's, which depends on its C library")
            return {"pattern": "segmented", **own, "order": "random", **self._seed("randomSeed")}
        self._note(
            "randomOffset",
            "as in IOR, each transfer of the shared file goes to a random task; all tasks get "
            "the same number of transfers, in IOR about the same",
        )
        whole = {"transfer": size(work.transfer), "size": size(work.block * work.segments * work.tasks)}
        return {"pattern": "random", **whole, **self._seed("randomSeed")}

    def _drawn(self) -> dict[str, Json]:
        """The pattern of offsets that each task draws in a whole file."""
        work = self.workload
        self._note("randomOffset", "the random offsets differ from IOR's, which depend on its C library")
        of_file = work.block * work.segments * (1 if work.flag("filePerProc") else work.tasks)
        if self.kept and self.kept.smallest_bytes:
            of_file = self.kept.smallest_bytes // work.transfer * work.transfer
        return {
            "pattern": "random",
            "transfer": size(work.transfer),
            "size": size(of_file),
            "count": work.segments,
            "replacement": True,
            **self._seed("randomSeed"),
        }

    def _seed(self, option: str) -> dict[str, Json]:
        given = self.settings.by_name.get(option)
        return {"seed": abs(int(given.value))} if given and given.used else {}

    def _operations(self) -> list[str]:
        """The operations: writing and reading; a check of written data is a read."""
        asked = self.workload.asked
        rewrites = self.workload.flag("randomPrefill") or (
            self.kept.write == "rewrite" if self.kept else self._overwrites_prepared_file
        )
        if asked.checks_write or asked.checks_read:
            self._note(
                "checkRead" if asked.checks_read else "checkWrite",
                "reads verify every byte; data generation and verification count as measured "
                "time (reported as prepare_s)",
            )
        if asked.writes and self.workload.flag("randomPrefill"):
            self._note("randomPrefill", "Strider fills the file in advance, unmeasured; IOR within wr/rd(s)")
        elif asked.writes and rewrites and not self.kept:
            self._note(
                "useExistingTestFile", "Strider creates the file to be overwritten in advance, unmeasured"
            )
        if not asked.writes and not self.kept:
            self.notes.append(
                "-w is missing: Strider reads only its own files, so it first creates the file, unmeasured"
            )
        write = ["rewrite" if rewrites else "write"] if asked.writes else []
        return write + (["read"] if asked.reads or asked.checks_read or asked.checks_write else [])

    @property
    def _overwrites_prepared_file(self) -> bool:
        """Whether Strider first makes the file that `-E` overwrites, unmeasured."""
        work = self.workload
        is_missing = work.surroundings.keeps_files and work.api in INTERFACES_OF_KEPT_FILES
        return work.flag("useExistingTestFile") and not is_missing

    def _readback(self) -> dict[str, Json]:
        """Whose data a task reads (-C, -Q, -Z, -X)."""
        work = self.workload
        per_node = work.tasks_per_node or work.tasks
        nodes = self.settings.number("taskPerNodeOffset", 1)
        if work.flag("reorderTasksRandom"):
            self._note(
                "reorderTasksRandom",
                "the tasks are shuffled, as in IOR with -Z twice, so the data of each task is "
                "read once; -Q has no effect",
            )
            return {"readback": "shuffle", **self._seed("reorderTasksRandomSeed")}
        if not work.flag("reorderTasks"):
            return {}
        shift = nodes * per_node % work.tasks
        if shift == 0:
            self._note(
                "reorderTasks",
                f"task rank + {nodes} × {per_node} is the same task, so each task reads its own "
                "data, as in IOR; give the number of tasks on a node with --tasks-per-node",
            )
            return {}
        self._note(
            "reorderTasks", f"each task reads the data of task rank + {shift} ({per_node} tasks on a node)"
        )
        return {"readback": "shift", "shift": shift}

    def _further(self) -> dict[str, Json]:
        """Checks, deadline and pauses."""
        asked = self.workload.asked
        deadline = self.settings.number("deadlineForStonewalling")
        delay = self.settings.number("interTestDelay")
        wear_out = self.workload.flag("stoneWallingWearOut")
        runtime, think_us = self.settings.number("minTimeDuration"), self.settings.number("interIODelay")
        if runtime:
            self._note(
                "minTimeDuration", "tasks stop when this time is over; in IOR, each completes its last pass"
            )
        if think_us:
            self._note("interIODelay", "tasks compute for this time after each transfer; in IOR, they sleep")
        return {
            **({"verify": "full"} if asked.checks_read or asked.checks_write else {}),
            **({"deadline": deadline, "wear_out": wear_out} if deadline else {}),
            **({"runtime": runtime} if runtime else {}),
            **({"think": f"{think_us}us"} if think_us else {}),
            **({"settle": delay} if delay else {}),
        }

    def _interface_options(self) -> dict[str, Json]:
        api = self.workload.api
        of_mpiio = ("collective", "useFileView", "hintsFileName", "preallocate")
        for option, owner in (*((option, "MPIIO") for option in of_mpiio), ("useO_DIRECT", "POSIX")):
            given = self.settings.by_name.get(option)
            if given and given.used and api != owner:
                self._note(option, f"it has no effect, because it applies to {owner} only")
        if api == "MPIIO":
            return self._mpiio()
        return {"posix.direct": True} if api == "POSIX" and self.workload.flag("useO_DIRECT") else {}

    def _mpiio(self) -> dict[str, Json]:
        prefix, _ = self.workload.path
        hints = hints_of(
            self.settings.text("hintsFileName"),
            self.settings.place("hintsFileName"),
            self.workload.surroundings.environment,
        )
        return {
            "mpiio.access": "collective" if self.workload.flag("collective") else "independent",
            **({"mpiio.method": "view"} if self.workload.flag("useFileView") else {}),
            **({"mpiio.prefix": prefix} if prefix else {}),
            **({"mpiio.hints": hints} if hints else {}),
        }


def _limit_time(draft: SuiteDraft, workload: Workload, tests: int) -> Iterator[str]:
    """Limits the time of a suite of one test (-T); yields what differs from IOR."""
    given = workload.settings.by_name.get("maxTimeDuration")
    if given is None or not given.used:
        return
    if tests > 1:
        yield (
            f"{given.place.text}: it has no effect, because it applies to each test; to limit the time of "
            "all tests together, write the suite with --suite FILE and run it with strider run FILE "
            "--time-limit 10min"
        )
        return
    draft.keys["time_limit"] = f"{given.value}min"
    draft.places["time_limit"] = origin(given.place)
    yield (
        f"{given.place.text}: no repetition begins that would probably end after this time; in IOR, each "
        "access begins until then"
    )


def _target(workloads: Sequence[Workload], mistakes: Mistakes) -> str:
    """The folder of all test files."""
    folder = workloads[0].path[1].parent
    for workload in workloads[1:]:
        if workload.path[1].parent != folder:
            mistakes.add(
                workload.settings.place("testFile"),
                f"testFile: a run has one target directory, and the first test's is {folder}: "
                "put all test files there, or run the tests separately",
            )
    return str(folder)
