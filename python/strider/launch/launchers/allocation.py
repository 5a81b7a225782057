"""The number of nodes of a scheduler's allocation, as its environment gives it."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_NUMBERS = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES")
"""See sbatch(1), "OUTPUT ENVIRONMENT VARIABLES"; the second one is that of older releases."""
_FILES = ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE")
"""Files of PBS, LSF and Grid Engine whose lines begin with a host; each repeats a host or not."""
_MOST_BYTES = 1 << 26


@dataclass(frozen=True)
class Allocation:
    """Nodes that a scheduler gave to this job.

    Attributes:
        nodes: Their number.
        variable: The environment variable that names them.
    """

    nodes: int
    variable: str


def allocation(environment: Mapping[str, str] | None = None) -> Allocation | None:
    """Returns the allocation that this process is in; None outside of one, and where its size is unknown.

    Args:
        environment: The environment; None for that of this process.
    """
    known = os.environ if environment is None else environment
    for variable in _NUMBERS:
        text = known.get(variable, "")
        if re.fullmatch(r"[1-9][0-9]{0,6}", text):
            return Allocation(int(text), variable)
    for variable in _FILES:
        if (path := known.get(variable)) and (hosts := _hosts_in(Path(path))):
            return Allocation(len(hosts), variable)
    return None


def _hosts_in(file: Path) -> set[str]:
    """Returns the hosts that the lines of a file begin with; none if it cannot be read."""
    with suppress(OSError, ValueError), file.open(encoding="utf-8") as opened:
        return {words[0] for line in opened.read(_MOST_BYTES).splitlines() if (words := line.split())}
    return set()
