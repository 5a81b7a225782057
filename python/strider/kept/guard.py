"""Files under the names of kept files, and whether Strider may touch them."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from strider.errors import ExitCode, StriderError
from strider.kept import marker as markers
from strider.kept.marker import KeptFile, KeptMarker
from strider.kept.names import FileNames

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


@dataclass(frozen=True)
class Existing:
    """Files that exist under some names.

    Attributes:
        names: The names.
        count: Number of files that a test uses.
        files: Their status by number; links are not followed.
        marker: Their marker; None if there is none that counts.
        problem: Why there is a marker that does not count; empty if there is none.
    """

    names: FileNames
    count: int
    files: dict[int, os.stat_result] = field(default_factory=dict)
    marker: KeptMarker | None = None
    problem: str = ""

    def own(self, number: int) -> KeptFile | None:
        """Returns the marker's entry of a file, if the file is the one that Strider made."""
        entry = self.marker.by_number().get(number) if self.marker else None
        status = self.files.get(number)
        return entry if entry and entry.created and status and entry.fits(status) else None

    @property
    def missing(self) -> list[int]:
        """Numbers of the files that do not exist."""
        return [number for number in range(self.count) if number not in self.files]

    def objection_to_replacing(self) -> str:
        """Returns why a write cannot replace the files; empty if it can."""
        entries = self.marker.by_number() if self.marker else {}
        for number, status in self.files.items():
            entry = entries.get(number)
            if entry is None or not entry.created or not entry.fits(status):
                return (
                    f"{self.names.path(number)} exists and {_why_foreign(entry, status)}: remove it, choose "
                    "another -o, or overwrite it in place with -E"
                )
        return f"{self.problem}: remove it, or choose another -o" if self.problem else ""

    def objection_to_using(self, *, writes: bool) -> str:
        """Returns why the files cannot be used where they are; empty if they can.

        Args:
            writes: Whether they are written.
        """
        for number, status in self.files.items():
            what = _kind(status)
            if not what and writes and status.st_nlink > 1:
                what = f"has {status.st_nlink} names (hard links)"
            if what:
                return f"{self.names.path(number)} {what}: choose another -o, or remove it"
        return f"{self.problem}: remove it, or choose another -o" if writes and self.problem else ""


def _why_foreign(entry: KeptFile | None, status: os.stat_result) -> str:
    kind = _kind(status)
    if kind:
        return kind
    if entry is None or not entry.created:
        return "was not written by Strider"
    return "has changed since Strider wrote it, or is another file"


def _kind(status: os.stat_result) -> str:
    """Returns the type of an entry that is no regular file; empty for a regular file."""
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link"
    if stat.S_ISDIR(status.st_mode):
        return "is a directory"
    return "" if stat.S_ISREG(status.st_mode) else "is not a regular file"


def examine(names: FileNames, count: int, folder: int | None = None) -> Existing:
    """Returns which files of a test exist.

    Args:
        names: Their names.
        count: Number of files.
        folder: Descriptor of their directory; None to open its path.

    Raises:
        StriderError: The directory cannot be searched, or a directory of a task is none.
    """
    try:
        with opened(names, folder) as directory:
            found = {number: status_of(directory, names, number) for number in range(count)}
            marker, problem = markers.read(directory, names)
    except (FileNotFoundError, NotADirectoryError):
        return Existing(names, count)
    except OSError as error:
        raise StriderError(f"{names.folder}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    return Existing(names, count, {number: each for number, each in found.items() if each}, marker, problem)


@contextmanager
def opened(names: FileNames, folder: int | None = None) -> Iterator[int]:
    """Yields a descriptor of the directory of some files, open for reading.

    Raises:
        OSError: It cannot be opened.
    """
    place: str | os.PathLike[str] = names.folder if folder is None else "."
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def directory_of(folder: int, names: FileNames, number: int, *, make: bool = False) -> Iterator[int]:
    """Yields a descriptor of the directory of a file; for `-u` that of its task, never through a link.

    Args:
        folder: Descriptor of the directory of all files.
        names: Their names.
        number: Number of the file.
        make: Whether to make the directory of the task if it is missing.

    Raises:
        FileNotFoundError: The directory of the task does not exist.
        StriderError: It is no directory, or cannot be opened.
    """
    name, _ = names.parts(number)
    if not name:
        yield folder
        return
    try:
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, mode=0o700, dir_fd=folder)
        descriptor = os.open(name, _DIRECTORY, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        is_link = error.errno in (errno.ELOOP, errno.ENOTDIR)
        reason = "is not a directory" if is_link else error.strerror
        raise StriderError(
            f"{names.folder / name} {reason}: -u needs a directory for each task: remove it, or choose "
            "another -o"
        ) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def status_of(folder: int, names: FileNames, number: int) -> os.stat_result | None:
    """Returns the status of a file, of a link itself; None if it does not exist.

    Args:
        folder: Descriptor of the directory of all files.
        names: Their names.
        number: Number of the file.

    Raises:
        StriderError: The directory of its task is none.
        OSError: It cannot be looked up.
    """
    with suppress(FileNotFoundError), directory_of(folder, names, number) as directory:
        return os.stat(names.parts(number)[1], dir_fd=directory, follow_symlinks=False)
    return None
