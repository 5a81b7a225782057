"""`srun` of Slurm, within an allocation."""

import signal

from strider.engine import Mpi
from strider.launch.launchers.launcher import Launcher, installed


def srun(_: Mpi) -> Launcher:
    """The launcher of Slurm: the nodes of the allocation, more ranks than cores allowed.

    `srun` passes SIGTERM on to the ranks; on SIGINT it would only tell about them.
    """
    path = installed("srun", "load Slurm's module, or choose --launcher mpiexec")
    return Launcher(
        "srun",
        lambda ranks: [path, f"--ntasks={ranks}", "--overcommit"],
        interrupt=signal.SIGTERM,
        starts_ranks="by a daemon",
    )
