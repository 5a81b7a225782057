"""Jobs of schedulers on the page: submitted and cancelled by the same code as `strider submit` uses."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from strider.errors import ExitCode, StriderError
from strider.jobs.options import Word
from strider.web.site import Site
from strider.web.submission import Submission

if TYPE_CHECKING:
    from strider.jobs import Condition, Job

_EXECUTOR = "slurm"
"""The scheduler that the page submits to."""
MOST_SHOWN = 100
"""Newest jobs of the store that are shown."""
_REFRESH_LIMIT_S = 2.0
"""Most time that a list waits for the schedulers."""


class BatchOptions(BaseModel):
    """Options of a job that a user may set on the page."""

    partition: Word = ""
    account: Word = ""
    time: str = Field(default="", pattern=r"^[0-9:smh-]{0,20}$")
    nodes: str = Field(default="", pattern=r"^[0-9]{0,6}$")


@dataclass(kw_only=True)
class BatchJob(Submission):
    """A job as a page shows it.

    Attributes:
        state: `waiting`, `running`, `done`, `failed`, `cancelled`, or `unknown`.
        place: Name of its scheduler.
    """

    state: str = "waiting"
    place: str = ""

    @property
    def over(self) -> bool:
        """Whether no part waits or runs."""
        return self.state in ("done", "failed", "cancelled")


class BatchQueue:
    """The jobs of schedulers: all of the store; the page submits to one scheduler.

    Args:
        site: The ground.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._known: dict[str, Condition] = {}
        self._asking: asyncio.Task[None] | None = None

    @property
    def missing(self) -> str:
        """The reason that nothing can be submitted; empty if there is none."""
        from strider.jobs.executors import missing_of

        return missing_of(_EXECUTOR).partition(":")[0]

    def all(self) -> list[BatchJob]:
        """The newest jobs of the store, newest first, with the last known state."""
        return [self._shown(job) for job in reversed(self._jobs())]

    def of_run(self, run: str) -> BatchJob | None:
        """The newest job of a run, with the last known state; None if there is none."""
        return next((self._shown(job) for job in reversed(self._jobs()) if job.record.run == run), None)

    async def refresh(self) -> None:
        """Asks the schedulers for all jobs that may not be over; waits for `_REFRESH_LIMIT_S` at most."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(asyncio.to_thread(self._look_at_all))
        await asyncio.wait([self._asking], timeout=_REFRESH_LIMIT_S)

    def _look_at_all(self) -> None:
        from strider.jobs import conditions

        jobs = [job for job in self._jobs() if job.id not in self._known or not self._known[job.id].is_over]
        self._known.update(zip([job.id for job in jobs], conditions(jobs), strict=True))

    def _jobs(self) -> list["Job"]:
        from strider.jobs import all_jobs

        return all_jobs(self._site.store, MOST_SHOWN)

    def knows(self, name: str) -> bool:
        """Whether there is a job with this name."""
        return self._found(name) is not None

    def _found(self, name: str) -> "Job | None":
        from strider.jobs import read
        from strider.jobs.record import folder_of, is_id

        if is_id(name):
            with suppress(StriderError):  # there is none, or one of another user
                return read(folder_of(self._site.store) / name)
        return None

    def _shown(self, job: "Job") -> BatchJob:
        from strider.jobs.condition import has_run
        from strider.jobs.executors import shown_name

        run, count = job.record.run if has_run(job) else "", len(job.record.numbers)
        shown = BatchJob(id=job.id, suite=job.record.suite, folder=job.folder, run=run)
        shown.place = shown_name(job.record.options.executor)
        if now := self._known.get(job.id):
            shown.state, shown.reason, shown.number = now.state, now.reason, now.number
            shown.part = f"{now.part} of {count}" if count > 1 and now.part else ""
        else:
            shown.state = "unknown"
        return shown

    async def submit(self, text: str, needs: Mapping[str, Any], asked: BatchOptions) -> BatchJob:
        """Submits a suite to the scheduler.

        Args:
            text: Its text, checked.
            needs: The answer to the question `job` about the suite.
            asked: Options of the job.

        Raises:
            StriderError: There is no scheduler, or it refuses.
        """
        if self.missing:
            raise StriderError(self.missing, ExitCode.CANNOT_RUN)
        return self._shown(await asyncio.to_thread(self._submit, text, needs, asked))

    def _submit(self, text: str, needs: Mapping[str, Any], asked: BatchOptions) -> "Job":
        from strider.jobs import Order, jobs_needed, parse_options, submit
        from strider.launch.launchers import Places

        options = parse_options(
            executor=_EXECUTOR,
            nodes=needs["nodes"],
            per_node=needs["per_node"],
            time=asked.time,
            partition=asked.partition,
            account=asked.account,
        )
        # The scheduler's daemons start the ranks, so none of them can be confined from here.
        words = [*self._site.bounds("auto"), *Places(nodes=int(asked.nodes or 0) or None).words]
        jobs = jobs_needed(options, needs["seconds"], None)
        order = Order(
            suite=needs["name"], text=text, ranks=needs["ranks"], options=options, words=words, jobs=jobs
        )
        return submit(order, self._site.store)

    async def look(self, name: str) -> BatchJob:
        """A job with its current state.

        Raises:
            StriderError: It no longer exists.
        """
        return await asyncio.to_thread(self._look, name)

    def _look(self, name: str) -> BatchJob:
        from strider.jobs import condition

        job = self._found(name)
        if job is None:
            raise StriderError(f"there is no job {name!r}")
        self._known[name] = condition(job)
        shown = self._shown(job)
        shown.output = job.output
        return shown

    async def cancel(self, name: str) -> None:
        """Removes a job from the queue, or interrupts its run as Ctrl-C does.

        Raises:
            StriderError: The scheduler refuses.
        """
        await asyncio.to_thread(self._cancel, name)

    def _cancel(self, name: str) -> None:
        from strider.jobs import cancel

        if job := self._found(name):
            cancel(job)
