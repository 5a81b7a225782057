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
from mounting import Mounts, mounts_on, volume_in


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


@pytest.fixture(scope="module")
def volume(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A list-I/O volume for the tests of a file."""
    with volume_in(engine, tmp_path_factory.mktemp("mount") / "volume") as directory:
        yield directory


@pytest.fixture
def mounts(engine: Engine, volume: Path, tmp_path: Path) -> Iterator[Mounts]:
    """Mounts that end with the test; the volume is empty then, and whole."""
    with mounts_on(engine, volume, tmp_path) as made:
        yield made
