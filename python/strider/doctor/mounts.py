"""Checks whether list-I/O volumes can be mounted, and whether their mounts here answer."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from strider import engine as engines
from strider.doctor.diagnosis import Diagnosis
from strider.errors import StriderError
from strider.listio import mount_program, mounted

FUSE = Path("/dev/fuse")


def check_mounts() -> Iterator[Diagnosis]:
    """Checks the program, FUSE, and each mount of this machine."""
    try:
        engine = engines.find()
    except StriderError:
        return  # problems of the engine are reported by its own check
    try:
        mount_program(engine)
    except StriderError as error:
        yield Diagnosis("list-I/O mounts", "missing", error.message)
        return
    if not shutil.which("fusermount3"):
        yield Diagnosis(
            "list-I/O mounts", "missing", "fusermount3 is not installed", "apt install fuse3 (Debian)"
        )
    elif not os.access(FUSE, os.R_OK | os.W_OK):
        reason = (
            "cannot be opened by this user" if FUSE.exists() else "does not exist: the kernel has no FUSE"
        )
        yield Diagnosis("list-I/O mounts", "missing", f"{FUSE} {reason}")
    else:
        yield Diagnosis("list-I/O mounts", "works", "FUSE, by strider listio mount VOLUME DIR")
    yield from (_of_mount(point) for point in mounted())


def _of_mount(point: str) -> Diagnosis:
    """The state of a mount; one whose volume is gone may take its patience to answer."""
    try:
        os.lstat(point)
    except OSError as error:
        remedy = f"start the servers of the volume, or strider listio unmount {point}"
        return Diagnosis("list-I/O mount", "note", f"{point}: {error.strerror}", remedy)
    return Diagnosis("list-I/O mount", "works", point)
