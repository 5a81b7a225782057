"""The marker beside kept files, `.strider-data.NAME`: the files that Strider wrote, and their data."""

import os
import stat
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from strider.datasets import marker as markers
from strider.datasets.marker import Owner, Use
from strider.engine import Json
from strider.kept.names import FileNames


class KeptFile(BaseModel):
    """A file as Strider left it.

    Attributes:
        number: Its number: the task that wrote it; 0 for a shared file.
        bytes: Its size.
        inode: Its inode number.
        mtime_ns: Time of its last change, ns.
        created: Whether Strider made it; only then Strider may remove it.
        data: `known`: seed and generation define every written byte; `mixed`: they do not.
        seed: Seed of its data.
        generation: Generation of its data.
        requests: Requests that each task wrote; 0: every byte of the file was written.
        shape: What decides which bytes these requests are.
        packet: Its data, if it is in IOR's form, as in a manifest; then seed and generation say nothing.
    """

    model_config = ConfigDict(frozen=True)

    number: int = Field(ge=0)
    bytes: int = Field(ge=0)
    inode: int
    mtime_ns: int
    created: bool = True
    data: Literal["known", "mixed"] = "known"
    seed: int = Field(ge=0)
    generation: int = Field(ge=1)
    requests: int = Field(default=0, ge=0)
    shape: str = ""
    packet: dict[str, Json] | None = None

    def fits(self, status: os.stat_result) -> bool:
        """Returns whether a file is this one, which nothing has written to since.

        The inode alone is no proof: file systems give it to a new file after a removal.
        """
        return (
            stat.S_ISREG(status.st_mode)
            and (status.st_ino, status.st_size, status.st_mtime_ns) == (self.inode, self.bytes, self.mtime_ns)
            and status.st_uid == os.geteuid()
            and status.st_nlink == 1
        )


class KeptMarker(BaseModel):
    """The files of a test, as Strider left them.

    Attributes:
        owner: The user who wrote them.
        made: The run that wrote them last.
        files: The files.
    """

    model_config = ConfigDict(frozen=True)

    format_name: Literal["strider-kept-files"] = Field(default="strider-kept-files", alias="format")
    version: Literal[1] = 1
    owner: Owner
    made: Use
    files: list[KeptFile] = []

    def by_number(self) -> dict[int, KeptFile]:
        """Returns the files by their numbers."""
        return {file.number: file for file in self.files}


def read(folder: int, names: FileNames) -> tuple[KeptMarker | None, str]:
    """Returns the marker of some files, or None and why it says nothing; neither if there is none.

    A marker of another user proves nothing: any user with write access to the directory can create one.

    Args:
        folder: Descriptor of their directory.
        names: The files.
    """
    path = names.folder / names.marker
    try:
        descriptor = os.open(names.marker, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"{path}: {error.strerror}"
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return None, f"{path} is not a marker of this user"
        try:
            return KeptMarker.model_validate_json(file.read(markers.MOST_BYTES)), ""
        except (OSError, ValidationError):
            return None, f"{path} is not a marker of Strider, or is damaged"


def write(folder: int, names: FileNames, marker: KeptMarker) -> None:
    """Replaces the marker of some files; see `strider.datasets.marker.write`.

    Raises:
        StriderError: It cannot be written.
    """
    markers.write_as(names.marker, folder, str(names.folder), marker)
