"""`srun` of Slurm, within an allocation."""

import signal
from collections.abc import Mapping, Sequence

from strider.engine import Mpi
from strider.launch.launchers.hosts import Binding, Places, Seats
from strider.launch.launchers.launcher import Launcher, installed

_BINDINGS: Mapping[Binding, Sequence[str]] = {
    "": [],
    "none": ["--cpu-bind=none"],
    "core": ["--cpu-bind=cores"],
    "numa": ["--cpu-bind=ldoms"],
}
"""See srun(1), "--cpu-bind": a locality domain is a NUMA node."""


def srun(_: Mpi, places: Places) -> Launcher:
    """The launcher of Slurm: starts ranks on the nodes of the allocation, also more ranks than cores.

    `srun` forwards SIGTERM to the ranks; on SIGINT it only prints their state.
    """
    path = installed("srun", "load Slurm's module, or choose --launcher mpiexec")
    return Launcher(
        "srun",
        lambda seats: [path, f"--ntasks={seats.ranks}", "--overcommit", *_where(seats)],
        interrupt=signal.SIGTERM,
        starts_ranks="by a daemon",
        places=places,
        is_srun=True,
    )


def _where(seats: Seats) -> list[str]:
    return [*_BINDINGS[seats.bind], *_on_nodes(seats)]


def _on_nodes(seats: Seats) -> list[str]:
    """See srun(1): --nodes, --ntasks-per-node, --nodelist, and --distribution=arbitrary for other counts."""
    if not seats.is_even:
        repeated = [name for name, count in zip(seats.names, seats.counts, strict=True) for _ in range(count)]
        return [f"--nodes={seats.nodes}", "--distribution=arbitrary", f"--nodelist={','.join(repeated)}"]
    return [
        *([f"--nodes={seats.nodes}"] if seats.nodes else []),
        *([f"--ntasks-per-node={seats.per_node}"] if seats.per_node else []),
        *([f"--nodelist={','.join(seats.names)}"] if seats.hosts else []),
    ]
