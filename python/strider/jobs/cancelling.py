"""Ends jobs in order: first the run, which keeps results and removes files, then the scheduler's jobs."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from strider.errors import ExitCode, StriderError
from strider.jobs.condition import Condition, condition, elsewhere, has_run, is_sealed
from strider.jobs.record import CANCELLED, Job, cannot_write
from strider.own_files import own_folder
from strider.processes import boot_id, descendants, identify, is_alive, stop
from strider.text_file import open_unfollowed

PATIENCE_S = 90.0
"""For a run to end after the request; then its job is ended by the scheduler."""
POLL_S = 0.5
GRACE_S = 5.0
"""For the processes of a local job between SIGTERM and SIGKILL."""
_MAY_RUN = ("running", "unknown")


@dataclass(frozen=True)
class Cancelled:
    """What a cancellation did.

    Attributes:
        withdrawn: Numbers taken from the queue.
        ended: Numbers of jobs or processes that were ended, because their run did not end in time.
        was: How the job was before.
        run_ended: Whether its run ended by itself, with its files removed.
        elsewhere: Why it can be ended by its run only: it is on another host or cluster; empty if it is here.
    """

    withdrawn: list[str]
    ended: list[str]
    was: Condition
    run_ended: bool
    elsewhere: str = ""


def cancel(job: Job, patience_s: float = PATIENCE_S, wait: Callable[[float], None] = time.sleep) -> Cancelled:
    """Ends a job.

    Args:
        job: The job.
        patience_s: Time in seconds for its run to end.
        wait: Waits for some seconds.

    Raises:
        StriderError: The store is not writable, the folder is not the user's, or the scheduler refuses.
    """
    was = condition(job)
    if was.is_over:
        return Cancelled([], [], was, run_ended=False)
    try:
        # Another user may have put a folder with a link in the place of this one.
        with own_folder(job.folder) as folder, open_unfollowed(Path(CANCELLED), "ab", folder):
            pass
    except OSError as error:
        raise cannot_write(job.folder, error) from error
    if other := elsewhere(job):
        return Cancelled([], [], was, run_ended=False, elsewhere=other)
    # The latest first: the end of a part would start the next one.
    withdrawn = cancel_rest(job, 0 if was.state == "waiting" else was.part)
    if was.state == "waiting":
        return Cancelled(withdrawn, [], was, run_ended=False)
    end = time.monotonic() + patience_s
    while (left := condition(job)).state in _MAY_RUN and time.monotonic() < end:
        wait(POLL_S)
    ended = [left.number] if left.state in _MAY_RUN else []
    for number in ended:
        end_part(job, number)
    return Cancelled(withdrawn, ended, was, run_ended=not ended and has_run(job) and is_sealed(job))


def cancel_rest(job: Job, part: int) -> list[str]:
    """Takes the parts after the k-th from the queue, the last first; returns their numbers."""
    withdrawn = []
    for number in reversed(job.record.numbers[part:]):
        end_part(job, number)
        withdrawn.append(number)
    return withdrawn


def end_part(job: Job, number: str) -> None:
    """Ends a part of a job at its scheduler, or the processes of a job of this machine.

    Raises:
        StriderError: The scheduler refuses, a process does not exit, or the number means another job here.
    """
    if other := elsewhere(job):
        raise StriderError(f"job {number} was not ended: {other}", ExitCode.CANNOT_RUN)
    if job.record.options.executor == "local":
        _stop_process(job)
        return
    from strider.jobs.executors import scheduler

    scheduler(job.record.options.executor, job.folder).cancel(number)


def _stop_process(job: Job) -> None:
    """Ends the process of a local job with all it has started: it may be a shell that waits for the run."""
    process = job.record.process
    if process is None or job.record.boot != boot_id():
        return
    below = [identify(pid, process.name) for pid in descendants(process.pid)]
    if not is_alive(process):  # then these may be of another process
        return
    if left := stop([process, *(found for found in below if found)], GRACE_S):
        pids = ", ".join(str(one.pid) for one in left)
        raise StriderError(f"processes do not exit: {pids}: check the target", ExitCode.CANNOT_RUN)
