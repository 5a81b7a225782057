"""Runs on a Slurm cluster: `strider run` handed to sbatch as a list of words, never as a command line."""

import asyncio
import contextlib
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field

from strider.errors import ExitCode, StriderError
from strider.text_file import write_whole
from strider.web.commands import ask
from strider.web.runs import Runs
from strider.web.site import Site
from strider.web.submission import Submission, new_id

COMMAND_DEADLINE_S = 20.0
RECORD = "job.json"
MOST_KEPT = 100
"""Jobs of earlier servers that are still shown."""
SCRIPT = '#!/bin/sh\nexec "$@"\n'
"""What sbatch starts: the words that follow it, as they are."""
STATES = {"PENDING": "waiting", "CONFIGURING": "waiting", "RUNNING": "running", "COMPLETING": "running"}
_WORD = r"[A-Za-z0-9._+-]{0,64}"


class SlurmOptions(BaseModel):
    """What a user may say to sbatch; nothing in it can be mistaken for another option."""

    partition: str = Field(default="", pattern=f"^{_WORD}$")
    account: str = Field(default="", pattern=f"^{_WORD}$")
    time: str = Field(default="", pattern=r"^[0-9:-]{0,20}$")
    nodes: str = Field(default="", pattern=r"^[0-9]{0,6}$")

    def words(self) -> list[str]:
        """As options."""
        return [f"--{name}={value}" for name, value in self.model_dump().items() if value]


class Record(BaseModel):
    """What a job's folder says of it."""

    suite: str
    number: str = Field(pattern=r"^[0-9]+$")
    state: str
    run: str = ""


@dataclass(kw_only=True)
class SlurmJob(Submission):
    """A suite for a job of Slurm; its folder stays, as there is no sign of when a job is forgotten.

    Attributes:
        number: Its number in Slurm; empty until that has taken it.
        state: `waiting`, `running` or `done`; `unknown` where Slurm cannot be asked.
    """

    number: str = ""
    state: str = "waiting"

    def keep(self) -> None:
        """Writes its record, for the next server.

        Raises:
            OSError: It cannot be written.
        """
        record = Record(suite=self.suite, number=self.number, state=self.state, run=self.run)
        write_whole(self.folder / RECORD, record.model_dump_json(), 0o600)

    @classmethod
    def kept(cls, folder: Path) -> "SlurmJob":
        """A job as its folder has it.

        Raises:
            OSError: It has no record.
            ValueError: The record is damaged.
        """
        record = Record.model_validate_json((folder / RECORD).read_text(encoding="utf-8"))
        return cls(id=folder.name, folder=folder, **record.model_dump())


class Slurm:
    """The scheduler.

    Args:
        site: The ground.
        runs: The store's runs.
    """

    def __init__(self, site: Site, runs: Runs) -> None:
        """Takes what the class describes."""
        self._site, self._runs = site, runs
        self._jobs = {job.id: job for job in self._kept()}

    @property
    def folder(self) -> Path:
        """Where jobs have their folders."""
        return self._site.store / "slurm"

    def _kept(self) -> list[SlurmJob]:
        """The newest of those that were submitted before, oldest first; a damaged record is passed over."""
        found = []
        for file in self.folder.glob(f"*/{RECORD}"):
            with contextlib.suppress(OSError, ValueError):
                found.append((file.stat().st_mtime, SlurmJob.kept(file.parent)))
        found.sort(key=lambda pair: pair[0])
        return [job for _, job in found[-MOST_KEPT:]]

    @property
    def missing(self) -> str:
        """Why nothing can be submitted; empty where it can."""
        lacking = [name for name in ("sbatch", "squeue", "scancel") if shutil.which(name) is None]
        return f"this machine has no Slurm ({', '.join(lacking)} not found)" if lacking else ""

    def all(self) -> list[SlurmJob]:
        """All jobs, newest first."""
        return list(reversed(self._jobs.values()))

    def knows(self, job: str) -> bool:
        """Whether a job is one of these."""
        return job in self._jobs

    async def submit(self, suite: str, text: str, ranks: int, options: SlurmOptions) -> SlurmJob:
        """Hands a suite to sbatch.

        Args:
            suite: Its name.
            text: Its text, without mistakes.
            ranks: How many it needs.
            options: What the user says to sbatch.

        Raises:
            StriderError: There is no Slurm, or it refuses.
        """
        if self.missing:
            raise StriderError(self.missing, ExitCode.CANNOT_RUN)
        name = new_id()
        job = SlurmJob(id=name, suite=suite, folder=self.folder / name)
        try:
            job.write(text)
            (job.folder / "job.sh").write_text(SCRIPT, encoding="utf-8")
            said = await _ask("sbatch", *self._words(job, ranks, options))
        except (StriderError, OSError) as error:
            shutil.rmtree(job.folder, ignore_errors=True)
            raise StriderError(f"the job was not submitted: {error}", ExitCode.CANNOT_RUN) from error
        job.number = said.strip().partition(";")[0]
        self._jobs[name] = job
        with contextlib.suppress(OSError):  # it was submitted, and this server knows it
            job.keep()
        return job

    def _words(self, job: SlurmJob, ranks: int, options: SlurmOptions) -> list[str]:
        run = [sys.executable, "-I", "-m", "strider", "run", str(job.file), "--quiet"]
        # Slurm's daemons start the ranks, so none of them can be confined from here.
        run += self._site.bounds("auto")
        return [
            "--parsable",
            f"--job-name=strider-{job.suite}",
            f"--ntasks={ranks}",
            f"--output={job.output_file}",
            *options.words(),
            str(job.folder / "job.sh"),
            *run,
            *("--launcher", "srun", "--store", str(self._site.store)),
        ]

    async def look(self, name: str) -> SlurmJob:
        """A job as it is now."""
        job = self._jobs[name]
        before = job.state, job.run
        try:
            said = await _ask("squeue", "--noheader", "--format=%T", f"--jobs={job.number}")
            job.state = STATES.get(said.strip(), "done" if not said.strip() else "running")
        except StriderError as error:
            # Slurm forgets a job some minutes after its end.
            job.state = "done" if "Invalid job id" in error.message else "unknown"
        job.run = job.run or await asyncio.to_thread(self._runs.started_with, job.file)
        await asyncio.to_thread(job.look_at_output)
        if (job.state, job.run) != before:
            with contextlib.suppress(OSError):
                job.keep()
        return job

    async def cancel(self, name: str) -> None:
        """Takes a job out of the queue, or interrupts its run as Ctrl-C does."""
        number = self._jobs[name].number
        await _ask("scancel", "--state=PENDING", number)
        await _ask("scancel", "--batch", "--signal=INT", number)


async def _ask(*words: str) -> str:
    """What a command of Slurm's prints.

    Raises:
        StriderError: It fails, or takes too long.
    """
    try:
        answer = await ask(*words, limit_s=COMMAND_DEADLINE_S)
    except TimeoutError:
        raise StriderError(f"{words[0]} timed out after {COMMAND_DEADLINE_S:g} s") from None
    if answer.code:
        raise StriderError(f"{words[0]}: {answer.err.strip() or answer.code}")
    return re.sub(r"\x1b\[[0-9;]*m", "", answer.out)
