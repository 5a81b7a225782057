"""Executors by their names for `--executor`."""

import shutil
from collections.abc import Collection
from pathlib import Path

from psij import Job as PsijJob
from psij import JobExecutor, JobState, SubmitException
from psij.executors.batch.batch_scheduler_executor import (
    BatchSchedulerExecutor,
    BatchSchedulerExecutorConfig,
    _QueuePollThread,
)
from psij.executors.batch.lsf import LsfExecutorConfig, LsfJobExecutor
from psij.executors.batch.pbs import PBSJobExecutor
from psij.executors.batch.pbs_base import PBSExecutorConfig
from psij.executors.batch.slurm import SlurmExecutorConfig, SlurmJobExecutor

from strider.errors import ExitCode, StriderError
from strider.jobs.options import EXECUTORS
from strider.jobs.schedulers import Batch, Scheduler, Seen, Slurm

COMMANDS = {
    "slurm": ("sbatch", "squeue", "scancel"),
    "pbs": ("qsub", "qstat", "qdel"),
    "lsf": ("bsub", "bjobs", "bkill"),
    "flux": ("flux",),
}
"""Commands that an executor needs."""
_START_S = 30


class Direct:
    """An executor without scripts: processes of this machine, or Flux, by its own library.

    Args:
        executor: PSI/J's executor.
    """

    def __init__(self, executor: JobExecutor) -> None:
        self._executor = executor

    def script(self, job: PsijJob) -> str:
        """There is none: the command is started as it is.

        Raises:
            StriderError: Always.
        """
        raise StriderError(f"the executor {self._executor.name} has no script: choose another --executor")

    def submit(self, job: PsijJob, script: Path) -> str:
        """Starts a job; returns the number of its process or of Flux's job.

        Raises:
            StriderError: It is not started.
        """
        from datetime import timedelta

        try:
            self._executor.submit(job)
            job.wait(timedelta(seconds=_START_S), [JobState.QUEUED])
        except SubmitException as error:
            raise StriderError(f"the job was not started: {error}", ExitCode.CANNOT_RUN) from error
        if job.native_id is None:
            raise StriderError(f"the job was not started within {_START_S} s", ExitCode.CANNOT_RUN)
        return str(job.native_id)

    def look(self, numbers: list[str]) -> dict[str, Seen]:
        """The state of jobs by their numbers: in a list of active ones, or ended."""
        active = set(map(str, self._executor.list()))
        return {number: Seen("running" if number in active else "ended") for number in numbers}

    def cancel(self, number: str) -> None:
        """Ends a job of Flux. Processes of this machine are ended by their identity instead."""
        from datetime import timedelta

        job = PsijJob()
        self._executor.attach(job, number)
        job.cancel()
        job.wait(timedelta(seconds=_START_S))


class _NotPolling(BatchSchedulerExecutor):
    """An executor without its polling thread, which would make starting ranks unsafe."""

    def _start_queue_poll_thread(self) -> _QueuePollThread:
        config = self.config
        assert isinstance(config, BatchSchedulerExecutorConfig)  # noqa: S101 - it was given one
        return _QueuePollThread(self.name, config, self)


class _Slurm(_NotPolling, SlurmJobExecutor):
    _NAME_ = "slurm"

    def get_status_command(self, native_ids: Collection[str]) -> list[str]:
        """The command with wide columns: by default Slurm cuts each after 20 characters."""
        return ["squeue", "-O", "JobArrayID:64,StateCompact:16,Reason:256", "-t", "all", "--me"]


class _Pbs(_NotPolling, PBSJobExecutor):
    _NAME_ = "pbs"


class _Lsf(_NotPolling, LsfJobExecutor):
    _NAME_ = "lsf"


def scheduler(name: str, folder: Path) -> Scheduler:
    """Returns the scheduler of an executor.

    Args:
        name: Its name.
        folder: Folder for PSI/J's launcher and for what its scripts write.

    Raises:
        StriderError: It is not installed.
    """
    if missing := missing_of(name):
        raise StriderError(missing, ExitCode.CANNOT_RUN)
    executor = _batch_executor(name, folder)
    if executor is None:
        try:
            return Direct(JobExecutor.get_instance(name))
        except (ValueError, ImportError) as error:
            raise StriderError(f"PSI/J cannot use {name}: {error}", ExitCode.CANNOT_RUN) from error
    # The scripts write there; PSI/J makes it when it submits itself.
    executor.work_directory.mkdir(parents=True, exist_ok=True)
    return Slurm(executor) if name == "slurm" else Batch(executor)


def _batch_executor(name: str, folder: Path) -> BatchSchedulerExecutor | None:
    """Returns an executor with scripts; None for one without."""
    match name:
        case "slurm":
            return _Slurm(None, SlurmExecutorConfig(work_directory=folder, keep_files=True))
        case "pbs":
            return _Pbs(None, PBSExecutorConfig(work_directory=folder, keep_files=True))
        case "lsf":
            return _Lsf(None, LsfExecutorConfig(work_directory=folder, keep_files=True))
    return None


def missing_of(name: str) -> str:
    """Returns why an executor cannot be used; empty if it can."""
    missing = [command for command in COMMANDS.get(name, ()) if shutil.which(command) is None]
    if not missing:
        return ""
    return (
        f"this machine has no {shown_name(name)} ({', '.join(missing)} not found): choose another --executor"
    )


def found() -> str:
    """Returns the first scheduler that this machine has.

    Raises:
        StriderError: It has none.
    """
    names = [name for name in EXECUTORS if name != "local" and not missing_of(name)]
    if names:
        return names[0]
    raise StriderError(
        "this machine has no Slurm, PBS, LSF or Flux: submit from a login node, or use --executor local",
        ExitCode.CANNOT_RUN,
    )


def shown_name(name: str) -> str:
    """Returns the name of an executor as its users write it."""
    if name == "local":
        return "this machine"
    return name.capitalize() if name in ("slurm", "flux") else name.upper()
