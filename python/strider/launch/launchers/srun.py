"""`srun` of Slurm, within an allocation."""

import signal

from strider.engine import Mpi
from strider.launch.launchers.launcher import Launcher, installed


def srun(_: Mpi) -> Launcher:
    """The launcher of Slurm: starts ranks on the nodes of the allocation, also more ranks than cores.

    `srun` forwards SIGTERM to the ranks; on SIGINT it only prints their state.
    """
    path = installed("srun", "load Slurm's module, or choose --launcher mpiexec")
    return Launcher(
        "srun",
        lambda ranks: [path, f"--ntasks={ranks}", "--overcommit"],
        interrupt=signal.SIGTERM,
        starts_ranks="by a daemon",
    )
