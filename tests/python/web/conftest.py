"""A server that all tests of a module share, with an open session."""

from collections.abc import Iterator

import pytest

from serving import Server
from strider.engine import Engine


@pytest.fixture(scope="module")
def server(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server; it may measure its `allowed` and nothing else."""
    folder = tmp_path_factory.mktemp("web")
    with Server(engine, folder / "allowed", folder / "store") as started:
        assert started.enter().status == 200
        yield started
