"""The record of a job in its folder, `.batch/JOB` of the store, and how jobs are found."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from strider.errors import StriderError
from strider.jobs.options import JobOptions
from strider.processes import Process
from strider.text_file import write_whole

FOLDER = ".batch"
"""Folder of a store; no run, so no list of runs has it."""
RECORD = "job.json"
CANCELLED = "cancelled"
"""File of a job's folder: the run is to end, and no further job is to begin."""
_OUTPUT_BYTES = 1 << 14
_ID = re.compile(r"[0-9a-f]{12}")


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
    """

    suite: str
    run: str
    submitted: datetime
    options: JobOptions
    continues: dict[str, str | int] | None = None
    numbers: list[str] = []
    process: Process | None = None
    boot: str = ""
    host: str = ""


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
        """Its name."""
        return self.folder.name

    @property
    def store(self) -> Path:
        """The store."""
        return self.folder.parents[1]

    @property
    def run(self) -> Path:
        """The directory of its run, which may not be there yet."""
        return self.store / self.record.run

    @property
    def suite(self) -> Path:
        """Its suite file."""
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


def folder_of(store: Path) -> Path:
    """Returns the folder of a store in which jobs have their folders."""
    return store.absolute() / FOLDER


def new_folder(store: Path) -> Path:
    """Returns the path of a new job's folder: a name that cannot be guessed."""
    return folder_of(store) / secrets.token_hex(6)


def read(folder: Path) -> Job:
    """Returns the job of a folder.

    Raises:
        StriderError: It has no record, or a damaged one.
    """
    try:
        text = (folder / RECORD).read_text(encoding="utf-8")
        return Job(folder, Record.model_validate_json(text))
    except OSError as error:
        raise StriderError(f"{folder} is not the folder of a job: {error.strerror}") from error
    except (ValidationError, UnicodeDecodeError) as error:
        raise StriderError(f"{folder / RECORD} is damaged: submit the suite again") from error


def all_jobs(store: Path, most: int | None = None) -> list[Job]:
    """Returns the jobs of a store, oldest first, without those whose record is damaged.

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
        folders = [entry for entry in os.scandir(folder_of(store)) if is_id(entry.name)]
    if most is not None and len(folders) > most:
        folders = sorted(folders, key=_changed)[-most:]
    for entry in folders:
        with suppress(StriderError):
            yield read(Path(entry.path))


def _changed(entry: os.DirEntry[str]) -> int:
    with suppress(OSError):
        return entry.stat(follow_symlinks=False).st_mtime_ns
    return 0


def _end_of(file: Path) -> str:
    with suppress(OSError), file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - _OUTPUT_BYTES))
        return opened.read().decode("utf-8", "replace")
    return ""
