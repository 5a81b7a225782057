"""The part of a job that works inside it: ends its run on request, and knows its earlier parts."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from strider.jobs.record import Job

POLL_S = 1.0


@contextmanager
def interrupted_on_request(job: Job) -> Iterator[None]:
    """Ends the run of this process as Ctrl-C does once its job is cancelled.

    The request is a file of the job's folder, which the submitting host and the job both see, whatever the
    scheduler. A timer looks for it: a thread would make starting the ranks unsafe.
    """
    is_sent = False

    def look(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_sent
        if not is_sent and job.is_cancelled:
            is_sent = True
            os.kill(os.getpid(), signal.SIGINT)

    if job.record.options.executor == "local":
        # The job outlives the terminal of its submission.
        with suppress(OSError):
            os.setsid()
    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, POLL_S, POLL_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def ended_earlier(job: Job) -> bool:
    """Returns whether the scheduler has ended the earlier parts of a job.

    Each part waits for the one before (`afterany`). A scheduler that does not answer on this node is no
    reason to doubt that; one that reports another running part is.
    """
    from strider.jobs.condition import condition

    if len(job.record.numbers) <= 1:
        return True
    now = condition(job)
    mine = [os.environ.get(name, "") for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID")]
    return now.state != "running" or now.number in mine
