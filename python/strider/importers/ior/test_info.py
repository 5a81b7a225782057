"""What IOR prints about a test beside its results, under IOR's names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strider.engine import Json
from strider.importers.ior.workload import Workload
from strider.units import GIB, MIB

_PACKET_TYPES = "toir"
"""First letters of the types of IOR's data packets, in the order of its numbers."""
_PACKET_LETTERS = "gtoi"
"""Letters that IOR prints for these numbers."""


@dataclass(frozen=True)
class TestInfo:
    """A test in IOR's terms.

    Attributes:
        number: Number of the test, from 0.
        work: Its options.
        cases: Numbers of its cases in the run: one, or with several files that stay one for each repetition.
    """

    number: int
    work: Workload
    cases: Sequence[int]

    @property
    def shown(self) -> Sequence[str]:
        """Operations whose results IOR prints: writes, and reads that `-W` alone does not cause."""
        asked = self.work.asked
        return (
            *(("write", "rewrite") if asked.writes else ()),
            *(("read",) if asked.reads or asked.checks_read else ()),
        )

    @property
    def aggregate(self) -> int:
        """Bytes of all files."""
        return self.work.block * self.work.segments * self.work.tasks

    @property
    def first_file(self) -> str:
        """The file of the first task, as IOR names it."""
        path = self.work.path[1]
        if not self.work.flag("filePerProc"):
            return str(path)
        folder = path.parent / "0" if self.work.flag("uniqueDir") else path.parent
        return f"{folder / path.name}.00000000"

    @property
    def tasks_per_node(self) -> int:
        """Tasks on the first node."""
        return self.work.tasks_per_node or self.work.tasks

    @property
    def repetitions(self) -> int:
        return self.number_of("repetitions", 1)

    @property
    def wears_out(self) -> bool:
        """Whether all tasks do as many transfers as the fastest one after the deadline."""
        return self.work.flag("stoneWallingWearOut")

    def number_of(self, option: str, default: int = 0) -> int:
        """Value of an option that is a number, a size or a flag."""
        return self.work.settings.number(option, default)

    def options(self, nodes: int) -> dict[str, Json]:
        """IOR's block `Options`.

        Args:
            nodes: Number of nodes.
        """
        work = self.work
        return {
            "api": work.api,
            "apiVersion": "",
            "test filename": work.settings.text("testFile", "testFile"),
            "access": "file-per-process" if work.flag("filePerProc") else "single-shared-file",
            "type": "collective" if work.flag("collective") else "independent",
            "segments": work.segments,
            "ordering in a file": "random" if work.flag("randomOffset") else "sequential",
            **self._order_of_tasks(),
            "nodes": nodes,
            "tasks": work.tasks,
            "clients per node": self.tasks_per_node,
            "memoryBuffer": "CPU",
            "dataAccess": "CPU",
            "GPUDirect": "0",
            "repetitions": self.repetitions,
            "xfersize": human_readable(work.transfer),
            "blocksize": human_readable(work.block),
            "aggregate filesize": human_readable(self.aggregate),
            **({"verbose": self.number_of("verbose")} if work.flag("verbose") else {}),
            **self._stonewall(),
        }

    def _order_of_tasks(self) -> dict[str, Json]:
        offset = {"task offset": self.number_of("taskPerNodeOffset", 1)}
        if self.work.flag("reorderTasks"):
            return {"ordering inter file": "constant task offset", **offset}
        if self.work.flag("reorderTasksRandom"):
            seed = {"reorder random seed": self.number_of("reorderTasksRandomSeed")}
            return {"ordering inter file": "random task offset", **offset, **seed}
        return {"ordering inter file": "no tasks offsets"}

    def _stonewall(self) -> dict[str, Json]:
        deadline_s = self.number_of("deadlineForStonewalling")
        return (
            {"stonewallingTime": deadline_s, "stoneWallingWearOut": int(self.wears_out)} if deadline_s else {}
        )

    def parameters(self, nodes: int, platform: str) -> dict[str, Json]:
        """IOR's block `Parameters`, which its JSON has.

        Args:
            nodes: Number of nodes.
            platform: Name of the machine.
        """
        work = self.work
        packet = _PACKET_TYPES.find((work.settings.text("dataPacketType") or "t")[0])
        asked = work.asked
        return {
            "testID": self.number,
            "refnum": self.number_of("refNum"),
            "api": work.api,
            "platform": platform,
            "testFileName": work.settings.text("testFile", "testFile"),
            "deadlineForStonewall": self.number_of("deadlineForStonewalling"),
            **self._numbers("stoneWallingWearOut", "maxTimeDuration", "outlierThreshold"),
            "options": "(null)",
            **self._numbers("dryRun"),
            "nodes": nodes,
            **self._numbers("memoryPerTask"),
            "memoryPerNode": 0,
            "tasksPerNode": self.tasks_per_node,
            "repetitions": self.repetitions,
            **self._numbers("multiFile", "interTestDelay", "fsync"),
            "fsyncperwrite": self.number_of("fsyncPerWrite"),
            **self._numbers("useExistingTestFile", "uniqueDir", "singleXferAttempt"),
            "readFile": int(asked.reads),
            "writeFile": int(asked.writes),
            **self._numbers("filePerProc", "reorderTasks", "reorderTasksRandom", "reorderTasksRandomSeed"),
            **self._numbers("randomOffset", "checkWrite", "checkRead"),
            "dataPacketType": packet,
            **self._numbers("keepFile", "keepFileWithError", "warningAsErrors", "verbose"),
            "data packet type": _PACKET_LETTERS[packet],
            "setTimeStampSignature/incompressibleSeed": self.number_of("setTimeStampSignature"),
            **self._numbers("collective"),
            "segmentCount": work.segments,
            "transferSize": work.transfer,
            "blockSize": work.block,
        }

    def _numbers(self, *options: str) -> Mapping[str, Json]:
        return {option: self.number_of(option) for option in options}


def human_readable(size: int) -> str:
    """Returns a size as IOR prints it: whole bytes below 1 MiB, then MiB, GiB or TiB.

    Args:
        size: Bytes.
    """
    units = {"TiB": GIB << 10, "GiB": GIB, "MiB": MIB}
    for name, unit in units.items():
        if size >= unit:
            return f"{size / unit:.2f} {name}" if size % unit else f"{size // unit} {name}"
    return f"{size} bytes"
