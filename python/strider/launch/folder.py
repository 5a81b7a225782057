"""Strider's own folder in the target: the only place where test files are made, gone when the run is over.

A folder is removed only if it still is the one that was made here: same device and number, with our marker in
it. It is reached through the target's descriptor and removed without following symbolic links, so nothing
outside can be hit.
"""

import json
import os
import shutil
import socket
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from strider.engine import Json
from strider.errors import ExitCode, StriderError

MARKER = ".strider"


@dataclass(frozen=True)
class Folder:
    """A folder that was made for one run.

    Attributes:
        path: Where it is.
        run: The run it was made for.
        device: Device of its file system.
        inode: Its number there.
    """

    path: Path
    run: str
    device: int
    inode: int


def create(target: Path, run: str) -> Folder:
    """Makes `target/strider-RUN` for the user alone, with a marker that says whose it is.

    Raises:
        StriderError: It cannot be made, or something of that name exists already.
    """
    path = target / f"strider-{run}"
    try:
        path.mkdir(mode=0o700)
        try:
            _mark(path, run)
        except OSError:
            shutil.rmtree(path)
            raise
        status = path.lstat()
    except OSError as error:
        raise StriderError(f"cannot make {path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    return Folder(path, run, status.st_dev, status.st_ino)


def abandoned(target: Path) -> list[Path]:
    """Folders of runs on this host that ended without removing them, as when the machine went down."""
    folders = [path.parent for path in sorted(target.glob(f"strider-*/{MARKER}"))]
    return [path for path in folders if _is_abandoned(_read_marker(path / MARKER))]


def _is_abandoned(marker: dict[str, Json]) -> bool:
    pid = marker.get("pid")
    return (
        marker.get("host") == socket.gethostname()
        and isinstance(pid, int)
        and not Path(f"/proc/{pid}").exists()
    )


def _read_marker(path: Path) -> dict[str, Json]:
    """What a marker says; empty where it cannot be read."""
    try:
        marker = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return marker if isinstance(marker, dict) else {}


def remove(folder: Folder) -> str | None:
    """Removes the folder and everything in it.

    Returns:
        None if it is gone, else why it was left.
    """
    try:
        target = os.open(folder.path.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        return f"{folder.path.parent}: {error.strerror}"
    try:
        problem = _foreign(folder, target)
        if problem is None:
            _remove_tree(folder.path.name, target)
        return problem
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot remove {folder.path}: {error.strerror}"
    finally:
        os.close(target)


def _remove_tree(name: str, target: int) -> None:
    """Removes a folder of ours, the marker last: as long as something is left, it says whose it is."""
    opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=target)
    try:
        for entry in os.listdir(opened):  # noqa: PTH208 - what was opened, whatever its name is now
            if entry == MARKER:
                continue
            # A rank on another node may be removing its files at the same time.
            with suppress(FileNotFoundError):
                if stat.S_ISDIR(os.stat(entry, dir_fd=opened, follow_symlinks=False).st_mode):
                    shutil.rmtree(entry, dir_fd=opened)
                else:
                    os.unlink(entry, dir_fd=opened)
        os.unlink(MARKER, dir_fd=opened)
    finally:
        os.close(opened)
    os.rmdir(name, dir_fd=target)


def _mark(path: Path, run: str) -> None:
    marker = json.dumps({"run": run, "host": socket.gethostname(), "pid": os.getpid()})
    with (path / MARKER).open("x", encoding="utf-8") as file:
        file.write(marker + "\n")


def _foreign(folder: Folder, target: int) -> str | None:
    """Why what now has the folder's name is not ours; None if it is."""
    name = folder.path.name
    status = os.stat(name, dir_fd=target, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode) or (status.st_dev, status.st_ino) != (folder.device, folder.inode):
        return f"{folder.path} is not the folder that was made for this run; it was left alone"
    opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=target)
    try:
        with os.fdopen(os.open(MARKER, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=opened), encoding="utf-8") as file:
            run = json.loads(file.read()).get("run")
    except (OSError, ValueError, AttributeError):
        run = None
    finally:
        os.close(opened)
    return None if run == folder.run else f"{folder.path} has lost its marker {MARKER}; it was left alone"
