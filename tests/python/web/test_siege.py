"""A server that is attacked in all ways at once answers its user, and ends on request."""

import resource
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from serving import DEADLINE_S, Server, suite
from strider.engine import Engine
from strider.web.live import MOST_STREAMS

pytestmark = pytest.mark.slow

IDLE, STREAMS = 1200, 200
LOG_BYTES = 100_000
RUN = "2026-11-01-101112-alpha-abcd"
HARMFUL = {
    "tables": "[[case]]\n" * 100_000,
    "keys": "[[case]]\n" + "\n".join(f"k{number} = 1" for number in range(70_000)),
    "values": suite(Path("/x")).replace("count = 8", f"count = [{'1,' * 400_000}]"),
    "mistakes": "[[case]]\n" + "\n".join(f"k{number} = 1" for number in range(9_000)),
    "cases": (suite(Path("/x")) + "warmup = [" + ",".join(map(str, range(9_000))) + "]\n") * 3,
    "device": suite(Path("/x"))
    .replace('"strided"', '"list"')
    .replace('transfer = "4KiB"\ncount = 8', 'file = "/dev/zero"'),
}


@pytest.fixture
def many_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip("machine: a process may not have 2000 files open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))


def flood(server: Server, open_ones: ExitStack, count: int, sent: bytes) -> list[socket.socket]:
    """Connections on which something was sent, as far as the server leaves them open."""
    made = []
    for _ in range(count):
        made.append(open_ones.enter_context(server.connect()))
        with suppress(OSError):  # it makes room for others
            made[-1].sendall(sent)
    return made


def status(connection: socket.socket) -> bytes:
    try:
        return connection.recv(12)[9:12] or b"503"
    except OSError:
        return b"503"


@pytest.mark.usefixtures("many_files")
def test_a_siege_keeps_no_user_out_and_ends_with_a_signal(engine: Engine, tmp_path: Path) -> None:
    RunBuilder([CaseSpec()], suite="alpha").write(tmp_path / "store" / RUN, status=None)
    with (
        Server(engine, tmp_path / "allowed", tmp_path / "store", files=1024) as started,
        ExitStack() as open_ones,
        ThreadPoolExecutor(len(HARMFUL)) as askers,
    ):
        started.enter()
        half = f"GET /runs HTTP/1.1\r\nhost: 127.0.0.1:{started.port}\r\n".encode()
        whole = half + f"cookie: {started.cookie}\r\n\r\n".encode()
        flood(started, open_ones, IDLE // 2, b"")
        flood(started, open_ones, IDLE // 2, half)
        streams = flood(started, open_ones, STREAMS, whole.replace(b"/runs", f"/stream?run={RUN}".encode()))
        statuses = [status(stream) for stream in streams]
        assert set(statuses) <= {b"200", b"503"}
        assert 0 < statuses.count(b"200") <= MOST_STREAMS
        answers = {
            name: askers.submit(started.ask, "POST", "/api/suite", {"text": text})
            for name, text in HARMFUL.items()
        }
        answered_s: list[float] = []
        while len(answered_s) < 3 or not all(answer.done() for answer in answers.values()):
            begin = time.monotonic()
            assert started.ask("GET", "/runs").status == 200
            answered_s.append(time.monotonic() - begin)
        for name, answer in answers.items():
            said = answer.result(DEADLINE_S)
            assert said.status == 200, name
            assert said.json()["mistakes"], name
        assert started.ask("POST", "/api/suite", {"text": suite(started.allowed)}).json()["plan"]
        assert started.process.stderr is not None
        begin = time.monotonic()
        started.process.send_signal(signal.SIGTERM)
        log = started.process.stderr.read()
        assert started.process.wait(DEADLINE_S) == 0
        end_s = time.monotonic() - begin
    # For `pytest -s`: the times depend on the machine.
    print(f"/runs: {len(answered_s)} answers in at most {max(answered_s):.2f} s")
    print(f"end: {end_s:.2f} s; log: {len(log)} bytes")
    assert len(log) < LOG_BYTES


@pytest.mark.usefixtures("many_files")
def test_nothing_is_logged_without_end_where_descriptors_are_used_up(engine: Engine, tmp_path: Path) -> None:
    with (
        Server(engine, tmp_path / "allowed", tmp_path / "store", files=40) as started,
        ExitStack() as open_ones,
    ):
        flood(started, open_ones, 400, b"nonsense\r\n\r\n")
        assert started.enter().status == 200
        assert started.ask("GET", "/runs").status == 200
        assert started.process.stderr is not None
        started.process.send_signal(signal.SIGTERM)
        log = started.process.stderr.read()
        assert started.process.wait(DEADLINE_S) == 0
    assert len(log) < LOG_BYTES


def test_a_head_that_is_never_whole_costs_the_connection(server: Server) -> None:
    with server.connect() as silent, server.connect() as half, server.connect() as second:
        half.sendall(b"GET /runs HTTP/1.1\r\n")
        head = f"GET /runs HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\ncookie: {server.cookie}\r\n\r\n"
        second.sendall(head.encode() + b"GET /ru")
        for connection in (silent, half, second):
            connection.settimeout(DEADLINE_S)
            with_end = b" "
            try:
                while with_end:
                    with_end = connection.recv(1 << 16)
            except ConnectionResetError:
                pass
