"""`jsrun` of IBM's Job Step Manager, within an allocation of LSF."""

from strider.engine import Mpi
from strider.errors import StriderError
from strider.launch.launchers.hosts import Places, RankMapping
from strider.launch.launchers.launcher import Launcher, binding_words, installed


def jsrun(_: Mpi, places: Places) -> Launcher:
    """The launcher of LSF on IBM systems: one resource set with all cores on each node.

    See jsrun(1) of IBM JSM: -n resource sets, -r sets on each host, -a tasks in each set, -c cores of each
    set, -b binding. Daemons of JSM start the ranks. Not run with Strider so far.
    """
    path = installed("jsrun", "load the modules of LSF, or choose --launcher mpiexec")
    return Launcher(
        "jsrun", lambda mapping: [path, *_words(mapping)], starts_ranks="by a daemon", places=places
    )


def _words(mapping: RankMapping) -> list[str]:
    return [
        *_sets(mapping),
        *binding_words(mapping, "jsrun", {"none": ["-b", "none"], "core": ["-b", "packed:1"]}),
    ]


def _sets(mapping: RankMapping) -> list[str]:
    if mapping.hosts:
        raise StriderError(
            "jsrun takes no names of hosts: leave --hosts and --hostfile out, and choose hosts in the LSF job"
        )
    if mapping.nodes is None or mapping.per_node is None:
        return ["-n", str(mapping.ranks), "-a", "1", "-c", "1"]
    if mapping.nodes * mapping.per_node != mapping.ranks:
        raise StriderError(
            f"jsrun starts as many ranks on each node, but {mapping.ranks} ranks are not "
            f"{mapping.nodes} times {mapping.per_node}: change -n, --nodes or --per-node"
        )
    return ["-n", str(mapping.nodes), "-r", "1", "-a", str(mapping.per_node), "-c", "ALL_CPUS"]
