"""The options of each `mpiexec` for hosts and ranks on each."""

from strider.launch.launchers.hosts import Seats
from strider.launch.launchers.launcher import require_even, require_no_colon


def mpich(seats: Seats) -> list[str]:
    """Hydra of MPICH and MVAPICH: `-hosts a,b -ppn 4`, or `-hosts a:4,b:2`.

    See mpiexec(1) of MPICH 4, "-hosts", "-ppn" and "-bind-to", and the wiki page "Using the Hydra Process
    Manager".
    """
    require_no_colon(seats, "mpiexec of MPICH")
    bind = ["-bind-to", seats.bind] if seats.bind else []
    if not seats.hosts:
        return [*(["-ppn", str(seats.per_node)] if seats.per_node else []), *bind]
    if seats.is_even:
        return ["-hosts", ",".join(seats.names), "-ppn", str(seats.per_node), *bind]
    return ["-hosts", _with_counts(seats), *bind]


def open_mpi(seats: Seats) -> list[str]:
    """Open MPI 4 and 5: `--host a:4,b:2 --map-by slot`, or `--map-by ppr:4:node` in an allocation.

    See mpirun(1), "The --host option", "--map-by" and "--bind-to"; OVERSUBSCRIBE and overload-allowed allow
    more ranks than cores.
    """
    require_no_colon(seats, "mpiexec of Open MPI")
    allowed = "" if seats.bind == "none" else ":overload-allowed"
    bind = ["--bind-to", f"{seats.bind}{allowed}"] if seats.bind else []
    if seats.hosts:
        return ["--host", _with_counts(seats), "--map-by", "slot:OVERSUBSCRIBE", *bind]
    return [*(["--map-by", f"ppr:{seats.per_node}:node:OVERSUBSCRIBE"] if seats.per_node else []), *bind]


def intel(seats: Seats) -> list[str]:
    """Hydra of Intel MPI: `-hosts a,b -ppn 4`; its list has no counts, and a variable binds ranks.

    See Intel MPI Library Developer Guide, "Controlling Process Placement". Not run with Strider so far.
    """
    require_even(seats, "mpiexec of Intel MPI")
    hosts = ["-hosts", ",".join(seats.names)] if seats.hosts else []
    return [*hosts, *(["-ppn", str(seats.per_node)] if seats.per_node else [])]


def pals(seats: Seats) -> list[str]:
    """PALS of HPE Cray: `--ppn 4 --hosts a,b --cpu-bind core`; its list has no counts.

    See mpiexec(1) of HPE Cray PALS, and ALCF's "Running Jobs on Polaris". Not run with Strider so far.
    """
    require_even(seats, "mpiexec of PALS")
    hosts = ["--hosts", ",".join(seats.names)] if seats.hosts else []
    bind = ["--cpu-bind", seats.bind] if seats.bind else []
    return [*(["--ppn", str(seats.per_node)] if seats.per_node else []), *hosts, *bind]


def _with_counts(seats: Seats) -> str:
    return ",".join(f"{name}:{count}" for name, count in zip(seats.names, seats.counts, strict=True))
