"""How a job is: what the scheduler says of its parts, and what its run directory has."""

import json
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from strider.errors import StriderError
from strider.jobs.record import Job
from strider.processes import boot_id, is_alive

JobState = Literal["waiting", "running", "done", "failed", "cancelled", "unknown"]


@dataclass(frozen=True)
class Condition:
    """How a job is.

    Attributes:
        state: `done` has a run, whatever that measured; `failed` and `cancelled` have none.
        reason: Why it waits, or why the state is unknown.
        number: The scheduler's number of the part that waits or runs; empty for none.
        part: Which part that is, from 1; 0 for none.
    """

    state: JobState
    reason: str = ""
    number: str = ""
    part: int = 0

    @property
    def is_over(self) -> bool:
        """Whether no part waits or runs."""
        return self.state in ("done", "failed", "cancelled")


def condition(job: Job) -> Condition:
    """Returns how a job is now; asks the scheduler once."""
    return conditions([job])[0]


def conditions(jobs: Sequence[Job]) -> list[Condition]:
    """Returns how jobs are now, in their order; asks each scheduler once."""
    asked = {
        executor: _ask(executor, [job for job in jobs if job.record.options.executor == executor])
        for executor in {job.record.options.executor for job in jobs} - {"local"}
    }
    return [_of(job, asked.get(job.record.options.executor, {})) for job in jobs]


def _of(job: Job, asked: dict[str, tuple[str, str]]) -> Condition:
    numbers = job.record.numbers
    is_local = job.record.options.executor == "local"
    seen = {number: _process_state(job) if is_local else asked[number] for number in numbers}
    states: tuple[JobState, ...] = ("running", "waiting", "unknown")
    for wanted in states:
        for part, number in enumerate(numbers, 1):
            if seen[number][0] == wanted:
                return Condition(wanted, seen[number][1], number, part)
    if has_run(job):
        return Condition("done")
    return Condition("cancelled" if job.is_cancelled else "failed")


def has_run(job: Job) -> bool:
    """Returns whether the run of a job has begun."""
    return (job.run / "run.json").is_file()


def is_sealed(job: Job) -> bool:
    """Returns whether the run of a job has ended, for now or for good."""
    try:
        return "ended" in json.loads((job.run / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False


def _ask(executor: str, jobs: Sequence[Job]) -> dict[str, tuple[str, str]]:
    """Returns state and reason of each part of jobs of one scheduler."""
    from strider.jobs.executors import scheduler

    numbers = [number for job in jobs for number in job.record.numbers]
    try:
        found = scheduler(executor, jobs[0].folder).look(numbers)
    except StriderError as error:
        return dict.fromkeys(numbers, ("unknown", error.message))
    return {number: (seen.state, seen.reason) for number, seen in found.items()}


def _process_state(job: Job) -> tuple[str, str]:
    """Returns the state of a process of this machine; its pid may be that of another process by now."""
    record = job.record
    if record.host != socket.gethostname():
        return "unknown", f"it is a process of {record.host}: ask there"
    is_running = record.boot == boot_id() and record.process is not None and is_alive(record.process)
    return ("running" if is_running else "ended"), ""
