"""Too much of everything, tried on a real server: bodies, streams, suites made to harm, submissions."""

import resource
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from serving import Server, long_suite, suite
from strider.engine import Engine
from strider.web.guard import MOST_BODY_BYTES
from strider.web.live import MOST_STREAMS

pytestmark = pytest.mark.slow


def test_an_upload_of_100_mb_is_refused_before_it_is_read(server: Server) -> None:
    with server.connect() as connection:
        head = (
            f"POST /api/suite HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\norigin: {server.address}\r\n"
            f"cookie: {server.cookie}\r\ncontent-type: application/json\r\n"
            f"content-length: {100 << 20}\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert connection.recv(12) == b"HTTP/1.1 413"
        sent = 0
        try:
            while sent < 100 << 20:
                sent += connection.send(b"x" * (1 << 20))
        except OSError:
            pass
        # Only the bytes in the kernel's buffers when the connection is closed.
        assert sent < 50 << 20


def test_a_body_that_does_not_say_its_length_is_refused_when_it_is_too_long(server: Server) -> None:
    with server.connect() as connection:
        head = (
            f"POST /api/suite HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\norigin: {server.address}\r\n"
            f"cookie: {server.cookie}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        connection.sendall(head.encode())
        chunk = b"%x\r\n%s\r\n" % (1 << 16, b"x" * (1 << 16))
        try:
            for _ in range(2 * MOST_BODY_BYTES // (1 << 16)):
                connection.sendall(chunk)
        except OSError:
            pass
        assert connection.recv(12) == b"HTTP/1.1 413"


@pytest.mark.parametrize("length", ["-1", "1e9", "99999999999999999999", "٣"])
def test_a_length_that_is_none_is_refused(server: Server, length: str) -> None:
    with server.connect() as connection:
        head = (
            f"POST /api/suite HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\ncontent-length: {length}\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert connection.recv(12)[9:10] == b"4"


def test_a_thousand_streams_do_not_keep_anybody_from_the_pages(engine: Engine, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if hard == resource.RLIM_INFINITY else min(hard, 4096)
    if wanted < 1500:
        pytest.skip("machine: a process may not have 1500 files open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    with Server(engine, tmp_path / "allowed", tmp_path / "store") as started, ExitStack() as open_ones:
        started.enter()
        text = long_suite(started.allowed)
        job = started.submit(text)
        run = started.started(job)
        request = (
            f"GET /stream?run={run} HTTP/1.1\r\nhost: 127.0.0.1:{started.port}\r\n"
            f"cookie: {started.cookie}\r\n\r\n"
        ).encode()
        streams = [open_ones.enter_context(started.connect()) for _ in range(1000)]
        for stream in streams:
            stream.sendall(request)
        statuses = [_status(stream) for stream in streams]
        assert statuses.count(b"200") == MOST_STREAMS
        assert set(statuses) == {b"200", b"503"}
        assert started.ask("GET", "/runs").status == 200
        open_ones.close()
        # A closed connection makes room for others.
        with started.connect() as later:
            later.sendall(request)
            assert _status(later) in (b"200", b"503")
        started.ask("POST", f"/api/jobs/{job}/cancel", {})
        assert started.job(job, "done")["run"] == run


def _status(connection: socket.socket) -> bytes:
    """The status of an answer; a connection that is refused outright counts as one."""
    try:
        return connection.recv(12)[9:12] or b"503"
    except ConnectionResetError:
        return b"503"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = " + "[" * 50_000, "nested too deeply"),
        (suite(Path("/x"), case="warmup = [" + "1," * 20_000 + "]"), "20000 cases"),
        ("\x00", "not TOML"),
        (suite(Path("/x"), case="deadline = 1e999"), "finite"),
    ],
)
def test_a_suite_that_is_made_to_harm_is_a_mistake(server: Server, text: str, says: str) -> None:
    answer = server.ask("POST", "/api/suite", {"text": text})
    assert answer.status == 200
    assert any(says in mistake["message"] for mistake in answer.json()["mistakes"]), answer.text[:500]


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {"text": 1},
        {"text": "", "edits": [{"do": "rm"}]},
        {"text": "", "edits": [{"do": "copy", "case": 99}]},
        {"text": "", "edits": [{"do": "remove", "case": -1}]},
        {"text": "", "bytes_s": "-1"},
    ],
)
def test_a_request_that_makes_no_sense_gets_a_message(server: Server, body: object) -> None:
    answer = server.ask("POST", "/api/suite", body)
    assert answer.status == 400
    assert answer.json()["message"]


def test_a_flood_of_submissions_ends_at_a_limit(engine: Engine, tmp_path: Path) -> None:
    with Server(engine, tmp_path / "allowed", tmp_path / "store") as started:
        started.enter()
        text = long_suite(started.allowed)
        answers = [started.ask("POST", "/api/jobs", {"text": text}) for _ in range(30)]
        refused = [answer for answer in answers if answer.status != 201]
        started.stop(signal.SIGINT)
    assert refused
    assert all("the queue is full" in answer.json()["message"] for answer in refused)
    assert not list(started.allowed.iterdir())
    assert not (started.store / ".jobs").exists()
