"""The record of a job in its folder, `.batch/JOB` of the store, and how jobs are found."""

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import AwareDatetime, BaseModel, Field, ValidationError, field_validator, model_validator

from strider.errors import StriderError
from strider.jobs.options import JobOptions
from strider.own_files import read_own
from strider.processes import Process
from strider.text_file import open_below, write_whole

FOLDER = ".batch"
"""Folder of a store; no run, so no list of runs has it."""
RECORD = "job.json"
CANCELLED = "cancelled"
"""File of a job's folder: the run is to end, and no further job is to begin."""
_OUTPUT_BYTES = 1 << 14
_ERROR = re.compile(r"^strider: |\berror\b", re.IGNORECASE)
"""Lines of an error: of Strider, or of a scheduler or launcher."""
_ID = re.compile(r"[0-9a-f]{12}")
_RUN_ID = re.compile(r"[0-9]{4}(-[0-9]{2}){2}-[0-9]{6}-[A-Za-z0-9][A-Za-z0-9._+-]{0,63}-[a-z0-9]{4}")
_NUMBERS = {
    "slurm": re.compile(r"[1-9][0-9]{0,19}"),
    "pbs": re.compile(r"[1-9][0-9]{0,19}(\[\])?(\.[A-Za-z0-9][A-Za-z0-9._-]{0,254})?"),
    "lsf": re.compile(r"[1-9][0-9]{0,19}"),
    "flux": re.compile(r"[1-9][0-9]{0,19}|[f\u0192][1-9A-HJ-NP-Za-km-z]{1,16}"),
    "local": re.compile(r"[1-9][0-9]{0,9}"),
}
"""Numbers of jobs by executor: never 0, which LSF takes for all jobs, and never an option."""

SuiteName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$")]


class Record(BaseModel):
    """What a job's folder says of it.

    Attributes:
        suite: Name of the suite.
        run: Id of its run, which each job of the scheduler begins or resumes.
        continues: The process that executed the run last, where the job resumes a run that was there before;
            None for a new run.
        submitted: When.
        options: Its resources.
        numbers: Ids that the scheduler gave to its jobs, in their order.
        process: Its process, of a job of this machine.
        boot: Boot id of this machine then.
        host: Name of this machine then.
        cluster: Name of the scheduler's cluster; empty if unknown.
    """

    suite: SuiteName
    run: str
    submitted: AwareDatetime
    options: JobOptions
    continues: dict[str, str | int] | None = None
    numbers: Annotated[list[str], Field(max_length=1000)] = []
    process: Process | None = None
    boot: str = ""
    host: str = ""
    cluster: str = ""

    @field_validator("run")
    @classmethod
    def _is_run_id(cls, run: str) -> str:
        if not is_run_id(run):
            raise ValueError("not the id of a run")
        return run

    @model_validator(mode="after")
    def _has_numbers(self) -> Self:
        executor = self.options.executor
        if not all(is_number(executor, number) for number in self.numbers):
            raise ValueError(f"not numbers of {executor}")
        if executor == "local" and self.process and self.numbers != [str(self.process.pid)]:
            raise ValueError("not the number of its process")
        return self


@dataclass(frozen=True)
class Job:
    """A job with its folder.

    Attributes:
        folder: Its folder.
        record: Its record.
    """

    folder: Path
    record: Record

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def store(self) -> Path:
        return self.folder.parents[1]

    @property
    def run(self) -> Path:
        """The directory of its run, which may not be there yet."""
        return self.store / self.record.run

    @property
    def suite(self) -> Path:
        return self.folder / f"{self.record.suite}.toml"

    @property
    def is_cancelled(self) -> bool:
        """Whether its run is to end."""
        return (self.folder / CANCELLED).exists()

    def script(self, number: int) -> Path:
        """The script of its k-th job of the scheduler, from 1."""
        return self.folder / f"job-{number}.sh"

    def outputs(self, number: int) -> tuple[Path, Path]:
        """Files of stdout and stderr of its k-th job of the scheduler, from 1."""
        return self.folder / f"output-{number}", self.folder / f"errors-{number}"

    def complaint(self) -> tuple[int, list[str]]:
        """Returns its last part that printed errors, from 1, with these lines; 0 without any."""
        for number in range(len(self.record.numbers), 0, -1):
            lines = [line for line in _end_of(self.outputs(number)[1]).splitlines() if _ERROR.search(line)]
            if lines:
                return number, lines
        return 0, []

    @property
    def output(self) -> str:
        """The end of what it has printed."""
        files = [file for number in range(1, len(self.record.numbers) + 1) for file in self.outputs(number)]
        return "".join(map(_end_of, files))[-_OUTPUT_BYTES:]

    def keep(self) -> None:
        """Writes its record.

        Raises:
            StriderError: The store is not writable.
        """
        try:
            write_whole(self.folder / RECORD, self.record.model_dump_json(), 0o600)
        except OSError as error:
            raise cannot_write(self.folder, error) from error


def is_id(name: str) -> bool:
    """Returns whether a name can be that of a job's folder."""
    return _ID.fullmatch(name) is not None


def is_run_id(name: str) -> bool:
    """Returns whether a name is an id that Strider gives to runs of jobs; never a path."""
    return _RUN_ID.fullmatch(name) is not None


def is_number(executor: str, text: str) -> bool:
    """Returns whether a text can be the number of one job of an executor."""
    return _NUMBERS[executor].fullmatch(text) is not None


def folder_of(store: Path) -> Path:
    """Returns the folder of a store in which jobs have their folders."""
    return store.absolute() / FOLDER


def new_folder(store: Path) -> Path:
    """Returns the path of a new job's folder: a name that cannot be guessed."""
    return folder_of(store) / secrets.token_hex(6)


def read(folder: Path) -> Job:
    """Returns the job of a folder.

    Raises:
        StriderError: It has no record, a damaged one, or one of another user, whose numbers are not trusted.
    """
    try:
        is_own = _is_own_folder(folder.lstat())
    except OSError as error:
        raise StriderError(f"{folder} is not the folder of a job: {error.strerror}") from error
    if not is_own:
        raise StriderError(f"{folder} is not a job of yours: use the user that submitted it")
    content = read_own(folder / RECORD)
    if content is None:
        raise StriderError(f"{folder} is not the folder of a job: it has no {RECORD}")
    try:
        return Job(folder, Record.model_validate_json(content))
    except ValidationError as error:
        raise StriderError(f"{folder / RECORD} is damaged: submit the suite again") from error


def all_jobs(store: Path, most: int | None = None) -> list[Job]:
    """Returns the jobs of a store, oldest first, without those of other users or with a damaged record.

    Args:
        store: The store.
        most: Number of jobs, those whose folders have changed last; None for all.
    """
    return sorted(_readable(store, most), key=lambda job: job.record.submitted)


def find(store: Path, name: str) -> Job | None:
    """Returns the job that a name means; None if there is none.

    Args:
        store: The store.
        name: `latest`, a job, its number at the scheduler, a run, or the unique beginning of a job or run.

    Raises:
        StriderError: The name means several jobs.
    """
    jobs = all_jobs(store)
    if name == "latest":
        return jobs[-1] if jobs else None
    exact = [job for job in jobs if name in (job.id, job.record.run, *job.record.numbers)]
    if exact:
        return exact[-1]
    near = [job for job in jobs if name and (job.id.startswith(name) or job.record.run.startswith(name))]
    if len(near) > 1:
        raise StriderError(f'"{name}" means several jobs: {", ".join(job.id for job in near[:5])}')
    return near[0] if near else None


def cannot_write(folder: Path, error: OSError) -> StriderError:
    """Returns the error for a store that is full, read-only or missing."""
    return StriderError(f"cannot write {folder}: {error.strerror}: choose another store with --store")


def _readable(store: Path, most: int | None) -> Iterator[Job]:
    folders: list[os.DirEntry[str]] = []
    with suppress(OSError):
        folders = [entry for entry in os.scandir(folder_of(store)) if is_id(entry.name) and _is_own(entry)]
    if most is not None and len(folders) > most:
        folders = sorted(folders, key=_changed)[-most:]
    for entry in folders:
        with suppress(StriderError):
            yield read(Path(entry.path))


def _is_own(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return _is_own_folder(entry.stat(follow_symlinks=False))
    return False


def _is_own_folder(status: os.stat_result) -> bool:
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _changed(entry: os.DirEntry[str]) -> int:
    with suppress(OSError):
        return entry.stat(follow_symlinks=False).st_mtime_ns
    return 0


def _end_of(file: Path) -> str:
    with suppress(OSError), open_below(file.parent, file.name) as opened:
        opened.seek(max(0, os.fstat(opened.fileno()).st_size - _OUTPUT_BYTES))
        return opened.read(_OUTPUT_BYTES).decode("utf-8", "replace")
    return ""
