"""`mpiexec` of the MPI library that the engine was built with."""

import os
import shutil
import sys
from pathlib import Path

from strider.engine import Mpi
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


def mpiexec(mpi: Mpi) -> Launcher:
    """The launcher for this machine, or for the hosts of a scheduler's allocation.

    Uses the `mpiexec` of the engine's MPI library instead of the first in PATH: another library's `mpiexec`
    starts N independent programs of one rank each, or fails.
    """
    path = installed(
        _program(mpi), "install the launcher of the engine's MPI library, or choose another with --launcher"
    )
    elsewhere = any(os.environ.get(variable) for variable in HOST_VARIABLES)
    return Launcher(
        "mpiexec",
        lambda ranks: [path, "-n", str(ranks)],
        _environment(mpi),
        reach="perhaps others" if elsewhere else "this host",
    )


def _program(mpi: Mpi) -> str:
    """Returns the engine's `mpiexec`; a name without a path is in an MPI wheel, beside Python."""
    own = mpi.mpiexec
    if Path(own).is_absolute():
        return own if shutil.which(own) else "mpiexec"
    return shutil.which(own, path=str(Path(sys.executable).parent)) or "mpiexec"


def _environment(mpi: Mpi) -> dict[str, str]:
    """Open MPI by default refuses more ranks than cores, and root; MPICH allows both."""
    if not mpi.library.startswith("Open MPI"):
        return {}
    oversubscribe = {
        "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
    }
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**oversubscribe, **(as_root if os.geteuid() == 0 else {})}
