"""Folders of Strider's in a directory, and the removal of those that runs left behind."""

import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from strider.errors import ExitCode, StriderError
from strider.launch import folder
from strider.launch.folder import PREFIX, Folder, Marker
from strider.launch.removal import Progress, Removal

State = Literal["abandoned", "alive", "elsewhere", "unmarked"]


@dataclass(frozen=True)
class Leftover:
    """Something with a name such as Strider's own folders have.

    Attributes:
        path: Where it is.
        state: `abandoned`: its run is over; `alive`: its run goes on here; `elsewhere`: its run was started
            on another host, where alone it can be seen whether it goes on; `unmarked`: it is not Strider's.
        reason: Why it is not abandoned; empty if it is.
        folder: What is known of it; None where it is none of Strider's.
    """

    path: Path
    state: State
    reason: str
    folder: Folder | None


def find(target: Path) -> list[Leftover]:
    """What has a name of Strider's in a directory, sorted by name.

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
    """Folders of runs that ended without removing them, as when they were killed or the machine went down."""
    return (leftover for leftover in find(target) if leftover.state == "abandoned")


def clean(leftover: Leftover, progress: Progress | None = None) -> Removal:
    """Removes a folder that carries Strider's mark, and no other.

    Args:
        leftover: What `find` found.
        progress: Is told from time to time how many entries are gone.
    """
    if leftover.folder is None:
        return Removal(problems=[f"{leftover.path} was left alone: {leftover.reason}"])
    return folder.remove_counting(leftover.folder, progress)


def _look(path: Path, target: int) -> Leftover:
    try:
        found, marker = folder.read(path, target)
    except OSError as error:
        return Leftover(path, "unmarked", f"it cannot be looked into: {error.strerror}", None)
    if found is None or marker is None:
        return Leftover(path, "unmarked", f"it has no marker {folder.MARKER} of Strider's", None)
    state, reason = _state(marker)
    return Leftover(path, state, reason, found)


def _state(marker: Marker) -> tuple[State, str]:
    if marker.host != socket.gethostname():
        return "elsewhere", f"its run was started on {marker.host}, and may go on there"
    if marker.lives():
        return "alive", f"its run goes on (process {marker.pid})"
    return "abandoned", ""
