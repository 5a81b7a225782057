"""Finds Strider's folders in a directory and removes abandoned ones."""

import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from strider.datasets import PREFIX as DATA_SET_PREFIX
from strider.datasets.marker import MARKER as DATA_SET_MARKER
from strider.errors import ExitCode, StriderError
from strider.launch import folder
from strider.launch.folder import PREFIX, Folder, Marker
from strider.launch.removal import Progress, Removal
from strider.listio import unmount_below

State = Literal["abandoned", "alive", "elsewhere", "unmarked"]


@dataclass(frozen=True)
class Leftover:
    """An entry whose name matches Strider's folders.

    Attributes:
        path: Its path.
        state: `abandoned`: its run has ended; `alive`: its run is active on this host; `elsewhere`: its run
            was started on another host, and its state is not known here; `unmarked`: it is not Strider's.
        reason: Why it is not abandoned; empty if it is.
        folder: The folder; None if it is not Strider's.
    """

    path: Path
    state: State
    reason: str
    folder: Folder | None


def find(target: Path) -> list[Leftover]:
    """Returns the entries of a directory whose names match Strider's folders, sorted by name.

    Raises:
        StriderError: The directory cannot be read.
    """
    try:
        with os.scandir(target) as entries:
            names = sorted(entry.name for entry in entries if entry.name.startswith(PREFIX))
        descriptor = os.open(target, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StriderError(f"{target}: {error.strerror}: name the directory that was measured") from error
    except OSError as error:
        raise StriderError(f"{target}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    try:
        return [_look(target / name, descriptor) for name in names]
    finally:
        os.close(descriptor)


def abandoned(target: Path) -> Iterator[Leftover]:
    """Returns the folders of runs that ended without removing them, for example after a kill or a crash."""
    return (leftover for leftover in find(target) if leftover.state == "abandoned")


def clean(leftover: Leftover, progress: Progress | None = None) -> Removal:
    """Removes a folder if it carries Strider's mark.

    Args:
        leftover: An entry from `find`.
        progress: Called with the number of removed entries so far.
    """
    if leftover.folder is None:
        return Removal(problems=[f"{leftover.path} not removed: {leftover.reason}"])
    try:
        # Their processes have ended with the run, unless they were killed. By path, so in an own folder only.
        if leftover.path.lstat().st_uid == os.geteuid():
            unmount_below(leftover.path)
    except (StriderError, OSError) as error:
        return Removal(problems=[f"{leftover.path} not removed: {error}"])
    return folder.remove_counting(leftover.folder, progress)


def _look(path: Path, target: int) -> Leftover:
    try:
        if path.name.startswith(DATA_SET_PREFIX) and (path / DATA_SET_MARKER).exists():
            name = path.name.removeprefix(DATA_SET_PREFIX)
            reason = f"it is the data set {name}, which outlives runs: strider data remove {name}"
            return Leftover(path, "unmarked", reason, None)
        found, marker = folder.read(path, target)
    except OSError as error:
        return Leftover(path, "unmarked", f"it cannot be read: {error.strerror}", None)
    if found is None or marker is None:
        reason = f"it is a mount point, or has no Strider marker ({folder.MARKER})"
        return Leftover(path, "unmarked", reason, None)
    state, reason = _state(marker)
    return Leftover(path, state, reason, found)


def _state(marker: Marker) -> tuple[State, str]:
    if marker.host != socket.gethostname():
        return "elsewhere", f"its run was started on {marker.host} and may still be active there"
    if marker.lives():
        return "alive", f"its run is active (process {marker.pid})"
    return "abandoned", ""
