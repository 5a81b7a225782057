"""The options of each `mpiexec` for hosts and ranks on each."""

from strider.launch.launchers.hosts import Seats
from strider.launch.launchers.launcher import require_even, require_no_colon


def mpich(seats: Seats) -> list[str]:
    """Hydra of MPICH and MVAPICH: `-hosts a,b -ppn 4`, or `-hosts a:4,b:2`.

    See mpiexec(1) of MPICH 4, "-hosts" and "-ppn", and the wiki page "Using the Hydra Process Manager".
    """
    require_no_colon(seats, "mpiexec of MPICH")
    if not seats.hosts:
        return ["-ppn", str(seats.per_node)] if seats.per_node else []
    if seats.is_even:
        return ["-hosts", ",".join(seats.names), "-ppn", str(seats.per_node)]
    return ["-hosts", _with_counts(seats)]


def open_mpi(seats: Seats) -> list[str]:
    """Open MPI 4 and 5: `--host a:4,b:2 --map-by slot`, or `--map-by ppr:4:node` in an allocation.

    See mpirun(1), "The --host option" and "--map-by"; OVERSUBSCRIBE allows more ranks than cores.
    """
    require_no_colon(seats, "mpiexec of Open MPI")
    if seats.hosts:
        return ["--host", _with_counts(seats), "--map-by", "slot:OVERSUBSCRIBE"]
    return ["--map-by", f"ppr:{seats.per_node}:node:OVERSUBSCRIBE"] if seats.per_node else []


def intel(seats: Seats) -> list[str]:
    """Hydra of Intel MPI: `-hosts a,b -ppn 4`; its list has no counts.

    See Intel MPI Library Developer Guide, "Controlling Process Placement". Not run with Strider so far.
    """
    require_even(seats, "mpiexec of Intel MPI")
    hosts = ["-hosts", ",".join(seats.names)] if seats.hosts else []
    return [*hosts, *(["-ppn", str(seats.per_node)] if seats.per_node else [])]


def pals(seats: Seats) -> list[str]:
    """PALS of HPE Cray: `--ppn 4 --hosts a,b`; its list has no counts.

    See mpiexec(1) of HPE Cray PALS, and ALCF's "Running Jobs on Polaris". Not run with Strider so far.
    """
    require_even(seats, "mpiexec of PALS")
    hosts = ["--hosts", ",".join(seats.names)] if seats.hosts else []
    return [*(["--ppn", str(seats.per_node)] if seats.per_node else []), *hosts]


def _with_counts(seats: Seats) -> str:
    return ",".join(f"{name}:{count}" for name, count in zip(seats.names, seats.counts, strict=True))
