"""`mpiexec` of PALS, the launcher of HPE Cray systems with PBS."""

from pathlib import Path

from strider.engine import Mpi
from strider.errors import ExitCode, StriderError
from strider.launch.launchers import dialects
from strider.launch.launchers.hosts import Places
from strider.launch.launchers.launcher import Launcher, installed


def pals(_: Mpi, places: Places) -> Launcher:
    """The launcher of PALS, within an allocation: the first `mpiexec` in PATH, as its module sets it.

    Daemons of PALS start the ranks. Not run with Strider so far; see `dialects.pals` for its documentation.

    Raises:
        StriderError: The first `mpiexec` in PATH is not below a folder `pals`, as in /opt/cray/pals/1.3/bin.
    """
    remedy = "load the module cray-pals, or choose --launcher mpiexec"
    path = installed("mpiexec", remedy)
    if "pals" not in Path(path).resolve().parts:
        raise StriderError(f"{path} is not the mpiexec of PALS: {remedy}", ExitCode.CANNOT_RUN)
    return Launcher(
        "pals",
        lambda mapping: [path, "-n", str(mapping.ranks), *dialects.pals(mapping)],
        starts_ranks="by a daemon",
        places=places,
    )
