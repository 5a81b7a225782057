"""`mpiexec` of the MPI library that the engine was built with."""

import os
import shutil
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from strider.engine import Mpi
from strider.errors import StriderError
from strider.launch.launchers import dialects
from strider.launch.launchers.hosts import Binding, Places, RankMapping
from strider.launch.launchers.launcher import Launcher, installed

HOST_VARIABLES = (
    # Allocations: Slurm, PBS, LSF, Grid Engine, Cobalt, Flux.
    "SLURM_JOB_ID",
    "PBS_JOBID",
    "LSB_JOBID",
    "PE_HOSTFILE",
    "COBALT_JOBID",
    "FLUX_URI",
    # Host files: MPICH, Intel MPI, Open MPI 4, Open MPI 5.
    "HYDRA_HOST_FILE",
    "I_MPI_HYDRA_HOST_FILE",
    "OMPI_MCA_orte_default_hostfile",
    "PRTE_MCA_prte_default_hostfile",
)
"""Environment variables that name other hosts to `mpiexec`."""

HYDRA_VARIABLES = (
    "HYDRA_LAUNCHER",
    "HYDRA_LAUNCHER_EXEC",
    "HYDRA_LAUNCHER_EXTRA_ARGS",
    "HYDRA_BOOTSTRAP",
    "HYDRA_BOOTSTRAP_EXEC",
)
"""Environment variables by which a user chooses how MPICH's `mpiexec` reaches hosts."""
_INTEL_BINDINGS: Mapping[Binding, Mapping[str, str]] = {
    "": {},
    "none": {"I_MPI_PIN": "off"},
    "core": {"I_MPI_PIN": "on", "I_MPI_PIN_DOMAIN": "core"},
    "numa": {"I_MPI_PIN": "on", "I_MPI_PIN_DOMAIN": "numa"},
}
KEEPALIVE = "-o ServerAliveInterval=5 -o ServerAliveCountMax=3 -o LogLevel=INFO"
"""Options with which `ssh` reports a host that has not answered for 20 s; at a lower level it is silent."""


def mpiexec(mpi: Mpi, places: Places) -> Launcher:
    """The launcher for this machine, for named hosts, or for the hosts of a scheduler's allocation.

    Uses the `mpiexec` of the engine's MPI library instead of the first in PATH: another library's `mpiexec`
    starts N independent programs of one rank each, or fails.

    Raises:
        StriderError: It is not installed, or it would not know the hosts.
    """
    path = installed(
        _program(mpi), "install the launcher of the engine's MPI library, or choose another with --launcher"
    )
    in_allocation = knows_hosts()
    if (places.nodes or 1) > 1 and not places.hosts and not in_allocation:
        raise StriderError(
            f"--nodes {places.nodes}: mpiexec knows this host only: name hosts with --hosts or --hostfile, "
            "or start inside an allocation"
        )
    stays = all(_is_here(name) for name in places.names) if places.hosts else not in_allocation
    dialect = _dialect(mpi)
    return Launcher(
        "mpiexec",
        lambda mapping: [path, "-n", str(mapping.ranks), *dialect(mapping)],
        {**_environment(mpi, places), **_keepalive(dialect, places)},
        reach="this host" if stays else "perhaps others",
        places=places,
    )


def knows_hosts() -> bool:
    """Returns whether the environment names hosts to `mpiexec`, such as those of an allocation."""
    return any(os.environ.get(variable) for variable in HOST_VARIABLES)


def _is_here(name: str) -> bool:
    """Returns whether a launcher starts the ranks of this host itself, without a remote shell."""
    return name in ("localhost", socket.gethostname())


def _dialect(mpi: Mpi) -> Callable[[RankMapping], list[str]]:
    if mpi.library.startswith("Open MPI"):
        return dialects.open_mpi
    if mpi.library.startswith("Intel"):
        return dialects.intel
    return dialects.pals if "CRAY MPICH" in mpi.library.upper() else dialects.mpich


def _program(mpi: Mpi) -> str:
    """Returns the engine's `mpiexec`; a name without a path is in an MPI wheel, beside Python."""
    own = mpi.mpiexec
    if Path(own).is_absolute():
        return own if shutil.which(own) else "mpiexec"
    return shutil.which(own, path=str(Path(sys.executable).parent)) or "mpiexec"


def _keepalive(dialect: Callable[[RankMapping], list[str]], places: Places) -> dict[str, str]:
    """Returns the variable that makes MPICH's `ssh` notice a lost host; empty where it may use no `ssh`."""
    is_chosen = any(os.environ.get(variable) for variable in (*HOST_VARIABLES, *HYDRA_VARIABLES))
    if dialect is not dialects.mpich or not places.hosts or is_chosen:
        return {}
    return {"HYDRA_LAUNCHER_EXTRA_ARGS": KEEPALIVE}


def _environment(mpi: Mpi, places: Places) -> dict[str, str]:
    """Returns variables for settings without an option.

    Open MPI by default refuses more ranks than cores, and root; MPICH allows both. Intel MPI ignores the
    ranks per node inside an allocation unless a variable says otherwise, and binds by variables (Intel MPI
    Library Developer Reference, "Process Pinning").
    """
    if mpi.library.startswith("Intel"):
        respect = {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "off"} if places.are_given else {}
        return {**respect, **_INTEL_BINDINGS[places.bind]}
    if not mpi.library.startswith("Open MPI"):
        return {}
    oversubscribe = {
        "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
    }
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**oversubscribe, **(as_root if os.geteuid() == 0 else {})}
