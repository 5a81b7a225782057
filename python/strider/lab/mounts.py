"""Mounts below a lab's folder."""

import subprocess
from collections.abc import Collection
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")


def below(folder: Path) -> list[Path]:
    """Mount points in a folder, the innermost first."""
    inside = f"{folder.resolve()}/"
    points = [line.split(" ")[4] for line in _MOUNTS.read_text(encoding="utf-8").splitlines()]
    return [Path(point) for point in reversed(points) if point.startswith(inside)]


def namespaces(files: Collection[str]) -> set[str]:
    """Namespaces that are mounted on files, each as `net:[INODE]`."""
    fields = [line.split(" ") for line in _MOUNTS.read_text(encoding="utf-8").splitlines()]
    return {each[3] for each in fields if each[4] in files and each[3].startswith("net:[")}


def unmount_below(folder: Path) -> list[Path]:
    """Unmounts everything below a folder.

    Returns:
        The mounts that were in use; they now exist only for processes that have them open.
    """
    busy: list[Path] = []
    for point in below(folder):
        if not _unmount(point):
            _unmount(point, "--lazy")
            busy.append(point)
    return busy


def _unmount(point: Path, *options: str) -> bool:
    # Without the helpers: a file system whose server is gone must not be asked anything.
    done = subprocess.run(
        ["umount", "--no-canonicalize", "--internal-only", *options, str(point)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0
