"""`jsrun` of IBM's Job Step Manager, within an allocation of LSF."""

from strider.engine import Mpi
from strider.errors import StriderError
from strider.launch.launchers.hosts import Places, Seats
from strider.launch.launchers.launcher import Launcher, binding_words, installed


def jsrun(_: Mpi, places: Places) -> Launcher:
    """The launcher of LSF on IBM systems: one resource set with all cores on each node.

    See jsrun(1) of IBM JSM: -n resource sets, -r sets on each host, -a tasks in each set, -c cores of each
    set, -b binding. Daemons of JSM start the ranks. Not run with Strider so far.
    """
    path = installed("jsrun", "load the modules of LSF, or choose --launcher mpiexec")
    return Launcher("jsrun", lambda seats: [path, *_words(seats)], starts_ranks="by a daemon", places=places)


def _words(seats: Seats) -> list[str]:
    return [
        *_sets(seats),
        *binding_words(seats, "jsrun", {"none": ["-b", "none"], "core": ["-b", "packed:1"]}),
    ]


def _sets(seats: Seats) -> list[str]:
    if seats.hosts:
        raise StriderError(
            "jsrun takes no names of hosts: leave --hosts and --hostfile out, and choose hosts in the LSF job"
        )
    if seats.nodes is None or seats.per_node is None:
        return ["-n", str(seats.ranks), "-a", "1", "-c", "1"]
    if seats.nodes * seats.per_node != seats.ranks:
        raise StriderError(
            f"jsrun starts as many ranks on each node, but {seats.ranks} ranks are not {seats.nodes} times "
            f"{seats.per_node}: change -n, --nodes or --per-node"
        )
    return ["-n", str(seats.nodes), "-r", "1", "-a", str(seats.per_node), "-c", "ALL_CPUS"]
