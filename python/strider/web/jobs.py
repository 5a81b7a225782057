"""Runs that the page started: one at a time, each by `strider run` or `strider quick` in its own process.

So a run from the page is a run from the command line: the same program, the same files, and cancelling it is
its Ctrl-C. Each job has a folder with its record, so the next server continues the queue of one that has
ended, and follows and cancels the run that it left.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from strider.errors import ExitCode, StriderError
from strider.own_files import make_store, read_own, require_own_folder
from strider.processes import Process, boot_id, command_lines, identify, is_alive
from strider.text_file import write_whole
from strider.web.runs import Runs
from strider.web.site import Site
from strider.web.submission import CardOrder, Submission, VerifyOrder, new_id

MOST_WAITING = 20
PATIENCE_S = 60.0
"""After an interruption, until the next one, and then until the end of the process."""
POLL_S = 0.2

RECORD = "job.json"

#: Kind of a job's process.
_WHAT = "strider run"
_VERBS = frozenset({"run", "quick", "resume", "verify"})

State = Literal["waiting", "running", "done", "failed", "cancelled"]

_log = logging.getLogger("uvicorn.error")


class Record(BaseModel):
    """The record of a job that waits or runs, in its folder.

    Attributes:
        state: `running` shortly before there is a process.
        cancelled: Whether it is to end.
        process: What runs it.
        boot: In which start of the machine.
        card: What to measure, where it is a card and no suite.
        resumes: Id of the run that it continues; empty for a new run.
        verifies: The data set to read, where it is a verification.
    """

    suite: str
    submitted: datetime
    state: Literal["waiting", "running"]
    card: CardOrder | None = None
    resumes: str = ""
    verifies: VerifyOrder | None = None
    cancelled: bool = False
    process: Process | None = None
    boot: str = ""


@dataclass(kw_only=True)
class Job(Submission):
    """A suite or a card for a process of this machine; its folder is there while it waits and runs.

    Attributes:
        submitted: When.
        state: Whether it waits, runs, or how it ended; `failed` has no run.
        cancelled: Set once it is to end.
        process: What runs it, also where an earlier server has started that.
    """

    submitted: datetime
    state: State = "waiting"
    cancelled: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    process: Process | None = None

    @property
    def over(self) -> bool:
        return self.state not in ("waiting", "running")

    def keep(self) -> None:
        """Writes its record.

        Raises:
            OSError: It cannot be written.
        """
        record = Record(
            suite=self.suite,
            submitted=self.submitted,
            state="waiting" if self.state == "waiting" else "running",
            cancelled=self.cancelled.is_set(),
            process=self.process,
            boot=boot_id(),
            card=self.card,
            resumes=self.resumes,
            verifies=self.verifies,
        )
        write_whole(self.folder / RECORD, record.model_dump_json(), 0o600)

    @classmethod
    def kept(cls, folder: Path) -> "Job":
        """A job as its folder has it.

        Raises:
            StriderError: Its record is damaged, or another user can have written it.
        """
        try:
            record = Record.model_validate_json(read_own(folder / RECORD) or b"")
        except ValidationError as error:
            raise StriderError(f"cannot read {folder / RECORD}: the job is not resumed") from error
        job = cls(
            id=folder.name,
            suite=record.suite,
            folder=folder,
            submitted=record.submitted,
            card=record.card,
            resumes=record.resumes,
            verifies=record.verifies,
        )
        job.state = record.state
        # A process from before a restart of the machine has ended, even if another one has its number now.
        job.process = record.process if record.boot == boot_id() else None
        if job.state == "running":
            job.process = job.process or _process_of(job.file)
        if record.cancelled:
            job.cancelled.set()
        return job


class Jobs:
    """The queue of one store on one machine, which one server at a time has.

    Args:
        site: The ground.
        runs: The store's runs.
        may_start: Raises StriderError where a job may no longer run, shortly before it does.
        by_hand: Whether the server was ended by Ctrl-C, which ends the run and drops what waits.
    """

    def __init__(
        self,
        site: Site,
        runs: Runs,
        may_start: Callable[[Job], Awaitable[None]],
        by_hand: Callable[[], bool],
    ) -> None:
        self._site, self._runs, self._may_start, self._by_hand = site, runs, may_start, by_hand
        self._jobs: dict[str, Job] = {}
        self._wake = asyncio.Event()
        self._lock = -1

    @property
    def folder(self) -> Path:
        """Where jobs have their folders; no run directory, so no list of runs has it.

        By machine, as others may use the same store, and processes are those of one machine.
        """
        return self._site.store / ".jobs" / socket.gethostname()

    def all(self) -> list[Job]:
        """All jobs, newest first."""
        return list(reversed(self._jobs.values()))

    def get(self, job: str) -> Job:
        """A job by its id.

        Raises:
            StriderError: There is none.
        """
        if job not in self._jobs:
            raise StriderError(f"there is no job {job!r}: it may have ended before the server was started")
        return self._jobs[job]

    def of_run(self, run: str) -> Job | None:
        """The newest job whose run this is; None for a run that was started elsewhere."""
        return next((job for job in self.all() if job.run == run), None)

    def submit(
        self,
        suite: str,
        text: str,
        card: CardOrder | None = None,
        resumes: str = "",
        verifies: VerifyOrder | None = None,
    ) -> Job:
        """Puts a suite or an order at the end of the queue.

        Args:
            suite: Its name.
            text: Its text, without mistakes; of an order, none.
            card: What to measure, where it is a card.
            resumes: Id of the run to continue; empty for a new run.
            verifies: The data set to read, where it is a verification.

        Raises:
            StriderError: Too many wait already, the run is resumed already, or the store cannot be written.
        """
        self._take_over()
        if resumes and any(job.resumes == resumes and not job.over for job in self._jobs.values()):
            raise StriderError(f"run {resumes} is resumed already: see the queue")
        if sum(job.state == "waiting" for job in self._jobs.values()) >= MOST_WAITING:
            raise StriderError(f"the queue is full ({MOST_WAITING} suites): wait, or cancel one")
        name = new_id()
        job = Job(
            id=name,
            suite=suite,
            folder=self.folder / name,
            submitted=datetime.now(UTC),
            card=card,
            resumes=resumes,
            verifies=verifies,
        )
        try:
            job.write(text)
            job.keep()
        except OSError as error:
            raise StriderError(f"cannot write to {job.folder}: {error.strerror}") from error
        self._jobs[name] = job
        self._wake.set()
        return job

    def cancel(self, job: Job) -> None:
        """Takes a job out of the queue, or interrupts its run as Ctrl-C does."""
        job.cancelled.set()
        if job.state == "waiting":
            self._end(job, "cancelled")
        elif not job.over:
            with contextlib.suppress(OSError):
                job.keep()

    async def serve(self) -> None:
        """Runs one job after the other until it is cancelled; then see `by_hand`."""
        try:
            self._take_over()
        except StriderError as error:
            _log.warning("%s", error.message)
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while job := self._next():
                    await self._run(job)
        finally:
            for job in self._jobs.values():
                if job.state == "waiting" and self._by_hand():
                    self._end(job, "cancelled")
            if self._next():
                _log.warning("submitted jobs continue; the next strider serve of this store follows them")
            self._let_go()

    def _next(self) -> Job | None:
        """The run that an earlier server has left, else what waits longest."""
        unfinished = [job for job in self._jobs.values() if not job.over]
        return min(unfinished, key=lambda job: job.state != "running", default=None)

    def _take_over(self) -> None:
        """Takes the queue, with its jobs.

        Raises:
            StriderError: Another server has it, or it cannot be read.
        """
        if self._lock >= 0:
            return
        try:
            make_store(self._site.store)
            for folder in (self.folder.parent, self.folder):
                folder.mkdir(mode=0o700, exist_ok=True)
                if folder.stat().st_uid == os.geteuid():
                    folder.chmod(0o700)  # older versions let the group write
            # A job in a folder of others would be their order.
            require_own_folder(self.folder)
            lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.folder.stat()  # the one that had it may just have removed it
            except OSError:
                os.close(lock)
                raise
        except BlockingIOError:
            raise StriderError(
                f"another strider serve process owns the queue of {self._site.store}: submit the "
                "suite there, or stop that process",
                ExitCode.CANNOT_RUN,
            ) from None
        except OSError as error:
            raise StriderError(f"cannot use {self.folder}: {error.strerror}", ExitCode.CANNOT_RUN) from error
        self._lock = lock
        found = []
        for folder in self.folder.iterdir():
            try:
                found.append(Job.kept(folder))
            except StriderError as error:
                _log.warning("%s", error.message)
        for job in sorted(found, key=lambda job: job.submitted):
            if job.process is None and not self._run_of(job):
                job.state = "waiting"  # the server ended before it started the process
            self._jobs[job.id] = job
        if found:
            self._wake.set()

    def _let_go(self) -> None:
        if self._lock >= 0:
            for folder in (self.folder, self.folder.parent):
                with contextlib.suppress(OSError):
                    folder.rmdir()
            os.close(self._lock)
            self._lock = -1

    async def _run(self, job: Job) -> None:
        child = None
        try:
            if job.state == "waiting":
                job.state = "running"
                job.keep()
                await self._may_start(job)
                child = self._started(job)
            await self._follow(job)
        except (StriderError, OSError) as error:
            job.output = str(error)
            self._end(job, "failed")
        except asyncio.CancelledError:
            if self._by_hand():
                await self._interrupt(job)
                self._close(job)
            raise
        else:
            self._close(job)
        finally:
            if child is not None:
                child.poll()

    def _started(self, job: Job) -> "subprocess.Popen[bytes]":
        """Starts the process of a job, and keeps which one it is."""
        command = [sys.executable, "-I", "-m", "strider", *_work(job), "--quiet"]
        command += [*self._site.bounds(self._site.confine), "--store", str(self._site.store)]
        # What begins with a hyphen is a directory all the same.
        named = job.card.directory if job.card else job.verifies.name if job.verifies else job.resumes
        command += ["--", named] if named else []
        with job.output_file.open("wb") as output:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # this process passes its own Ctrl-C on, once
            )
        job.process = identify(child.pid, _WHAT)
        job.keep()
        return child

    async def _follow(self, job: Job) -> None:
        """Until the process has ended or was cancelled; notes the run as soon as there is one."""
        while job.process and is_alive(job.process):
            if job.cancelled.is_set():
                await self._interrupt(job)
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await job.cancelled.wait()
            if not job.run:
                job.run = await asyncio.to_thread(self._run_of, job)

    def _run_of(self, job: Job) -> str:
        """The run of a job; empty where there is none yet."""
        if not job.resumes:
            return self._runs.started_with(job.file)
        pid = job.process.pid if job.process else 0
        return job.resumes if pid and self._runs.process_of(job.resumes) == pid else ""

    async def _interrupt(self, job: Job) -> None:
        """Ends the process of a job as Ctrl-C does; then with more force, and for certain."""
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
            if not job.process or not _send(job.process, number):
                return
            end = time.monotonic() + PATIENCE_S
            while is_alive(job.process) and time.monotonic() < end:
                await asyncio.sleep(POLL_S)

    def _close(self, job: Job) -> None:
        """Says how a job whose process has ended did."""
        job.run = job.run or self._run_of(job)
        job.look_at_output()
        self._end(job, "done" if job.run else "cancelled" if job.cancelled.is_set() else "failed")

    def _end(self, job: Job, state: State) -> None:
        job.state = state
        shutil.rmtree(job.folder, ignore_errors=True)


def _work(job: Job) -> list[str]:
    """The command of a job; it names the file of its folder, by which the run is found."""
    file = str(job.file)
    if job.card:
        return ["quick", "--budget", job.card.budget, "--order", file]
    if job.verifies:
        order = job.verifies
        return ["data", "verify", "--target", order.directory, "-n", str(order.clients), "--order", file]
    return ["resume", "--order", file] if job.resumes else ["run", file]


def _send(process: Process, number: signal.Signals) -> bool:
    """Sends a signal to exactly this process; false where it has ended."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        # The number cannot come to mean another process while this is open.
        if not is_alive(process):
            return False
        signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    return True


def _process_of(suite: Path) -> Process | None:
    """The process of a job by its file, where a server was killed before it had noted which one that is."""
    for pid, words in command_lines():
        if not _VERBS.isdisjoint(words) and str(suite) in words:
            return identify(pid, _WHAT)
    return None
