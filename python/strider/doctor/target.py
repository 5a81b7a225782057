"""Checks the target: file system, free space, direct I/O."""

import errno
import mmap
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from strider.doctor.diagnosis import Diagnosis
from strider.errors import StriderError
from strider.launch import check_target as checked_target
from strider.launch import folder, leftovers
from strider.launch.machine import Space, mount_of, space_of
from strider.units import GIB, format_bytes, format_bytes_rounded

ALIGNMENTS = (512, 4096)
"""Transfer sizes to try for direct I/O, in bytes."""


def check_target(target: Path) -> Iterator[Diagnosis]:
    """Checks a directory; creates and removes a small file in a folder there."""
    try:
        path = checked_target(str(target))
    except StriderError as error:
        yield Diagnosis("target", "fails", error.message)
        return
    mount = mount_of(path)
    kind = f"{mount.kind} mounted at {mount.point} from {mount.source}" if mount else "unknown file system"
    yield Diagnosis("target", "works", f"{path}: {kind}")
    if mount:
        yield Diagnosis("mount options", "works", mount.options)
    yield from _space(space_of(path))
    yield from _direct(path)
    for left in leftovers.abandoned(path):
        remedy = f"strider clean {shlex.quote(str(path))}"
        yield Diagnosis("leftover", "note", f"{left.path} was left by a killed run", remedy)


def _space(space: Space) -> Iterator[Diagnosis]:
    files = "" if space.free_files is None else f", {space.free_files} free inodes"
    free = (
        f"{format_bytes_rounded(space.free_bytes)} of {format_bytes_rounded(space.total_bytes)} free{files}"
    )
    if space.free_bytes < GIB:
        yield Diagnosis("space", "note", free, "to see the needs of a suite, use strider plan SUITE")
    else:
        yield Diagnosis("space", "works", free)


def _direct(path: Path) -> Iterator[Diagnosis]:
    """Checks whether O_DIRECT works, and its alignment."""
    try:
        own = folder.create(path, f"doctor-{os.getpid()}")
    except StriderError as error:
        yield Diagnosis("writing", "fails", error.message)
        return
    try:
        for alignment in ALIGNMENTS:
            problem = _write_directly(own.path / f"direct-{alignment}", alignment)
            if problem is None:
                yield Diagnosis(
                    "direct I/O", "works", f"O_DIRECT with multiples of {format_bytes(alignment)}"
                )
                return
        yield Diagnosis(
            "direct I/O", "missing", f"O_DIRECT: {problem}", "do not use posix.direct on this file system"
        )
    finally:
        folder.remove(own)


def _write_directly(file: Path, size: int) -> str | None:
    """Writes `size` bytes with direct I/O; returns the error if that fails."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_DIRECT, 0o600)
    except OSError as error:
        return error.strerror or errno.errorcode.get(error.errno or 0, "failed")
    try:
        # Anonymous memory maps are page-aligned, as direct I/O requires.
        with mmap.mmap(-1, size) as buffer:
            os.write(descriptor, buffer)
        return None
    except OSError as error:
        return error.strerror or errno.errorcode.get(error.errno or 0, "failed")
    finally:
        os.close(descriptor)
