"""Strider's own folder in the target: contains all test files and is removed after the run.

A folder is removed only if it is still the same one: same device and inode, with our marker in it. It is
opened through the target's descriptor and removed without following symbolic links, so that no file outside
can be removed.
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
from strider.identities import identity_words
from strider.launch.removal import Progress, Removal, remove_contents
from strider.processes import boot_id, start_ticks, still_runs
from strider.text_file import is_mount_point, json_of

MARKER = ".strider"
PREFIX = "strider-"
_MARKER_BYTES = 4096
"""Size limit of a marker in bytes."""


@dataclass(frozen=True)
class Folder:
    """The folder of one run.

    Attributes:
        path: Its path.
        run: The run it belongs to.
        device: Device of its file system.
        inode: Its inode number; None if a remount may have changed device and inode, and only the marker
            identifies it.
        target: Descriptor of its parent directory while it is open; None to use the path.
        owner: User id of its owner, as this host sees it; None if unknown.
    """

    path: Path
    run: str
    device: int
    inode: int | None
    target: int | None = None
    owner: int | None = None

    def is_gone(self) -> bool:
        """Returns whether it is missing; a remount may have taken it along."""
        try:
            self.path.lstat()
        except FileNotFoundError:
            return self.inode is not None
        except OSError:
            return False
        return False

    def words(self) -> list[str]:
        """Returns the engine's options that name its identity."""
        device = None if self.inode is None else self.device
        return identity_words(self.path, self.owner, self.inode, device)

    def open(self) -> int:
        """Opens it with O_PATH; the caller closes the descriptor.

        Raises:
            StriderError: It no longer exists, or was replaced.
        """
        flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW
        try:
            opened = os.open(self.path if self.target is None else self.path.name, flags, dir_fd=self.target)
        except OSError as error:
            raise StriderError(f"cannot open {self.path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
        status = os.fstat(opened)
        if self.inode is not None and (status.st_dev, status.st_ino) != (self.device, self.inode):
            os.close(opened)
            raise StriderError(f"{self.path} is not the folder of this run", ExitCode.CANNOT_RUN)
        return opened


@dataclass(frozen=True)
class Marker:
    """The marker in a folder, which identifies its run.

    Attributes:
        run: The run.
        host: Where it was started.
        pid: The process that started the run and removes the folder at its end.
        boot: The host's boot id; empty if unknown.
        start: Start time of the process in clock ticks since boot; 0 if unknown.
    """

    run: str
    host: str
    pid: int
    boot: str = ""
    start: int = 0

    def lives(self) -> bool:
        """Returns whether that process is running on this host; a reused pid does not count."""
        return still_runs(self.pid, self.boot, self.start)

    @classmethod
    def of(cls, document: object) -> "Marker | None":
        """Returns the marker that a JSON document holds; None if it is not a valid marker."""
        if not isinstance(document, dict):
            return None
        try:
            return cls(
                str(document["run"]),
                str(document["host"]),
                int(document["pid"]),
                str(document.get("boot", "")),
                int(document.get("start", 0)),
            )
        except (KeyError, ValueError, TypeError, OverflowError):
            return None


def create(target: Path, run: str, descriptor: int | None = None) -> Folder:
    """Creates `target/strider-RUN`, accessible to the user only, with a marker that identifies the run.

    Args:
        target: The directory to measure.
        run: The run.
        descriptor: The open target, to be used instead of its path, which may have changed.

    Raises:
        StriderError: It cannot be created, or the name exists.
    """
    path = target / f"{PREFIX}{run}"
    try:
        with _opened(target, descriptor) as above:
            status = _make(path.name, run, above)
    except OSError as error:
        raise StriderError(f"cannot create {path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    return Folder(path, run, status.st_dev, status.st_ino, descriptor, status.st_uid)


@contextmanager
def _opened(target: Path, descriptor: int | None) -> Iterator[int]:
    """Yields a descriptor of the target."""
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
    """Returns a folder and its marker.

    Args:
        path: The folder.
        target: Descriptor of its parent directory.

    Returns:
        None twice if it is not a directory, is a mount point, or has no marker that matches its name.

    Raises:
        OSError: It cannot be read.
    """
    try:
        opened = os.open(path.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=target)
    except NotADirectoryError:
        return None, None
    try:
        status = os.fstat(opened)
        marker = None if is_mount_point(opened, target) else _read_marker(opened)
    finally:
        os.close(opened)
    if marker is None or path.name != f"{PREFIX}{marker.run}":
        return None, None
    return Folder(path, marker.run, status.st_dev, status.st_ino), marker


def remove(folder: Folder) -> str | None:
    """Removes the folder and everything in it.

    Returns:
        None if it was removed; otherwise the reason.
    """
    problems = remove_counting(folder).problems
    return problems[0] if problems else None


def remove_counting(folder: Folder, progress: Progress | None = None) -> Removal:
    """Removes the folder and everything in it, and returns the number of entries.

    Args:
        folder: The folder.
        progress: Called with the number of removed entries so far.
    """
    with ExitStack() as stack:
        try:
            target = stack.enter_context(_opened(folder.path.parent, folder.target))
        except OSError as error:
            return Removal(problems=[f"{folder.path.parent}: {error.strerror}"])
        return _remove_from(folder, target, progress)


def _remove_from(folder: Folder, target: int, progress: Progress | None) -> Removal:
    """Removes the folder; returns errors as problems."""
    try:
        return _remove_in(folder, target, progress)
    except FileNotFoundError:
        if folder.inode is None:
            gone = (
                f"{folder.path} does not exist: if the target is not mounted, mount it and run strider clean"
            )
            return Removal(problems=[gone])
        return Removal()
    except OSError as error:
        return Removal(problems=[f"cannot remove {folder.path}: {error.strerror}"])


def _remove_in(folder: Folder, target: int, progress: Progress | None) -> Removal:
    """Removes a folder, the marker last, so that an incompletely removed folder can be identified."""
    name = folder.path.name
    foreign = f"{folder.path} is not the folder of this run: not removed"
    if not stat.S_ISDIR(os.stat(name, dir_fd=target, follow_symlinks=False).st_mode):
        return Removal(problems=[foreign])
    opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=target)
    try:
        status = os.fstat(opened)
        if folder.inode is not None and (status.st_dev, status.st_ino) != (folder.device, folder.inode):
            return Removal(problems=[foreign])
        if is_mount_point(opened, target):
            return Removal(problems=[f"{folder.path} is a mount point: not removed"])
        try:
            marker = _read_marker(opened)
        except OSError as error:
            unread = f"{folder.path} not removed: cannot read its marker {MARKER}: {error.strerror}"
            return Removal(problems=[unread])
        if marker is None or marker.run != folder.run:
            lost = f"{folder.path} not removed: its marker {MARKER} is missing"
            return Removal(problems=[lost])
        removal = remove_contents(opened, str(folder.path), MARKER, progress)
        if not removal.problems and _holds_more_than_the_marker(opened):
            removal.problems.append(f"cannot remove {folder.path}: a process is still creating files in it")
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


def this_process(run: str) -> Marker:
    """Returns the marker of a run that this process executes."""
    return Marker(run, socket.gethostname(), os.getpid(), boot_id(), start_ticks(os.getpid()))


def _mark(own: int, run: str) -> None:
    marker = this_process(run)
    made = os.open(MARKER, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=own)
    with os.fdopen(made, "w", encoding="utf-8") as file:
        file.write(json.dumps(asdict(marker)) + "\n")


def _read_marker(opened: int) -> Marker | None:
    """Returns the marker in an open folder; None if it is not a valid marker.

    Raises:
        OSError: It cannot be read or looked up.
    """
    try:
        marker = os.open(MARKER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=opened)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
            return None
        raise
    try:
        with os.fdopen(marker, encoding="utf-8") as file:
            return Marker.of(json_of(file.read(_MARKER_BYTES)))
    except (IsADirectoryError, ValueError):
        return None
