"""`flux run` of the Flux Framework, within an instance."""

import signal

from strider.engine import Mpi
from strider.launch.launchers.hosts import Places, Seats
from strider.launch.launchers.launcher import Launcher, installed, require_even


def flux(_: Mpi, places: Places) -> Launcher:
    """The launcher of Flux: `flux run -n 8 -N 2 --requires=host:a,b`.

    See flux-run(1): --ntasks, --nodes, and --requires with the operator `host`. The broker starts the ranks;
    a first SIGINT only prints a hint. Not run with Strider so far.
    """
    path = installed("flux", "load Flux's module, or choose --launcher mpiexec")
    return Launcher(
        "flux",
        lambda seats: [path, "run", "-n", str(seats.ranks), *_where(seats)],
        interrupt=signal.SIGTERM,
        starts_ranks="by a daemon",
        places=places,
    )


def _where(seats: Seats) -> list[str]:
    require_even(seats, "flux run")
    nodes = ["-N", str(seats.nodes)] if seats.nodes else []
    return [*nodes, *([f"--requires=host:{','.join(seats.names)}"] if seats.hosts else [])]
