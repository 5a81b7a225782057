"""Facts about this machine and the target: for pre-flight checks, `run.json` and `strider doctor`."""

import os
import platform
import re
import socket
from dataclasses import dataclass
from pathlib import Path

from strider.engine import Json


@dataclass(frozen=True)
class Memory:
    """Memory of this machine, or of its container."""

    total_bytes: int
    available_bytes: int


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


def memory() -> Memory:
    """Returns total and available memory."""
    found = dict(re.findall(r"^(\w+):\s+(\d+) kB", _text("/proc/meminfo"), re.MULTILINE))
    total = int(found.get("MemTotal", 0)) * 1024
    available = int(found.get("MemAvailable", 0)) * 1024
    limit = _text("/sys/fs/cgroup/memory.max").strip()
    if limit.isdigit() and int(limit) < total:
        used = _text("/sys/fs/cgroup/memory.current").strip()
        return Memory(int(limit), min(available, int(limit) - int(used or 0)))
    return Memory(total, available)


def mount_of(path: Path) -> Mount | None:
    """Returns the file system of a path; None if unknown."""
    resolved = path.resolve()
    above = {str(parent) for parent in (resolved, *resolved.parents)}
    best: Mount | None = None
    for line in _text("/proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        fields, (kind, source, super_options) = before.split(), [*after.split(" "), "", "", ""][:3]
        point = _unescape(fields[4])
        # Of several mounts on one mount point, the last one is active.
        if point in above and (best is None or len(point) >= len(best.point)):
            options = dict.fromkeys([*fields[5].split(","), *super_options.split(",")])
            best = Mount(point, kind, _unescape(source), ",".join(filter(None, options)))
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
    match = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", _text("/proc/cpuinfo"), re.MULTILINE)
    return match[1].strip() if match else platform.machine()


def cores() -> int:
    """Returns the number of cores available to this process."""
    return len(os.sched_getaffinity(0))


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
        "cores": cores(),
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


def _unescape(text: str) -> str:
    """Decodes the octal escapes of the kernel's mount table."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
