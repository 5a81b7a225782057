"""Removes data sets: only those with a marker, and only the files that it names."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from strider.datasets.folder import SetFolder, opened
from strider.datasets.marker import MARKER, NEW_MARKER, Marker, Writer
from strider.datasets.trees import KeptTree
from strider.datasets.walk import remove_trees
from strider.errors import ExitCode, StriderError


@dataclass
class Removed:
    """The result of a removal.

    Attributes:
        files: Number of files removed; of trees, also of links and directories.
        kept: Entries of the folder that are not of the set, or could not be removed, with reasons.
        is_tree: Whether the set holds trees.
    """

    files: int = 0
    kept: list[str] = field(default_factory=list)
    is_tree: bool = False


def remove(target: Path, name: str, *, force: bool = False, above: int | None = None) -> Removed:
    """Removes a data set; completes a removal that was interrupted.

    The marker first says `removing`, and is removed last: a set is never half removed without a word. Foreign
    entries stay, and with them the folder and its marker.

    Args:
        target: The directory that has it.
        name: Its name.
        force: Whether to remove it also if a process on another host may still change it.
        above: Descriptor of the target, to be used instead of its path.

    Raises:
        StriderError: There is no such set, its marker is damaged, or a process uses it.
    """
    with opened(target, name, above) as folder:
        marker = folder.read()
        _require_unused(folder, marker, force=force)
        folder.write(marker.with_(state="removing", writer=Writer.me("strider data remove")))
        removed = _remove_trees(folder, marker, marker.tree) if marker.tree else _remove_files(folder, marker)
        foreign = [name for name in folder.entries() if not marker.has(name)]
        removed.kept += [f"{folder.path / name}: not a file of the data set" for name in foreign]
        if removed.kept:
            folder.write(marker.with_(state="removing", writer=None))
            return removed
        discard(folder)
        return removed


def _require_unused(folder: SetFolder, marker: Marker, *, force: bool) -> None:
    active = marker.writer.active() if marker.writer else ""
    if marker.writer and active and not (force and not marker.writer.is_here):
        remedy = "" if marker.writer.is_here else ", or add --force if it has ended"
        raise StriderError(f"{folder.path} is in state {marker.state} {active}: wait for its end{remedy}")


def discard(folder: SetFolder) -> None:
    """Removes the marker and the folder, which has no other entry.

    Raises:
        StriderError: It cannot be removed.
    """
    try:
        for name in (NEW_MARKER, MARKER):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder.descriptor)
        above = os.open(folder.path.parent, os.O_PATH | os.O_DIRECTORY)
        try:
            found = os.stat(folder.path.name, dir_fd=above, follow_symlinks=False)
            if (found.st_dev, found.st_ino) == (folder.device, folder.inode):
                os.rmdir(folder.path.name, dir_fd=above)
        finally:
            os.close(above)
    except OSError as error:
        raise StriderError(f"cannot remove {folder.path}: {error.strerror}", ExitCode.CANNOT_RUN) from error


def _remove_trees(folder: SetFolder, marker: Marker, tree: KeptTree) -> Removed:
    removed = remove_trees(folder, marker, tree)
    return Removed(removed.entries, removed.kept, is_tree=True)


def _remove_files(folder: SetFolder, marker: Marker) -> Removed:
    removed = Removed()
    for name in filter(marker.has, folder.entries()):
        removed.kept += _remove_file(folder, name, removed)
    return removed


def _remove_file(folder: SetFolder, name: str, removed: Removed) -> Iterator[str]:
    """Removes one file; returns why it stays."""
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False).st_mode):
            yield f"{folder.path / name}: not a regular file"
            return
        os.unlink(name, dir_fd=folder.descriptor)
        removed.files += 1
    except FileNotFoundError:
        return
    except OSError as error:
        yield f"{folder.path / name}: {error.strerror}"
