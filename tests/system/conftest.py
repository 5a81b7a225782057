"""Fixtures of the tests of the whole program."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from strider.engine import Engine

sys.path.insert(0, str(Path(__file__).parent))

import forgetfs
from forgetfs import ForgetFs


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


@pytest.fixture(scope="module", params=list(forgetfs.MODES))
def forgetful(request: pytest.FixtureRequest, engine: Engine) -> Iterator[ForgetFs]:
    """The file system of the tests, with each way of caching."""
    with forgetfs.mounted(engine, request.param) as mounted:
        yield mounted
