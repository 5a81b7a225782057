"""Facts about this machine and the target: for pre-flight checks, `run.json` and `strider doctor`."""

import os
import platform
import re
import socket
from dataclasses import dataclass
from pathlib import Path

from strider.engine import Json
from strider.launch.job_limits import memory, processors
from strider.launch.kernel_files import text_of, unescaped


@dataclass(frozen=True)
class Mount:
    """A mounted file system."""

    point: str
    kind: str
    source: str
    options: str


@dataclass(frozen=True)
class Space:
    """Free space of a file system for this user.

    Attributes:
        total_bytes: Size of the file system.
        free_bytes: Bytes free for this user.
        free_files: Free inodes; None if the file system has no limit.
        block_bytes: Its block size.
    """

    total_bytes: int
    free_bytes: int
    free_files: int | None
    block_bytes: int


def mount_of(path: Path) -> Mount | None:
    """Returns the file system of a path; None if unknown."""
    resolved = path.resolve()
    above = {str(parent) for parent in (resolved, *resolved.parents)}
    best: Mount | None = None
    for line in text_of("/proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        fields, (kind, source, super_options) = before.split(), [*after.split(" "), "", "", ""][:3]
        point = unescaped(fields[4])
        # Of several mounts on one mount point, the last one is active.
        if point in above and (best is None or len(point) >= len(best.point)):
            options = dict.fromkeys([*fields[5].split(","), *super_options.split(",")])
            best = Mount(point, kind, unescaped(source), ",".join(filter(None, options)))
    return best


def space_of(path: Path) -> Space:
    """Returns the free space on the file system of a path."""
    status = os.statvfs(path)
    # CephFS has no limit and reports -1.
    free_files = status.f_favail if status.f_files and status.f_favail >= 0 else None
    return Space(
        status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize, free_files, status.f_frsize
    )


def cpu_model() -> str:
    """Returns the processor model."""
    match = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", text_of("/proc/cpuinfo"), re.MULTILINE)
    return match[1].strip() if match else platform.machine()


def environment(target: Path) -> dict[str, Json]:
    """Returns the machine and target facts for `run.json`."""
    mount = mount_of(target)
    space = space_of(target)
    ram = memory()
    return {
        "host": socket.gethostname(),
        "system": _distribution(),
        "kernel": f"{platform.system()} {platform.release()}",
        "cpu": cpu_model(),
        "cores": processors(),
        "memory_bytes": ram.total_bytes,
        "memory_available_bytes": ram.available_bytes,
        "target": {
            "path": str(target),
            "mount_point": mount.point if mount else "",
            "file_system": mount.kind if mount else "",
            "file_system_id": f"{os.statvfs(target).f_fsid:x}",
            "source": mount.source if mount else "",
            "options": mount.options if mount else "",
            "total_bytes": space.total_bytes,
            "free_bytes": space.free_bytes,
            "free_files": space.free_files,
        },
    }


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""
