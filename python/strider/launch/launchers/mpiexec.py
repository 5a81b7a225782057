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
"""Variables by which `mpiexec` is told of other hosts."""


def mpiexec(mpi: Mpi) -> Launcher:
    """The launcher for one machine, or for the hosts that a scheduler has told MPI about.

    MPI's own `mpiexec` is taken, and not the first in PATH: that of another library starts the ranks as so
    many programs of one rank each, or none at all.
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
    """The engine's own `mpiexec`; one known by name alone is an MPI wheel's, beside Python."""
    own = mpi.mpiexec
    if Path(own).is_absolute():
        return own if shutil.which(own) else "mpiexec"
    return shutil.which(own, path=str(Path(sys.executable).parent)) or "mpiexec"


def _environment(mpi: Mpi) -> dict[str, str]:
    """Open MPI refuses more ranks than cores, and root, unless told otherwise; MPICH refuses neither."""
    if not mpi.library.startswith("Open MPI"):
        return {}
    oversubscribe = {
        "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
    }
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**oversubscribe, **(as_root if os.geteuid() == 0 else {})}
