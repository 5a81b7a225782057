"""Runs that the page started: one at a time, each by `strider run` in a process of its own.

So a run from the page is a run from the command line: the same program, the same files, and cancelling it is
its Ctrl-C. What its process prints is kept until the server ends.
"""

import asyncio
import contextlib
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from strider.errors import StriderError
from strider.web.runs import Runs
from strider.web.site import Site
from strider.web.submission import Submission, new_id

MOST_WAITING = 20
PATIENCE_S = 60.0
"""After an interruption, until the next one, and then until the end of the process."""
POLL_S = 0.2

State = Literal["waiting", "running", "done", "failed", "cancelled"]


@dataclass(kw_only=True)
class Job(Submission):
    """A suite for a process of this machine; its folder is there while it waits and runs.

    Attributes:
        submitted: When.
        state: Whether it waits, runs, or how it ended; `failed` has no run.
        cancelled: Set once it is to end.
    """

    submitted: datetime
    state: State = "waiting"
    cancelled: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state not in ("waiting", "running")


class Jobs:
    """The queue.

    Args:
        site: The ground.
        runs: The store's runs.
        may_start: Raises StriderError where a job may no longer run, shortly before it does.
    """

    def __init__(self, site: Site, runs: Runs, may_start: Callable[[Path], None]) -> None:
        """Takes what the class describes."""
        self._site, self._runs, self._may_start = site, runs, may_start
        self._jobs: dict[str, Job] = {}
        self._wake = asyncio.Event()

    @property
    def folder(self) -> Path:
        """Where the suites of jobs are kept meanwhile; no run directory, so no list of runs has it."""
        return self._site.store / ".jobs"

    def all(self) -> list[Job]:
        """All jobs, newest first."""
        return list(reversed(self._jobs.values()))

    def get(self, job: str) -> Job:
        """A job by its id.

        Raises:
            StriderError: There is none.
        """
        if job not in self._jobs:
            raise StriderError(f"there is no job {job!r}: the page knows those since it was started")
        return self._jobs[job]

    def of_run(self, run: str) -> Job | None:
        """The job whose run this is; None for a run that was started elsewhere."""
        return next((job for job in self._jobs.values() if job.run == run), None)

    def submit(self, suite: str, text: str) -> Job:
        """Puts a suite at the end of the queue.

        Args:
            suite: Its name.
            text: Its text, without mistakes.

        Raises:
            StriderError: Too many wait already, or the store cannot be written.
        """
        if sum(job.state == "waiting" for job in self._jobs.values()) >= MOST_WAITING:
            raise StriderError(f"{MOST_WAITING} suites are waiting already: wait, or cancel one")
        name = new_id()
        job = Job(id=name, suite=suite, folder=self.folder / name, submitted=datetime.now(UTC))
        try:
            job.write(text)
        except OSError as error:
            raise StriderError(f"cannot write to {job.folder}: {error.strerror}") from error
        self._jobs[name] = job
        self._wake.set()
        return job

    def cancel(self, job: Job) -> None:
        """Takes a job out of the queue, or interrupts its run as Ctrl-C does."""
        if job.state == "waiting":
            self._end(job, "cancelled")
        job.cancelled.set()

    async def serve(self) -> None:
        """Runs one job after the other until it is cancelled, which ends the run that is under way."""
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while job := next((job for job in self._jobs.values() if job.state == "waiting"), None):
                    await self._run(job)
        finally:
            for job in self._jobs.values():
                if job.state == "waiting":
                    self._end(job, "cancelled")
            with contextlib.suppress(OSError):
                self.folder.rmdir()

    async def _run(self, job: Job) -> None:
        job.state = "running"
        try:
            await asyncio.to_thread(self._may_start, job.file)
            await self._attend(job)
        except (StriderError, OSError) as error:
            job.output = str(error)
            self._end(job, "failed")

    async def _attend(self, job: Job) -> None:
        """Starts the process and stays with it until it has ended, also where this is cancelled."""
        command = [sys.executable, "-I", "-m", "strider", "run", str(job.file), "--quiet", "--store"]
        with job.output_file.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *command,
                str(self._site.store),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # this process passes its own Ctrl-C on, once
            )
        try:
            await self._follow(job, process)
        finally:
            await _interrupt(process)
            job.run = job.run or self._runs.started_with(job.file)
            job.look_at_output()
            self._end(job, "done" if job.run else "cancelled" if job.cancelled.is_set() else "failed")

    async def _follow(self, job: Job, process: asyncio.subprocess.Process) -> None:
        """Until the end of the process or a cancellation; notes the run as soon as there is one."""
        ends = [asyncio.ensure_future(process.wait()), asyncio.ensure_future(job.cancelled.wait())]
        try:
            while not any(end.done() for end in ends):
                await asyncio.wait(ends, timeout=POLL_S, return_when=asyncio.FIRST_COMPLETED)
                if not job.run:
                    job.run = await asyncio.to_thread(self._runs.started_with, job.file)
        finally:
            for end in ends:
                end.cancel()

    def _end(self, job: Job, state: State) -> None:
        job.state = state
        shutil.rmtree(job.folder, ignore_errors=True)


async def _interrupt(process: asyncio.subprocess.Process) -> None:
    """Ends a process, if it has not ended, as Ctrl-C does; then with more force, and for certain."""
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                await process.wait()
