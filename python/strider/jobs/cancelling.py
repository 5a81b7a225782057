"""Ends jobs in order: first the run, which keeps results and removes files, then the scheduler's jobs."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from strider.jobs.condition import Condition, condition, has_run, is_sealed
from strider.jobs.record import CANCELLED, Job, cannot_write

PATIENCE_S = 90.0
"""For a run to end after the request; then its job is ended by the scheduler."""
POLL_S = 0.5
_MAY_RUN = ("running", "unknown")


@dataclass(frozen=True)
class Cancelled:
    """What a cancellation did.

    Attributes:
        withdrawn: Numbers taken from the queue.
        ended: Numbers that the scheduler ended, because their run did not end in time.
        was: How the job was before.
        run_ended: Whether its run ended by itself, with its files removed.
    """

    withdrawn: list[str]
    ended: list[str]
    was: Condition
    run_ended: bool


def cancel(job: Job, patience_s: float = PATIENCE_S, wait: Callable[[float], None] = time.sleep) -> Cancelled:
    """Ends a job.

    Args:
        job: The job.
        patience_s: Time in seconds for its run to end.
        wait: Waits for some seconds.

    Raises:
        StriderError: The store is not writable, or the scheduler refuses.
    """
    was = condition(job)
    if was.is_over:
        return Cancelled([], [], was, run_ended=False)
    try:
        (job.folder / CANCELLED).touch()
    except OSError as error:
        raise cannot_write(job.folder, error) from error
    # The latest first: the end of a part would start the next one.
    withdrawn = cancel_rest(job, 0 if was.state == "waiting" else was.part)
    if was.state == "waiting":
        return Cancelled(withdrawn, [], was, run_ended=False)
    end = time.monotonic() + patience_s
    while (left := condition(job)).state in _MAY_RUN and time.monotonic() < end:
        wait(POLL_S)
    ended = [left.number] if left.state in _MAY_RUN else []
    for number in ended:
        _cluster_cancel(job, number)
    return Cancelled(withdrawn, ended, was, run_ended=not ended and has_run(job) and is_sealed(job))


def cancel_rest(job: Job, part: int) -> list[str]:
    """Takes the parts after the k-th from the queue, the last first; returns their numbers."""
    withdrawn = []
    for number in reversed(job.record.numbers[part:]):
        _cluster_cancel(job, number)
        withdrawn.append(number)
    return withdrawn


def _cluster_cancel(job: Job, number: str) -> None:
    from strider.jobs.executors import scheduler

    scheduler(job.record.options.executor, job.folder).cancel(number)
