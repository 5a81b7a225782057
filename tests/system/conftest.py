"""Fixtures of the tests of the whole program."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def strace() -> str:
    """The system call tracer."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("needs strace (Debian package strace)")
    return found


@pytest.fixture
def memory_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder on tmpfs, where there is one."""
    shared_memory = Path("/dev/shm")
    if not shared_memory.is_dir():
        yield tmp_path
        return
    folder = shared_memory / f"strider-test-{tmp_path.name}-{id(tmp_path)}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)
