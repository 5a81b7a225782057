"""The part of a job that works inside it: ends its run on request, and knows its earlier parts."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

from strider.jobs.record import Job, cannot_write
from strider.text_file import json_of, open_below

POLL_S = 1.0
_PROCESSES = "processes"
_MOST_BYTES = 1 << 26


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


def note_process(job: Job) -> None:
    """Notes in the job's folder that this process executes the run.

    Raises:
        StriderError: The store is not writable.
    """
    from strider.launch.folder import this_process

    line = json.dumps(asdict(this_process(job.record.run))) + "\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        with os.fdopen(os.open(job.folder / _PROCESSES, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(line)
    except OSError as error:
        raise cannot_write(job.folder, error) from error


def has_ended_last(job: Job) -> bool:
    """Returns whether the process that executed the run last is known to have ended, on whichever node.

    To be asked when no part of the job runs but this one: then the processes of the parts have ended, and the
    one that was there at the submission, which was checked. Any other may go on: a user can resume the run
    while parts wait.
    """
    from strider.launch.resume import CLAIM

    known = [job.record.continues, *_documents(job.folder, _PROCESSES)]
    last = [one.get("process") for one in _documents(job.run, "run.json", whole=True)]
    claims = _documents(job.run, CLAIM, whole=True)
    return bool(last) and all(one is not None and one in known for one in [*last, *claims])


def _documents(folder: Path, name: str, *, whole: bool = False) -> list[dict[str, Any]]:
    """Returns the JSON objects of a file, one on each line or one in all; without those that are damaged."""
    found = []
    with suppress(OSError), open_below(folder, name) as file:
        content = file.read(_MOST_BYTES)
        for text in [content] if whole else content.splitlines():
            with suppress(ValueError):
                found.append(json_of(text))
    return [one for one in found if isinstance(one, dict)]


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
