"""Launchers start N ranks of the engine. To add one, write a file and a line in `LAUNCHERS`."""

from strider.engine import Mpi
from strider.errors import StriderError
from strider.launch.launchers.launcher import Launcher
from strider.launch.launchers.mpiexec import mpiexec
from strider.launch.launchers.prefix import prefix
from strider.launch.launchers.srun import srun

__all__ = ["LAUNCHERS", "Launcher", "choose"]

LAUNCHERS = {
    "mpiexec": mpiexec,
    "srun": srun,
}
"""Launchers by their name for `--launcher`."""


def choose(name: str, mpi: Mpi) -> Launcher:
    """Returns the launcher of a `--launcher` option.

    Args:
        name: A name in `LAUNCHERS`, or a command with `{ranks}` as the number of ranks: `"aprun -n {ranks}"`.
        mpi: The engine's MPI library.

    Raises:
        StriderError: The launcher does not exist or is not installed.
    """
    if name in LAUNCHERS:
        return LAUNCHERS[name](mpi)
    if "{ranks}" in name:
        return prefix(name)
    known = ", ".join(LAUNCHERS)
    raise StriderError(
        f'unknown launcher "{name}": choose one of {known}, or a command that contains {{ranks}}, for '
        'example "aprun -n {ranks}"'
    )
