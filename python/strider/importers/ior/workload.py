"""One test of IOR: its options as typed values, with IOR's defaults."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from strider.importers.options import TypedOptions

BLOCK_SIZE = 1 << 20
TRANSFER_SIZE = 1 << 18
_PREFIX = re.compile(r"(?P<prefix>[a-z][a-z0-9]*:)(?P<path>.*)")


@dataclass(frozen=True)
class Asked:
    """The operations of a test; IOR writes and reads by default."""

    writes: bool
    reads: bool
    checks_write: bool
    checks_read: bool


class Workload(TypedOptions):
    """A test of IOR."""

    @property
    def api(self) -> str:
        """IOR's name of the interface."""
        return self.settings.text("api", "POSIX").upper()

    @property
    def transfer(self) -> int:
        """Bytes of a transfer."""
        return self.settings.number("transferSize", TRANSFER_SIZE)

    @property
    def block(self) -> int:
        """Contiguous bytes of a task in a segment."""
        return self.settings.number("blockSize", BLOCK_SIZE)

    @property
    def segments(self) -> int:
        return self.settings.number("segmentCount", 1)

    @property
    def tasks(self) -> int:
        """Number of tasks: those that were started, or as many of them as `-N` says."""
        wanted = self.settings.number("numTasks")
        return wanted if wanted > 0 else self.surroundings.tasks

    @property
    def tasks_per_node(self) -> int | None:
        """Consecutive tasks on a node; None where not given."""
        if self.settings.number("numTasksOnNode0"):
            return self.settings.number("numTasksOnNode0")
        if self.settings.number("numNodes"):
            return math.ceil(self.tasks / self.settings.number("numNodes"))
        return self.surroundings.tasks_per_node

    @property
    def path(self) -> tuple[str, Path]:
        """Prefix of the file's name for MPI-IO, and the file."""
        name = self.settings.text("testFile", "testFile")
        match = _PREFIX.fullmatch(name)
        return (match["prefix"], Path(match["path"])) if match and self.api == "MPIIO" else ("", Path(name))

    @property
    def draws(self) -> bool:
        """Whether each task draws its offsets, which may repeat (`-z -z`)."""
        return self.settings.number("randomOffset") > 1

    @property
    def asked(self) -> Asked:
        """Its operations."""
        asked = Asked(*map(self.flag, ("writeFile", "readFile", "checkWrite", "checkRead")))
        nothing = asked == Asked(writes=False, reads=False, checks_write=False, checks_read=False)
        return Asked(writes=True, reads=True, checks_write=False, checks_read=False) if nothing else asked
