"""Removes what a directory holds: by several threads, and in memory that does not grow with what it holds.

A thread has a directory at a time and removes what it can at once: files, links, empty directories.
Directories that are not empty wait on a stack, so that the deepest come first; whoever is done with the last
child of a directory removes the directory itself. All names are relative to open directories, no link is
followed, and a mount point is never entered: the system refuses to remove one before it looks whether it is
empty.
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
"""Removing waits for the file system, most of all over a network."""
MOST_WAITING = 256
"""Directories found in one that wait at the same time; the others are found when it is read again."""
MOST_DEEP = 48
"""Levels of directories that are open at the same time; what is deeper is moved up to the top."""
MOST_PROBLEMS = 10
COUNTED_AT_ONCE = 1000
POLL_S = 0.2
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW

Progress = Callable[[int], None]
"""Takes the number of entries removed so far."""


@dataclass
class Removal:
    """What was done.

    Attributes:
        removed: Entries removed.
        problems: What could not be removed, and why: the first few.
    """

    removed: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(eq=False)
class _Directory:
    """A directory that is not empty.

    Attributes:
        name: Its name in the directory above.
        path: How messages name it.
        parent: The directory above; None for the top one.
        depth: Levels below the top one.
        descriptor: Where it is open; -1 before.
        waiting: What has to be done before it can be removed: to read it, and directories found in it.
        unread: Whether there may be entries that were not seen.
        spoiled: Whether something in it cannot be removed.
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
        path: How messages name it.
        keep: Name of the entry that stays.
        progress: Is told from time to time how much is done.
        threads: How many work at the same time.
    """
    return _Remover(_Directory("", path, descriptor=descriptor), keep).run(threads, progress)


class _Remover:
    """What the threads share."""

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
            # Where the process may have no further thread, those there are do the work.
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
            # Also after Ctrl-C: nobody goes on behind the caller's back.
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
        """Lets directories wait for a thread, and those above wait for them."""
        with self._changed:
            for directory in found:
                if directory.parent is not None:
                    directory.parent.waiting += 1
            self._stack.extend(found)
            self._changed.notify(len(found))

    def _is_done(self, directory: _Directory) -> bool:
        """Notes that a part of a directory is done; whether that was the last one."""
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
        """Removes a directory that is empty now; returns the one above, None at the top."""
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
        """Removes what can be removed at once; returns directories that have to be cleared first."""
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
            # A rank on another node may be removing its files at the same time.
            return "kept"
        except OSError as error:
            if directory and error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return "full"
            self._complain(above, name, error)
            return "kept"
        return "removed"

    def _below(self, above: _Directory, name: str) -> _Directory:
        """A directory that is not empty; moved up to the top where too many above it would be open."""
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
