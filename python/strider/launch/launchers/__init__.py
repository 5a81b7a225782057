"""Launchers start N ranks of the engine. To add one, write a file and a line in `LAUNCHERS`."""

from strider.engine import Mpi
from strider.errors import StriderError
from strider.launch.launchers.flux import flux
from strider.launch.launchers.hosts import Places, places_of
from strider.launch.launchers.jsrun import jsrun
from strider.launch.launchers.launcher import Launcher
from strider.launch.launchers.mpiexec import mpiexec
from strider.launch.launchers.pals import pals
from strider.launch.launchers.prefix import prefix
from strider.launch.launchers.srun import srun

__all__ = ["LAUNCHERS", "Launcher", "Places", "choose", "places_of"]

LAUNCHERS = {
    "mpiexec": mpiexec,
    "srun": srun,
    "pals": pals,
    "flux": flux,
    "jsrun": jsrun,
}
"""Launchers by their name for `--launcher`."""


def choose(name: str, mpi: Mpi, places: Places | None = None) -> Launcher:
    """Returns the launcher of a `--launcher` option.

    Args:
        name: A name in `LAUNCHERS`, or a command with `{ranks}` as the number of ranks: `"aprun -n {ranks}"`.
        mpi: The engine's MPI library.
        places: Where the ranks may be; None: as the launcher chooses.

    Raises:
        StriderError: The launcher does not exist, is not installed, or cannot use these places.
    """
    if name in LAUNCHERS:
        return LAUNCHERS[name](mpi, places or Places())
    if "{ranks}" in name:
        return prefix(name, places or Places())
    known = ", ".join(LAUNCHERS)
    raise StriderError(
        f'unknown launcher "{name}": choose one of {known}, or a command that contains {{ranks}}, for '
        'example "aprun -n {ranks}"'
    )
