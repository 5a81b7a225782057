"""`srun` of Slurm, within an allocation."""

import signal
from collections.abc import Mapping, Sequence

from strider.engine import Mpi
from strider.launch.launchers.hosts import Binding, Places, RankMapping
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
        lambda mapping: [path, f"--ntasks={mapping.ranks}", "--overcommit", *_where(mapping)],
        interrupt=signal.SIGTERM,
        starts_ranks="by a daemon",
        places=places,
        is_srun=True,
    )


def _where(mapping: RankMapping) -> list[str]:
    return [*_BINDINGS[mapping.bind], *_on_nodes(mapping)]


def _on_nodes(mapping: RankMapping) -> list[str]:
    """See srun(1): --nodes, --ntasks-per-node, --nodelist, and --distribution=arbitrary for other counts."""
    if not mapping.is_even:
        repeated = [
            name for name, count in zip(mapping.names, mapping.counts, strict=True) for _ in range(count)
        ]
        return [f"--nodes={mapping.nodes}", "--distribution=arbitrary", f"--nodelist={','.join(repeated)}"]
    return [
        *([f"--nodes={mapping.nodes}"] if mapping.nodes else []),
        *([f"--ntasks-per-node={mapping.per_node}"] if mapping.per_node else []),
        *([f"--nodelist={','.join(mapping.names)}"] if mapping.hosts else []),
    ]
