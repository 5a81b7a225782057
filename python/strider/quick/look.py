"""What can be known about a directory before anything is measured."""

import errno
import mmap
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from strider.launch.job_limits import memory, processors
from strider.launch.machine import mount_of, space_of
from strider.statistics.exceeding import is_in_memory, is_networked

Kind = Literal["local", "memory", "network", "fuse"]

POSIX = "posix"
#: Libraries that find their servers by the mount of a file system.
_LIBRARIES = {
    "fuse.glusterfs": "gfapi",
    "ceph": "cephfs",
    "fuse.ceph": "cephfs",
    "fuse.ceph-fuse": "cephfs",
    "nfs": "nfs",
    "nfs4": "nfs",
}
_PAGE = 4096
_TOUCHED_BYTES, _PARTS = 64 << 20, 16


@dataclass(frozen=True)
class Place:
    """A directory and the machine that measures it; sizes in bytes.

    Attributes:
        kind: Where its data is.
        device: Name of the block device; empty if there is none.
        is_virtual: Whether the device is one of a virtual machine.
        free_files: None if the file system has no limit.
        is_direct: Whether files can be opened for direct I/O and written.
        available_bytes: Memory that programs can still use.
        interface: Interface of all lines; POSIX, or a library that bypasses the directory's mount.
        native: Interface of the file system's own library; empty without one.
        first_touch_us: Time to touch a page of new memory.
    """

    path: str
    file_system: str
    kind: Kind
    device: str
    is_virtual: bool
    total_bytes: int
    free_bytes: int
    free_files: int | None
    is_direct: bool
    cores: int
    memory_bytes: int
    available_bytes: int
    interface: str = POSIX
    native: str = ""
    first_touch_us: float | None = None


def look(target: Path, interface: str = POSIX) -> Place:
    """Returns facts about a directory.

    Args:
        target: The directory.
        interface: Interface of all lines.
    """
    mount, space, ram = mount_of(target), space_of(target), memory()
    file_system = mount.kind if mount else ""
    is_posix = interface == POSIX
    device = device_of(target) if is_posix else ""
    return Place(
        path=str(target),
        file_system=file_system,
        kind=kind_of(file_system) if is_posix else "network",
        device=device,
        is_virtual=device.startswith(("vd", "xvd")),
        total_bytes=space.total_bytes,
        free_bytes=space.free_bytes,
        free_files=space.free_files,
        is_direct=is_posix and can_write_directly(target),
        cores=processors(),
        memory_bytes=ram.total_bytes,
        available_bytes=ram.available_bytes,
        interface=interface,
        native=_LIBRARIES.get(file_system, "") if is_posix else interface,
        first_touch_us=first_touch_us(),
    )


def first_touch_us() -> float | None:
    """Returns the median time to touch a page of new memory, over parts of 64 MiB; None if unknown.

    A host provides memory to a virtual machine at its first touch, and takes it back later. Processor time,
    because other programs get the processor meanwhile.
    """
    step = _TOUCHED_BYTES // _PARTS
    pages = bytes(step // _PAGE)
    times = []
    try:
        with mmap.mmap(-1, _TOUCHED_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as area:
            area.madvise(mmap.MADV_NOHUGEPAGE)
            for start in range(0, _TOUCHED_BYTES, step):
                began = time.thread_time()
                area[start : start + step : _PAGE] = pages
                times.append(time.thread_time() - began)
    except OSError:
        return None
    return round(statistics.median(times) * 1e6 / len(pages), 3)


def kind_of(file_system: str) -> Kind:
    """Returns where the data of a type of file system is."""
    if is_in_memory(file_system):
        return "memory"
    if is_networked(file_system):
        return "network"
    return "fuse" if file_system.startswith("fuse") else "local"


def device_of(target: Path) -> str:
    """Returns the name of the block device below a directory; empty without one."""
    number = target.stat().st_dev
    link = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    return link.resolve().name if link.exists() else ""


def can_write_directly(target: Path) -> bool:
    """Returns whether a page can be written with direct I/O; the file is removed at once."""
    try:
        # A file with a name: FUSE cannot open one again that has none.
        with tempfile.NamedTemporaryFile(dir=target) as file, mmap.mmap(-1, _PAGE) as page:
            direct = os.open(file.name, os.O_RDWR | os.O_DIRECT | os.O_NOFOLLOW)
            try:
                return os.pwrite(direct, page, 0) == _PAGE
            finally:
                os.close(direct)
    except OSError as error:
        # Without space nothing is known; the open alone has succeeded.
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
