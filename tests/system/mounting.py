"""Mounts of list-I/O volumes for tests."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from harness import wait_for
from strider.engine import Engine
from strider.errors import StriderError
from strider.listio import MountOptions, ServerOptions, check, mount, mounted, serve, stop, unmount
from strider.processes import identify

PATIENCE_S = 5
"""How long mounts wait for a server."""


class Mounts:
    """Mounts volumes on new directories."""

    def __init__(self, engine: Engine, volume: Path, folder: Path) -> None:
        self.engine, self.volume, self.folder = engine, volume, folder
        self.pids: dict[Path, int] = {}

    def __call__(self, caches: bool = False, allows_others: bool = False) -> Path:
        directory = self.folder / f"mount {len(self.pids)}"
        directory.mkdir()
        options = MountOptions(caches=caches, allows_others=allows_others, patience_s=PATIENCE_S)
        try:
            pid = mount(self.engine, self.volume, directory, options)
        except StriderError as error:
            if "fusermount3" in error.message:
                pytest.skip(f"machine: FUSE file systems may not be mounted: {error.message}")
            raise
        self.pids[directory] = pid
        return directory


def outcome(action: Callable[..., object], *arguments: object, **options: object) -> object:
    """The value that a call returned, but no path; or its error number."""
    try:
        result = action(*arguments, **options)
        return None if isinstance(result, Path) else result
    except OSError as error:
        return errno.errorcode[error.errno or 0]


@contextmanager
def volume_in(engine: Engine, directory: Path) -> Iterator[Path]:
    """A volume of three servers with small strips, so that most files lie on all of them."""
    if not Path("/dev/fuse").exists():
        pytest.skip("machine: the kernel has no FUSE (/dev/fuse)")
    serve(engine, directory, ServerOptions(servers=3, strip_bytes=1000))
    try:
        yield directory
    finally:
        stop(directory)


@contextmanager
def mounts_on(engine: Engine, volume: Path, folder: Path) -> Iterator[Mounts]:
    """Mounts that end with the context; the volume is empty then, and whole."""
    made = Mounts(engine, volume, folder)
    try:
        yield made
        for directory in made.pids:
            if str(directory) in mounted():
                subprocess.run(["rm", "-rf", *directory.iterdir()], check=True)
    finally:
        for directory in made.pids:
            if str(directory) in mounted():
                with patch("strider.listio.mounts.ENDED_S", 600.0):
                    unmount(directory)
    # Until then they remove data files.
    wait_for(lambda: not any(identify(pid, "") for pid in made.pids.values()), "the mounts to end")
    found = check(engine, volume)
    assert (found["files"], found["problems"], found["orphans"]) == (0, [], [])
