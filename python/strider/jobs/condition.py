"""How a job is: what the scheduler says of its parts, and what its run directory has."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from strider.errors import StriderError
from strider.jobs.record import Job, Record
from strider.processes import boot_id, is_alive
from strider.text_file import json_of, open_below

_INFO_BYTES = 1 << 26
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
    others = _others(jobs)
    near = [job for job, other in zip(jobs, others, strict=True) if not other]
    asked = {
        executor: _ask(executor, [job for job in near if job.record.options.executor == executor])
        for executor in {job.record.options.executor for job in near} - {"local"}
    }
    return [
        _of(job, other, asked.get(job.record.options.executor, {}))
        for job, other in zip(jobs, others, strict=True)
    ]


def elsewhere(job: Job) -> str:
    """Returns why this machine can neither ask about a job nor end it; empty if it can.

    A process of another host and a job of another cluster have numbers that mean others here.
    """
    return _others([job])[0]


def _others(jobs: Sequence[Job]) -> list[str]:
    """Returns for each job why it is elsewhere; asks each scheduler for its cluster once."""
    executors = {job.record.options.executor for job in jobs if job.record.cluster}
    if executors:
        # It imports PSI/J, which takes a moment.
        from strider.jobs.schedulers import cluster_name
    clusters = {executor: cluster_name(executor) for executor in executors}
    return [_other(job.record, clusters) for job in jobs]


def _other(record: Record, clusters: dict[str, str]) -> str:
    if record.options.executor == "local":
        is_here = not record.numbers or record.host == socket.gethostname()
        return "" if is_here else f"it is a process of {record.host}: ask there"
    if not record.cluster or clusters[record.options.executor] == record.cluster:
        return ""
    return f"it is a job of the cluster {record.cluster}: ask there"


def _of(job: Job, other: str, asked: dict[str, tuple[str, str]]) -> Condition:
    numbers = job.record.numbers
    if other:
        seen = dict.fromkeys(numbers, ("unknown", other))
    elif job.record.options.executor == "local":
        seen = dict.fromkeys(numbers, (_process_state(job.record), ""))
    else:
        seen = {number: asked[number] for number in numbers}
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
        with open_below(job.run, "run.json") as file:
            return "ended" in json_of(file.read(_INFO_BYTES))
    except (OSError, ValueError, TypeError):
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


def _process_state(record: Record) -> str:
    """Returns the state of a process of this machine; its pid may be that of another process by now."""
    is_running = record.boot == boot_id() and record.process is not None and is_alive(record.process)
    return "running" if is_running else "ended"
