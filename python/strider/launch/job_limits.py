"""Memory and processors of a job: the least of machine, control groups with their parents, and affinity.

The engine has the same rules in engine/measure/job_limits.cpp.
"""

import math
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from strider.launch.kernel_files import text_of, unescaped

ROOT = Path("/")


@dataclass(frozen=True)
class Memory:
    """Memory of this machine, or of the part of it that this job may use."""

    total_bytes: int
    available_bytes: int


@dataclass(frozen=True)
class _Group:
    """A control group of this process, or a parent of one."""

    folder: Path
    version: int

    def number(self, name: str) -> int | None:
        """Returns the number in a file; None without one, as with `max`."""
        text = self.text(name).strip()
        return int(text) if re.fullmatch(r"[0-9]{1,20}", text) else None

    def numbers(self, name: str) -> dict[str, int]:
        """Returns the named numbers in a file."""
        return {key: int(value) for key, value in re.findall(r"(?m)^(\w+) ([0-9]{1,20})$", self.text(name))}

    def text(self, name: str) -> str:
        """Returns the contents of a file; empty without it."""
        return text_of(self.folder / name)


def memory(root: Path = ROOT) -> Memory:
    """Returns the memory that this job may have, and what of it is available.

    Args:
        root: Where /proc and /sys are.
    """
    found = dict(re.findall(r"^(\w+):\s+(\d+) kB", text_of(root / "proc/meminfo"), re.MULTILINE))
    limits = [
        (limit, used) for limit, used in map(_limit_and_use, _groups(root, "memory")) if limit is not None
    ]
    totals = [int(found["MemTotal"]) * 1024] if "MemTotal" in found else []
    available = [int(found["MemAvailable"]) * 1024] if "MemAvailable" in found else []
    return Memory(
        min([*totals, *(limit for limit, _ in limits)], default=0),
        min([*available, *(max(0, limit - used) for limit, used in limits)], default=0),
    )


def processors(root: Path = ROOT) -> int:
    """Returns the number of processors that this job may use at a time, at least 1.

    Args:
        root: Where /proc and /sys are.
    """
    quotas = [quota for group in _groups(root, "cpu") if (quota := _quota(group)) is not None]
    return max(1, math.floor(min([len(os.sched_getaffinity(0)), *quotas])))


def _limit_and_use(group: _Group) -> tuple[int | None, int]:
    """Returns the limit of a group in bytes, and the bytes that it cannot give back."""
    limit, used, total = (
        ("memory.max", "memory.current", "")
        if group.version == 2
        else ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
    )
    # The page cache counts as used, and is dropped for whatever needs the memory.
    kept = group.numbers("memory.stat")
    cache = sum(kept.get(f"{total}{name}_file", 0) for name in ("inactive", "active"))
    return group.number(limit), max(0, (group.number(used) or 0) - cache)


def _quota(group: _Group) -> float | None:
    """Returns the processors that the quota of a group is worth; None without a quota."""
    if group.version == 2:
        words = group.text("cpu.max").split()
    else:
        words = [group.text(f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    with suppress(ValueError):
        quota, period = map(int, words)
        return quota / period if quota > 0 and period > 0 else None
    return None


def _groups(root: Path, controller: str) -> Iterator[_Group]:
    """Yields the groups of this process that may limit a controller, and their parents."""
    own = _paths(text_of(root / "proc/self/cgroup"))
    for line in text_of(root / "proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        fields, kind, options = before.split(), after.split(" ")[0], after.split(" ")[-1].split(",")
        version = {"cgroup": 1, "cgroup2": 2}.get(kind)
        if len(fields) < 5 or not version or (version == 1 and controller not in options):
            continue
        path = own.get(controller if version == 1 else "")
        if path is None:
            continue
        top, shown = root / unescaped(fields[4]).lstrip("/"), unescaped(fields[3])
        folder = top / _below(path, shown)
        while folder != top:
            yield _Group(folder, version)
            folder = folder.parent
        yield _Group(top, version)


def _below(path: str, shown: str) -> str:
    """Returns the path of a group below a mount that shows a part of the hierarchy.

    A container may see only its own group, under another path than the file names, or `..` for a group
    outside of its namespace. Then the mount itself is the nearest group that is known.
    """
    if ".." in path.split("/"):
        return ""
    if shown != "/":
        inside = path == shown or path.startswith(f"{shown}/")
        path = path[len(shown) :] if inside else ""
    return path.strip("/")


def _paths(text: str) -> dict[str, str]:
    """Returns the group of each controller from /proc/self/cgroup; that of version 2 has an empty name."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if path:
            found |= dict.fromkeys(controllers.split(","), path)
    return found
