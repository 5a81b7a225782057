"""Strider's own folder in the target: the only place where test files are made, gone when the run is over.

A folder is removed only if it still is the one that was made: same device and number, with our marker in it.
It is reached through the target's descriptor and removed without following symbolic links, so nothing outside
can be hit.
"""

import errno
import json
import os
import shutil
import socket
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from strider.errors import ExitCode, StriderError
from strider.launch.removal import Progress, Removal, remove_contents
from strider.processes import boot_id, start_ticks

MARKER = ".strider"
PREFIX = "strider-"
_MARKER_BYTES = 4096
"""More than a marker ever has."""


@dataclass(frozen=True)
class Folder:
    """A folder that was made for one run.

    Attributes:
        path: Where it is.
        run: The run it was made for.
        device: Device of its file system.
        inode: Its number there; None where a remount may have changed both, and the marker alone tells.
        target: Descriptor of the directory above it, while whoever made it keeps that open; None where its
            path has to be followed.
    """

    path: Path
    run: str
    device: int
    inode: int | None
    target: int | None = None

    def open(self) -> int:
        """Opens it, not to read but to name it to the kernel; the caller closes.

        Raises:
            StriderError: It is not there any more, or another one is.
        """
        flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW
        try:
            opened = os.open(self.path if self.target is None else self.path.name, flags, dir_fd=self.target)
        except OSError as error:
            raise StriderError(f"cannot open {self.path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
        status = os.fstat(opened)
        if self.inode is not None and (status.st_dev, status.st_ino) != (self.device, self.inode):
            os.close(opened)
            raise StriderError(
                f"{self.path} is not the folder that was made for this run", ExitCode.CANNOT_RUN
            )
        return opened


@dataclass(frozen=True)
class Marker:
    """What the file in a folder says: whose it is.

    Attributes:
        run: The run.
        host: Where it was started.
        pid: The process that started it, which removes the folder when it ends.
        boot: The host's boot; empty where it is not known.
        start: When the process was started, in clock ticks since then; 0 where it is not known.
    """

    run: str
    host: str
    pid: int
    boot: str = ""
    start: int = 0

    def lives(self) -> bool:
        """Whether that process is there, on this host; another one that has its number is not it."""
        if not Path(f"/proc/{self.pid}").exists() or (self.boot and self.boot != boot_id()):
            return False
        return not self.start or self.start == start_ticks(self.pid)


def create(target: Path, run: str, descriptor: int | None = None) -> Folder:
    """Makes `target/strider-RUN` for the user alone, with a marker that says whose it is.

    Args:
        target: The directory to be measured.
        run: The run.
        descriptor: The target, open: then it is this directory, wherever its path leads by now.

    Raises:
        StriderError: It cannot be made, or something of that name exists already.
    """
    path = target / f"{PREFIX}{run}"
    try:
        with _opened(target, descriptor) as above:
            status = _make(path.name, run, above)
    except OSError as error:
        raise StriderError(f"cannot make {path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    return Folder(path, run, status.st_dev, status.st_ino, descriptor)


@contextmanager
def _opened(target: Path, descriptor: int | None) -> Iterator[int]:
    """A descriptor of the target, for as long as it is needed."""
    opened = os.open(target, os.O_PATH | os.O_DIRECTORY) if descriptor is None else os.dup(descriptor)
    try:
        yield opened
    finally:
        os.close(opened)


def _make(name: str, run: str, above: int) -> os.stat_result:
    os.mkdir(name, mode=0o700, dir_fd=above)
    own = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
    try:
        status = os.fstat(own)
        _mark(own, run)
    except OSError:
        shutil.rmtree(name, dir_fd=above)
        raise
    finally:
        os.close(own)
    return status


def read(path: Path, target: int) -> tuple[Folder | None, Marker | None]:
    """What a folder is, and what its marker says.

    Args:
        path: The folder.
        target: Descriptor of the directory above it.

    Returns:
        None twice where it is no directory, or has no marker that fits its name.

    Raises:
        OSError: It cannot be looked into.
    """
    try:
        opened = os.open(path.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=target)
    except NotADirectoryError:
        return None, None
    try:
        status = os.fstat(opened)
        marker = _read_marker(opened)
    finally:
        os.close(opened)
    if marker is None or path.name != f"{PREFIX}{marker.run}":
        return None, None
    return Folder(path, marker.run, status.st_dev, status.st_ino), marker


def remove(folder: Folder) -> str | None:
    """Removes the folder and everything in it.

    Returns:
        None if it is gone, else why it was left.
    """
    problems = remove_counting(folder).problems
    return problems[0] if problems else None


def remove_counting(folder: Folder, progress: Progress | None = None) -> Removal:
    """Removes the folder and everything in it, and tells how much that was.

    Args:
        folder: The folder.
        progress: Is told from time to time how many entries are gone.
    """
    with ExitStack() as stack:
        try:
            target = stack.enter_context(_opened(folder.path.parent, folder.target))
        except OSError as error:
            return Removal(problems=[f"{folder.path.parent}: {error.strerror}"])
        return _remove_from(folder, target, progress)


def _remove_from(folder: Folder, target: int, progress: Progress | None) -> Removal:
    """The same, with what is in the way as a problem."""
    try:
        return _remove_in(folder, target, progress)
    except FileNotFoundError:
        if folder.inode is None:
            gone = f"{folder.path} is not there: if the target is not mounted, mount it and run strider clean"
            return Removal(problems=[gone])
        return Removal()
    except OSError as error:
        return Removal(problems=[f"cannot remove {folder.path}: {error.strerror}"])


def _remove_in(folder: Folder, target: int, progress: Progress | None) -> Removal:
    """Removes a folder of ours, the marker last: as long as something is left, it says whose it is."""
    name = folder.path.name
    foreign = f"{folder.path} is not the folder that was made for this run; it was left alone"
    if not stat.S_ISDIR(os.stat(name, dir_fd=target, follow_symlinks=False).st_mode):
        return Removal(problems=[foreign])
    opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=target)
    try:
        status = os.fstat(opened)
        if folder.inode is not None and (status.st_dev, status.st_ino) != (folder.device, folder.inode):
            return Removal(problems=[foreign])
        try:
            marker = _read_marker(opened)
        except OSError as error:
            unread = f"{folder.path} was left alone: its marker {MARKER} cannot be read: {error.strerror}"
            return Removal(problems=[unread])
        if marker is None or marker.run != folder.run:
            lost = f"{folder.path} has lost its marker {MARKER}; it was left alone"
            return Removal(problems=[lost])
        removal = remove_contents(opened, str(folder.path), MARKER, progress)
        if not removal.problems and _holds_more_than_the_marker(opened):
            removal.problems.append(f"cannot remove {folder.path}: something is still being made in it")
        if removal.problems:
            return removal
        os.unlink(MARKER, dir_fd=opened)
    finally:
        os.close(opened)
    os.rmdir(name, dir_fd=target)
    removal.removed += 2
    return removal


def _holds_more_than_the_marker(opened: int) -> bool:
    with os.scandir(opened) as entries:
        return any(entry.name != MARKER for entry in entries)


def _mark(own: int, run: str) -> None:
    marker = Marker(run, socket.gethostname(), os.getpid(), boot_id(), start_ticks(os.getpid()))
    made = os.open(MARKER, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=own)
    with os.fdopen(made, "w", encoding="utf-8") as file:
        file.write(json.dumps(asdict(marker)) + "\n")


def _read_marker(opened: int) -> Marker | None:
    """What the marker in an open folder says; None where it says nothing that could be ours.

    Raises:
        OSError: It is there and cannot be read, or whether it is there cannot be told.
    """
    try:
        marker = os.open(MARKER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=opened)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
            return None
        raise
    try:
        with os.fdopen(marker, encoding="utf-8") as file:
            document = json.loads(file.read(_MARKER_BYTES))
        return Marker(
            str(document["run"]),
            str(document["host"]),
            int(document["pid"]),
            str(document.get("boot", "")),
            int(document.get("start", 0)),
        )
    except (IsADirectoryError, ValueError, TypeError, KeyError, AttributeError):
        return None
