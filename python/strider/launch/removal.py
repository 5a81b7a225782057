"""Removes the contents of a directory with several threads and bounded memory.

Each thread takes one directory and removes its files, links and empty directories. Other directories are
pushed on a stack, so that the deepest come first. The thread that completes the last child of a directory
removes the directory. All names are relative to open directories and no link is followed. A mount point is
never entered: rmdir fails on it before it checks whether it is empty.
"""

import errno
import os
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

THREADS = 8
"""Number of threads: removal waits for the file system, especially over a network."""
MOST_WAITING = 256
"""Maximum number of subdirectories queued per directory; others are found when it is read again."""
MOST_DEEP = 48
"""Maximum number of open directory levels; deeper directories are moved to the top."""
MOST_PROBLEMS = 10
COUNTED_AT_ONCE = 1000
POLL_S = 0.2
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW

Progress = Callable[[int], None]
"""Receives the number of entries removed so far."""


@dataclass
class Removal:
    """The result of a removal.

    Attributes:
        removed: Entries removed.
        problems: The first entries that could not be removed, with reasons.
    """

    removed: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(eq=False)
class _Directory:
    """A directory that is not empty.

    Attributes:
        name: Its name in the parent directory.
        path: Its path in messages.
        parent: The parent directory; None for the top one.
        depth: Depth below the top one.
        descriptor: Its open descriptor; -1 before.
        waiting: Number of pending steps before it can be removed: reading it, and its subdirectories.
        unread: Whether it may contain unread entries.
        spoiled: Whether an entry in it cannot be removed.
    """

    name: str
    path: str
    parent: "_Directory | None" = None
    depth: int = 0
    descriptor: int = -1
    waiting: int = 1
    unread: bool = False
    spoiled: bool = False


def remove_contents(
    descriptor: int, path: str, keep: str, progress: Progress | None = None, threads: int = THREADS
) -> Removal:
    """Removes everything in a directory but one entry.

    Args:
        descriptor: The open directory.
        path: Its path in messages.
        keep: Name of the entry that stays.
        progress: Called with the number of removed entries so far.
        threads: Number of threads.
    """
    return _Remover(_Directory("", path, descriptor=descriptor), keep).run(threads, progress)


class _Remover:
    """State shared by the threads."""

    def __init__(self, top: _Directory, keep: str) -> None:
        self._top = top
        self._keep = keep
        self._stack = [top]
        self._changed = threading.Condition()
        self._over = False
        self._result = Removal()

    def run(self, threads: int, progress: Progress | None) -> Removal:
        workers: list[threading.Thread] = []
        try:
            # If no further thread can be started, continue with those that exist.
            with suppress(RuntimeError):
                for _ in range(threads):
                    worker = threading.Thread(target=self._work, daemon=True)
                    worker.start()
                    workers.append(worker)
            if not workers:
                self._work()
            for worker in workers:
                while worker.is_alive():
                    worker.join(POLL_S)
                    if progress:
                        progress(self._result.removed)
        finally:
            # Also after Ctrl-C: no thread continues after the call.
            self._end()
            for worker in workers:
                worker.join()
        return self._result

    def _end(self) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _work(self) -> None:
        try:
            while (directory := self._take()) is not None:
                self._wait_for(self._clear(directory))
                done: _Directory | None = directory
                while done is not None and self._is_done(done):
                    done = self._close(done)
        finally:
            self._end()

    def _take(self) -> _Directory | None:
        """The next directory to read; None at the end."""
        with self._changed:
            while not self._stack and not self._over:
                self._changed.wait()
            return None if self._over else self._stack.pop()

    def _wait_for(self, found: list[_Directory]) -> None:
        """Queues directories for the threads and registers them with their parents."""
        with self._changed:
            for directory in found:
                if directory.parent is not None:
                    directory.parent.waiting += 1
            self._stack.extend(found)
            self._changed.notify(len(found))

    def _is_done(self, directory: _Directory) -> bool:
        """Completes one step of a directory; returns whether it was the last."""
        with self._changed:
            directory.waiting -= 1
            if directory.waiting:
                return False
            if directory.unread and not directory.spoiled:
                directory.waiting = 1
                self._stack.append(directory)
                self._changed.notify()
                return False
            return True

    def _close(self, directory: _Directory) -> _Directory | None:
        """Removes an empty directory; returns its parent, None at the top."""
        parent = directory.parent
        if parent is None:
            self._end()
            return None
        if directory.descriptor >= 0:
            os.close(directory.descriptor)
        if not directory.spoiled and self._remove(parent, directory.name, directory=True) == "removed":
            self._count(1)
        parent.spoiled |= directory.spoiled
        return parent

    def _clear(self, directory: _Directory) -> list[_Directory]:
        """Removes files and empty directories; returns directories that must be emptied first."""
        directory.unread = False
        found: list[_Directory] = []
        removed = 0
        try:
            self._open(directory)
            with os.scandir(directory.descriptor) as entries:
                for entry in entries:
                    if len(found) == MOST_WAITING or self._over:
                        directory.unread = True
                        break
                    if directory is self._top and entry.name == self._keep:
                        continue
                    outcome = self._remove(
                        directory, entry.name, directory=entry.is_dir(follow_symlinks=False)
                    )
                    if outcome == "full":
                        found.append(self._below(directory, entry.name))
                    removed += outcome == "removed"
                    if removed == COUNTED_AT_ONCE:
                        self._count(removed)
                        removed = 0
        except OSError as error:
            self._complain(directory, "", error)
        self._count(removed)
        return found

    def _open(self, directory: _Directory) -> None:
        if directory.descriptor < 0 and directory.parent is not None:
            directory.descriptor = os.open(directory.name, _OPEN, dir_fd=directory.parent.descriptor)

    def _remove(self, above: _Directory, name: str, *, directory: bool) -> Literal["removed", "full", "kept"]:
        """Removes an entry, unless it is a directory that is not empty."""
        try:
            if directory:
                os.rmdir(name, dir_fd=above.descriptor)
            else:
                os.unlink(name, dir_fd=above.descriptor)
        except FileNotFoundError:
            # A rank on another node may remove its files concurrently.
            return "kept"
        except OSError as error:
            if directory and error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return "full"
            self._complain(above, name, error)
            return "kept"
        return "removed"

    def _below(self, above: _Directory, name: str) -> _Directory:
        """Returns a directory that is not empty; moves it to the top if too many parents would be open."""
        path = f"{above.path}/{name}"
        if above.depth < MOST_DEEP:
            return _Directory(name, path, above, above.depth + 1)
        moved = f".moved-{secrets.token_hex(8)}"
        os.rename(name, moved, src_dir_fd=above.descriptor, dst_dir_fd=self._top.descriptor)
        return _Directory(moved, path, self._top, 1)

    def _count(self, removed: int) -> None:
        with self._changed:
            self._result.removed += removed

    def _complain(self, above: _Directory, name: str, error: OSError) -> None:
        path = f"{above.path}/{name}" if name else above.path
        with self._changed:
            above.spoiled = True
            if len(self._result.problems) < MOST_PROBLEMS:
                self._result.problems.append(f"cannot remove {path}: {error.strerror}")
