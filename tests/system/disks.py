"""Disks of a known rate: loop devices in memory, and the kernel's limits on groups of processes."""

import errno
import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import wait_for

GROUPS = Path("/sys/fs/cgroup")
JOIN = 'echo $$ > "$0" && exec "$@"'
"""Puts a command into the group whose file of processes is the first word after it."""


@dataclass(frozen=True)
class Disk:
    """A mounted loop device.

    Attributes:
        device: Such as `/dev/loop0`.
        number: Its major and minor number, such as `7:0`.
        point: Where it is mounted.
    """

    device: str
    number: str
    point: Path


def _run(*words: object) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout.strip()


@contextmanager
def disk(folder: Path, mebibytes: int) -> Iterator[Disk]:
    """An ext4 file system on a loop device; skips where there can be none."""
    if os.geteuid() != 0:
        pytest.skip("machine: only root may make loop devices")
    image, point = folder / "image", folder / "mounted"
    with image.open("wb") as file:
        file.truncate(mebibytes << 20)
    point.mkdir()
    try:
        device = _run("losetup", "--find", "--show", image)
    except OSError as error:
        pytest.skip(f"machine: no loop devices: {error}")
    try:
        # All of it at once: nothing is initialised in the background later.
        _run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", device)
        _run("mount", device, point)
        try:
            yield Disk(device, Path(f"/sys/block/{Path(device).name}/dev").read_text().strip(), point)
        finally:
            _run("umount", point)
    finally:
        _run("losetup", "--detach", device)
        image.unlink()


@contextmanager
def limited(device: Disk, bytes_s: int) -> Iterator[list[str]]:
    """A group of processes that moves so many bytes per second to and from a disk, each way.

    Yields:
        The words to put before a command that is to be in it.
    """
    old, new = GROUPS / "blkio", GROUPS / "cgroup.controllers"
    name = f"strider-test-{secrets.token_hex(8)}"
    if (old / "blkio.throttle.read_bps_device").exists():
        group = old / name
        limits = {
            f"blkio.throttle.{way}_bps_device": f"{device.number} {bytes_s}" for way in ("read", "write")
        }
    elif new.exists() and "io" in new.read_text().split():
        group = GROUPS / name
        limits = {"io.max": f"{device.number} rbps={bytes_s} wbps={bytes_s}"}
    else:
        pytest.skip("machine: no blkio controller of cgroup v1, and no io controller of cgroup v2")
    try:
        if new.exists():
            (GROUPS / "cgroup.subtree_control").write_text("+io")
        group.mkdir()
    except OSError as error:
        pytest.skip(f"machine: groups may not be made: {error}")
    try:
        for file, limit in limits.items():
            (group / file).write_text(limit)
        yield ["sh", "-c", JOIN, str(group / "cgroup.procs")]
    finally:
        wait_for(lambda: _is_removed(group), "the processes of a group to end")


def _is_removed(group: Path) -> bool:
    """Whether the kernel lets a group be removed: it counts processes for a moment after their end."""
    try:
        group.rmdir()
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True
