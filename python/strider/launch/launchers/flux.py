"""`flux run` of the Flux Framework, within an instance."""

import signal
from collections.abc import Mapping

from strider.engine import Mpi
from strider.launch.launchers.hosts import Binding, Places, RankMapping
from strider.launch.launchers.launcher import Launcher, binding_words, installed, require_even

_BINDINGS: Mapping[Binding, list[str]] = {
    "none": ["-o", "cpu-affinity=off"],
    "core": ["-o", "cpu-affinity=per-task"],
}


def flux(_: Mpi, places: Places) -> Launcher:
    """The launcher of Flux: `flux run -n 8 -N 2 --requires=host:a,b`.

    See flux-run(1): --ntasks, --nodes, --requires with the operator `host`, and the shell option
    `cpu-affinity`, which gives each task its own core by `per-task`. The broker starts the ranks;
    a first SIGINT only prints a hint. Not run with Strider so far.
    """
    path = installed("flux", "load Flux's module, or choose --launcher mpiexec")
    return Launcher(
        "flux",
        lambda mapping: [path, "run", "-n", str(mapping.ranks), *_where(mapping)],
        interrupt=signal.SIGTERM,
        starts_ranks="by a daemon",
        places=places,
    )


def _where(mapping: RankMapping) -> list[str]:
    require_even(mapping, "flux run")
    nodes = ["-N", str(mapping.nodes)] if mapping.nodes else []
    hosts = [f"--requires=host:{','.join(mapping.names)}"] if mapping.hosts else []
    return [*nodes, *hosts, *binding_words(mapping, "flux run", _BINDINGS)]
