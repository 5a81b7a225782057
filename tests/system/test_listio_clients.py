"""Many connections to a server of list I/O: those that prove nothing, and clients that are idle or active."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from harness import case, plan, run_engine
from strider.engine import Engine
from strider.listio import VOLUME_FILE, ServerOptions, read_volume, serve, status, stop

SILENT = 3000
"""More than a server keeps, whatever its limit of descriptors."""


@pytest.fixture(autouse=True)
def _descriptors() -> Iterator[None]:
    """Lets this process have a descriptor for each connection."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def silent_connections(address: str, count: int) -> Iterator[None]:
    """Connections on which no byte is sent."""
    host, port = address.rsplit(":", 1)
    with ExitStack() as connections:
        for _ in range(count):
            connections.enter_context(socket.create_connection((host, int(port))))
        yield


# proves listio: unauthenticated, unauthenticated-1024
def test_silent_connections_keep_no_client_out(engine: Engine, tmp_path: Path) -> None:
    directory = tmp_path / "volume"
    serve(engine, directory, ServerOptions(servers=1))
    try:
        volume = read_volume(directory)
        assert volume is not None
        with silent_connections(volume.servers[0], SILENT):
            assert [server["clients"] for server in status(engine, directory)] == [1]
    finally:
        stop(directory)


# proves listio: server-memory
def test_more_clients_than_buffers_transfer_right_data(engine: Engine, tmp_path: Path) -> None:
    directory = tmp_path / "volume"
    serve(engine, directory, ServerOptions(servers=1, memory_bytes=2 << 20))
    try:
        transfers = case(
            "strided",
            "listio",
            pattern_transfer=65536,
            pattern_count=40,
            interface_volume=str(directory / VOLUME_FILE),
            operations=["write", "read"],
            verify="full",
            clients=4,
        )
        done = run_engine(engine, plan([transfers]), tmp_path)
        assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
        assert done.sample(operation="read")["bytes"] == 4 * 40 * 65536
        assert [server["buffer_bytes"] for server in status(engine, directory)] == [0]
    finally:
        stop(directory)
