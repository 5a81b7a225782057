"""The options of each `mpiexec` for hosts and ranks on each."""

from strider.launch.launchers.hosts import RankMapping
from strider.launch.launchers.launcher import require_even, require_no_colon


def mpich(mapping: RankMapping) -> list[str]:
    """Hydra of MPICH and MVAPICH: `-hosts a,b -ppn 4`, or `-hosts a:4,b:2`.

    See mpiexec(1) of MPICH 4, "-hosts", "-ppn" and "-bind-to", and the wiki page "Using the Hydra Process
    Manager".
    """
    require_no_colon(mapping, "mpiexec of MPICH")
    bind = ["-bind-to", mapping.bind] if mapping.bind else []
    if not mapping.hosts:
        return [*(["-ppn", str(mapping.per_node)] if mapping.per_node else []), *bind]
    if mapping.is_even:
        return ["-hosts", ",".join(mapping.names), "-ppn", str(mapping.per_node), *bind]
    return ["-hosts", _with_counts(mapping), *bind]


def open_mpi(mapping: RankMapping) -> list[str]:
    """Open MPI 4 and 5: `--host a:4,b:2 --map-by slot`, or `--map-by ppr:4:node` in an allocation.

    See mpirun(1), "The --host option", "--map-by" and "--bind-to"; OVERSUBSCRIBE and overload-allowed allow
    more ranks than cores.
    """
    require_no_colon(mapping, "mpiexec of Open MPI")
    allowed = "" if mapping.bind == "none" else ":overload-allowed"
    bind = ["--bind-to", f"{mapping.bind}{allowed}"] if mapping.bind else []
    if mapping.hosts:
        return ["--host", _with_counts(mapping), "--map-by", "slot:OVERSUBSCRIBE", *bind]
    return [*(["--map-by", f"ppr:{mapping.per_node}:node:OVERSUBSCRIBE"] if mapping.per_node else []), *bind]


def intel(mapping: RankMapping) -> list[str]:
    """Hydra of Intel MPI: `-hosts a,b -ppn 4`; its list has no counts, and a variable binds ranks.

    See Intel MPI Library Developer Guide, "Controlling Process Placement". Not run with Strider so far.
    """
    require_even(mapping, "mpiexec of Intel MPI")
    hosts = ["-hosts", ",".join(mapping.names)] if mapping.hosts else []
    return [*hosts, *(["-ppn", str(mapping.per_node)] if mapping.per_node else [])]


def pals(mapping: RankMapping) -> list[str]:
    """PALS of HPE Cray: `--ppn 4 --hosts a,b --cpu-bind core`; its list has no counts.

    See mpiexec(1) of HPE Cray PALS, and ALCF's "Running Jobs on Polaris". Not run with Strider so far.
    """
    require_even(mapping, "mpiexec of PALS")
    hosts = ["--hosts", ",".join(mapping.names)] if mapping.hosts else []
    bind = ["--cpu-bind", mapping.bind] if mapping.bind else []
    return [*(["--ppn", str(mapping.per_node)] if mapping.per_node else []), *hosts, *bind]


def _with_counts(mapping: RankMapping) -> str:
    return ",".join(f"{name}:{count}" for name, count in zip(mapping.names, mapping.counts, strict=True))
