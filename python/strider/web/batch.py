"""Jobs of a scheduler from the page: those of `strider submit`, submitted and cancelled by the same code."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from strider.errors import ExitCode, StriderError
from strider.web.site import Site
from strider.web.submission import Submission

if TYPE_CHECKING:
    from strider.jobs import Job

MOST_SHOWN = 100
"""Newest jobs of the store that are shown."""
_WORD = r"^([A-Za-z0-9][A-Za-z0-9._+-]{0,63})?$"


class SlurmOptions(BaseModel):
    """What a user may ask of the scheduler."""

    partition: str = Field(default="", pattern=_WORD)
    account: str = Field(default="", pattern=_WORD)
    time: str = Field(default="", pattern=r"^[0-9:smh-]{0,20}$")
    nodes: str = Field(default="", pattern=r"^[0-9]{0,6}$")


@dataclass(kw_only=True)
class SlurmJob(Submission):
    """A job as a page shows it.

    Attributes:
        state: `waiting`, `running`, `done`, `failed`, `cancelled`, or `unknown` where Slurm does not answer.
        reason: Why it waits.
    """

    state: str = "waiting"
    reason: str = ""


class Slurm:
    """The scheduler of the page.

    Args:
        site: The ground.
    """

    def __init__(self, site: Site) -> None:
        """Takes what the class describes."""
        self._site = site
        self._known: dict[str, SlurmJob] = {}

    @property
    def missing(self) -> str:
        """Why nothing can be submitted; empty where it can."""
        from strider.jobs.executors import missing_of

        return missing_of("slurm").partition(":")[0]

    def all(self) -> list[SlurmJob]:
        """All jobs of the store, newest first, as they were when last looked at."""
        from strider.jobs import all_jobs

        return [self._shown(job) for job in reversed(all_jobs(self._site.store)[-MOST_SHOWN:])]

    def knows(self, name: str) -> bool:
        """Whether a job is one of these."""
        return self._found(name) is not None

    def _found(self, name: str) -> "Job | None":
        from strider.jobs import read
        from strider.jobs.record import folder_of, is_id

        folder = folder_of(self._site.store) / name
        return read(folder) if is_id(name) and folder.is_dir() else None

    def _shown(self, job: "Job") -> SlurmJob:
        from strider.jobs.condition import has_run, is_sealed

        run = job.record.run if has_run(job) else ""
        before = self._known.get(job.id)
        shown = SlurmJob(id=job.id, suite=job.record.suite, folder=job.folder, run=run)
        shown.state = before.state if before else "done" if is_sealed(job) else "unknown"
        return shown

    async def submit(self, suite: str, text: str, ranks: int, asked: SlurmOptions) -> SlurmJob:
        """Hands a suite to the scheduler.

        Args:
            suite: Its name.
            text: Its text, without mistakes.
            ranks: How many it needs.
            asked: What the user asks of the scheduler.

        Raises:
            StriderError: There is no scheduler, or it refuses.
        """
        if self.missing:
            raise StriderError(self.missing, ExitCode.CANNOT_RUN)
        return self._shown(await asyncio.to_thread(self._submit, suite, text, ranks, asked))

    def _submit(self, suite: str, text: str, ranks: int, asked: SlurmOptions) -> "Job":
        from strider.jobs import Order, parse_options, submit

        options = parse_options(
            executor="slurm",
            nodes=int(asked.nodes or 1),
            time=asked.time,
            partition=asked.partition,
            account=asked.account,
        )
        # Slurm's daemons start the ranks, so none of them can be confined from here.
        words = self._site.bounds("auto")
        return submit(Order(suite, text, ranks, options, words), self._site.store)

    async def look(self, name: str) -> SlurmJob:
        """A job as it is now.

        Raises:
            StriderError: It is not there any more.
        """
        return await asyncio.to_thread(self._look, name)

    def _look(self, name: str) -> SlurmJob:
        from strider.jobs import condition

        job = self._found(name)
        if job is None:
            raise StriderError(f"there is no job {name!r}")
        shown, now = self._shown(job), condition(job)
        shown.state, shown.reason, shown.output = now.state, now.reason, job.output
        self._known[name] = shown
        return shown

    async def cancel(self, name: str) -> None:
        """Takes a job out of the queue, or interrupts its run as Ctrl-C does.

        Raises:
            StriderError: The scheduler refuses.
        """
        await asyncio.to_thread(self._cancel, name)

    def _cancel(self, name: str) -> None:
        from strider.jobs import cancel

        if job := self._found(name):
            cancel(job)
