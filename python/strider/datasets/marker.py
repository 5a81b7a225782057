"""The marker of a data set: a file `.strider-data` in its folder, which describes the data of the files."""

import os
import pwd
import re
import socket
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from strider.datasets.trees import KeptTree
from strider.engine import Json, to_json
from strider.errors import ExitCode, StriderError
from strider.processes import boot_id, start_ticks, still_runs

MARKER = ".strider-data"
_DRAFT = ".new"
NEW_MARKER = f"{MARKER}{_DRAFT}"
"""A marker that is being written; it replaces the other one when it is complete."""
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
MOST_BYTES = 64 << 20
"""Size limit of a marker in bytes."""

MOST_FILES = 10_000_000
MOST_FILE_BYTES = 1 << 62

State = Literal["making", "complete", "updating", "removing"]
FilePart = Annotated[str, Field(pattern=r"^[^/]{0,200}$")]


class Owner(BaseModel):
    """The process that made a data set."""

    model_config = ConfigDict(frozen=True)

    uid: int
    user: str
    host: str

    @classmethod
    def me(cls) -> "Owner":
        """Returns the user of this process."""
        uid = os.geteuid()
        user = str(uid)
        with suppress(KeyError):
            user = pwd.getpwuid(uid).pw_name
        return cls(uid=uid, user=user, host=socket.gethostname())


class Writer(BaseModel):
    """The process that makes, updates or removes a data set.

    Attributes:
        run: The run, or the action of the process.
        host: Its host.
        pid: The process.
        boot: Boot id of the host; empty if unknown.
        start: Start time of the process in clock ticks since boot; 0 if unknown.
    """

    model_config = ConfigDict(frozen=True)

    run: str
    host: str
    pid: int
    boot: str = ""
    start: int = 0

    @classmethod
    def me(cls, run: str) -> "Writer":
        """Returns this process."""
        pid = os.getpid()
        return cls(run=run, host=socket.gethostname(), pid=pid, boot=boot_id(), start=start_ticks(pid))

    @property
    def is_here(self) -> bool:
        """Whether it was started on this host."""
        return self.host == socket.gethostname()

    def active(self) -> str:
        """Returns why the process may still be running; empty if it has ended."""
        if not self.is_here:
            return f"by {self.run} on {self.host}, whose processes are not visible here"
        is_running = still_runs(self.pid, self.boot, self.start)
        return f"by {self.run} (process {self.pid})" if is_running else ""


class Use(BaseModel):
    """A run that wrote the data set, and when, in UTC."""

    model_config = ConfigDict(frozen=True)

    run: str
    at: str


class Marker(BaseModel):
    """The content of a data set.

    Attributes:
        id: Identifies the set; the engine compares it before it opens files.
        state: `making` and `updating` also after a process that was killed meanwhile; see `writer`.
        writer: The process that changes the set; None if none does.
        made: The run that made it.
        written: The run that wrote it last.
        seed: Seed of the data.
        workload: Second part of the data's identity.
        generation: Generation of the data in the files; 0 before they are complete.
        last_generation: Highest generation of which writing was begun.
        geometry: Hash of the writer's pattern, clients, sharing and order.
        format: The interface whose own format the files have; empty: plain files.
        prefix: Beginning of the files' names.
        digits: Least digits of the number in a file's name; 0: no number.
        files: Number and bytes of consecutive files of one size.
        parts: Requests that each rank completed and the end of its bytes, if not every byte was written.
        tree: The trees of a set of metadata cases; None for a set of files.
        case: The case that wrote it, for its readers.
    """

    model_config = ConfigDict(frozen=True)

    format_name: Literal["strider-data-set"] = Field(default="strider-data-set", alias="format")
    version: Literal[1] = 1
    id: str
    name: str = Field(pattern=f"^{NAME}$")
    state: State
    writer: Writer | None = None
    owner: Owner
    made: Use
    written: Use | None = None
    seed: int = Field(ge=0)
    workload: int = Field(default=0, ge=0)
    generation: int = Field(default=0, ge=0)
    last_generation: int = Field(default=0, ge=0)
    geometry: int = Field(default=0, ge=0)
    file_format: FilePart = ""
    prefix: FilePart = "data."
    digits: int = Field(default=1, ge=0, le=20)
    files: list[tuple[int, int]] = []
    parts: list[tuple[int, int]] = []
    tree: KeptTree | None = None
    case: dict[str, Json] = {}

    @model_validator(mode="after")
    def _has_bounded_files(self) -> "Marker":
        if any(count < 0 or not 0 <= size <= MOST_FILE_BYTES for count, size in self.files):
            raise ValueError("files: counts and sizes from 0, files of at most 2^62 bytes")
        if self.tree is None and self.file_count > MOST_FILES:
            raise ValueError(f"files: at most {MOST_FILES} files")
        if self.digits == 0 and (self.prefix in ("", ".", "..") or self.file_count > 1 or self.tree):
            raise ValueError("digits: files without a number need a name, and there is one of them")
        return self

    @property
    def is_dense(self) -> bool:
        """Whether every byte of every file was written."""
        return not self.parts

    @property
    def file_count(self) -> int:
        """Number of files; in trees, of files and links."""
        return self.tree.file_count if self.tree else sum(count for count, _ in self.files)

    @property
    def total_bytes(self) -> int:
        """Bytes of all files."""
        return self.tree.total_bytes if self.tree else sum(count * size for count, size in self.files)

    def sizes(self) -> dict[str, int]:
        """Returns the bytes of each file by name."""
        each = [size for count, size in self.files for _ in range(count)]
        return {self.file_name(number): size for number, size in enumerate(each)}

    def file_name(self, number: int) -> str:
        """Returns the name of a file."""
        return f"{self.prefix}{number:0{self.digits}d}" if self.digits else self.prefix

    def has(self, name: str) -> bool:
        """Returns whether an entry of its folder is one of its files, or the top of one of its trees."""
        count = self.tree.trees if self.tree else self.file_count
        number = name.removeprefix(self.prefix)[:20] if self.digits else "0"
        is_number = number.isascii() and number.isdecimal()
        return is_number and int(number) < count and self.file_name(int(number)) == name

    def with_(self, **changes: Json) -> "Marker":
        """Returns a marker with other values."""
        return self.model_copy(update=changes)

    def manifest(self) -> dict[str, Json]:
        """Returns the set as a plan describes it (docs/formats.md, section 2)."""
        return {
            "id": self.id,
            "seed": self.seed,
            "workload": self.workload,
            "generation": self.generation,
            "last_generation": self.last_generation,
            "geometry": self.geometry,
            "incomplete": self.state != "complete" and self.generation > 0,
            "format": self.file_format,
            "prefix": self.prefix,
            "digits": self.digits,
            "files": [list(some) for some in self.files],
            "parts": [list(part) for part in self.parts],
            **({"tree": self.tree.population.model_dump()} if self.tree else {}),
        }


NAME_RULE = "use 1 to 64 letters, digits, dots, hyphens and underscores, the first a letter or a digit"
"""The remedy for an invalid name."""


def is_name(text: str) -> bool:
    """Returns whether a text can be the name of a data set."""
    return re.fullmatch(NAME, text) is not None


def now() -> str:
    """Returns the time in UTC, to the second."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def read(folder: int, path: str) -> Marker | None:
    """Returns the marker in an open folder; None if it has none.

    Args:
        folder: Descriptor of the folder.
        path: Its path, for messages.

    Raises:
        StriderError: The marker cannot be read, or is damaged.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        opened = os.open(MARKER, flags, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StriderError(f"{path}/{MARKER}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    try:
        with os.fdopen(opened, "rb") as file:
            return Marker.model_validate_json(file.read(MOST_BYTES))
    except OSError as error:
        raise StriderError(f"{path}/{MARKER}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise StriderError(
            f"{path}/{MARKER}: not the marker of a data set ({place}: {first['msg']}): the set cannot be "
            "checked or removed by Strider; restore the marker from a backup, or remove the folder yourself"
        ) from error


def write(folder: int, path: str, marker: Marker) -> None:
    """Replaces the marker in an open folder; after a power cut there is the old one or the new one.

    Args:
        folder: Descriptor of the folder, open for reading.
        path: Its path, for messages.
        marker: The marker.

    Raises:
        StriderError: It cannot be written.
    """
    write_as(MARKER, folder, path, marker)


def write_as(name: str, folder: int, path: str, marker: BaseModel) -> None:
    """Replaces a marker of some name in an open folder; see `write`."""
    draft = f"{name}{_DRAFT}"
    try:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(draft, flags, 0o644, dir_fd=folder), "w", encoding="utf-8") as file:
            file.write(to_json(marker.model_dump(by_alias=True)))
            file.flush()
            os.fsync(file.fileno())
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except OSError as error:
        raise StriderError(f"cannot write {path}/{name}: {error.strerror}", ExitCode.CANNOT_RUN) from error
