"""`strider run --job`, in the script of a job: begins the run of the job, or resumes it."""

import os
import re
import stat
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from strider.console import echo
from strider.errors import ExitCode, StriderError
from strider.text import shortened

if TYPE_CHECKING:
    from strider.jobs import Job
    from strider.launch.rundir import RunDirectory
    from strider.running.options import RunOptions

_PATIENCE_S = 120.0
_POLL_S = 0.5
_UNFINISHED = re.compile(
    r"(plan|description)\.json|suite\.toml|\.((plan|description|run)\.json|suite\.toml)\.[0-9]+"
)
"""Remains of a killed process in a run directory that has no `run.json` yet: files and their drafts."""
_LEAST_LIMIT_S = 0.001
"""Of a part that has nothing left of the suite's own time limit: it measures nothing."""


def run_in_job(folder: Path, file: Path, options: "RunOptions") -> None:
    """Begins or resumes the run of a job, and withdraws its further parts once the run is complete.

    Args:
        folder: The job's folder.
        file: The suite.
        options: Options of a run from the command line.

    Raises:
        StriderError: The job is damaged, or an earlier part of it runs.
    """
    from strider.jobs import interrupted_on_request, read

    job = read(folder.absolute())
    if job.is_cancelled:
        echo(f"job {job.id} is cancelled: nothing is measured")
        return
    limit = _limit(job, file, options)
    with interrupted_on_request(job):
        try:
            _begin_or_resume(job, file, options, limit)
        finally:
            # A further part would begin with the end of this one.
            _withdraw_rest(job, limit)


@dataclass(frozen=True)
class _Limit:
    """The time limit of a part.

    Attributes:
        seconds: The limit; 0 for none.
        is_last: Whether the suite's own time limit ends with it, so that no further part measures.
    """

    seconds: float
    is_last: bool


def _limit(job: "Job", file: Path, options: "RunOptions") -> _Limit:
    """Returns the smaller of the time of this part and the rest of the suite's own time limit."""
    from strider import engine as engines
    from strider.launch.earlier import read_earlier
    from strider.running.prepared import changes_of
    from strider.suite import load

    usable_s = job.record.options.usable_s
    if job.record.continues is not None:  # more time is what its user asks for
        return _Limit(usable_s, is_last=False)
    whole_s = load(file, engines.find().description, changes_of(options)).plan.time_limit_s
    if not whole_s:
        return _Limit(usable_s, is_last=False)
    left_s = max(_LEAST_LIMIT_S, whole_s - read_earlier(job.run / "events.jsonl").used_s)
    is_last = not usable_s or left_s <= usable_s
    return _Limit(left_s if is_last else usable_s, is_last=is_last)


def _begin_or_resume(job: "Job", file: Path, options: "RunOptions", limit: _Limit) -> None:
    from strider.jobs import ended_earlier, has_ended_last, note_process
    from strider.launch.rundir import RunDirectory
    from strider.running.conducting import run_suite
    from strider.running.options import OutputOptions
    from strider.running.resuming import ResumeOptions, resume_directory

    if not ended_earlier(job):
        raise StriderError(f"another part of job {job.id} runs: wait for its end", ExitCode.CANNOT_RUN)
    if not (job.run / "run.json").is_file():
        _remove_unfinished(job.run)
        note_process(job)
        limited = [f"suite.time_limit={limit.seconds:.12g}s"] if limit.seconds else []
        settings = [*options.settings, *limited]
        run_suite(file, replace(options, settings=settings, run_id=job.record.run, store=job.store))
        return
    directory = RunDirectory(job.record.run, job.run)
    _wait_for_earlier(directory)
    is_over = has_ended_last(job)
    note_process(job)
    asked = ResumeOptions(limit_s=limit.seconds, places=options.places, anyway=True, is_over=is_over)
    resume_directory(directory, asked, OutputOptions(quiet=options.quiet, report=options.report))


def _remove_unfinished(directory: Path) -> None:
    """Removes a run directory that an earlier part left when it was killed while it created it.

    Raises:
        StriderError: Something else has this name.
    """
    try:
        opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _not_unfinished(directory, error.strerror) from error
    try:
        with os.scandir(opened) as entries:
            names = [entry.name for entry in entries]
        others = [name for name in names if not _UNFINISHED.fullmatch(name) or not _is_file(name, opened)]
        if others:
            raise _not_unfinished(directory, f"it has {shortened(others[0])}")
        for name in names:
            os.unlink(name, dir_fd=opened)
        directory.rmdir()
    except OSError as error:
        raise _not_unfinished(directory, error.strerror) from error
    finally:
        os.close(opened)


def _is_file(name: str, folder: int) -> bool:
    return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _not_unfinished(directory: Path, why: str | None) -> StriderError:
    return StriderError(
        f"{directory} is in the way of the job's run ({why}): move it away, and submit the suite again",
        ExitCode.CANNOT_RUN,
    )


def _wait_for_earlier(directory: "RunDirectory") -> None:
    """Waits for a process of an earlier part that outlives its job, which some schedulers let happen."""
    from strider.launch.resume import is_held

    end = time.monotonic() + _PATIENCE_S
    while is_held(directory) and time.monotonic() < end:
        time.sleep(_POLL_S)


def _withdraw_rest(job: "Job", limit: _Limit) -> None:
    """Takes further parts from the queue if nothing is missing; else they find that themselves, and end."""
    from strider.jobs import cancel_rest, read
    from strider.launch.rundir import RunDirectory
    from strider.running.resuming import has_ended, is_complete

    # The submission may have added numbers since this part began.
    job = read(job.folder)
    if len(job.record.numbers) < 2 or not (job.run / "run.json").is_file():
        return
    part = _part(job)
    directory = RunDirectory(job.record.run, job.run)
    if not part or not (is_complete(directory) or (limit.is_last and has_ended(directory))):
        return
    try:
        cancel_rest(job, part)
    except StriderError as error:
        echo(f"note: {error.message}: further jobs end by themselves", stream=sys.stderr)


def _part(job: "Job") -> int:
    """Returns which part of a job this process is, from 1; 0 if unknown."""
    for name in ("SLURM_JOB_ID", "PBS_JOBID"):
        if os.environ.get(name, "") in job.record.numbers:
            return job.record.numbers.index(os.environ[name]) + 1
    return 0
