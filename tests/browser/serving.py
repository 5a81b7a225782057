"""A real `strider serve` in a process of its own, and plain requests to it."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from strider.engine import Engine
from strider.launch.confinement import support

DEADLINE_S = 60
_ADDRESS = re.compile(r"open http://127\.0\.0\.1:(\d+)(/enter\?token=\S+)")


def read_start(process: "subprocess.Popen[str]") -> list[str]:
    """The output of a server until it is ready; it is killed where it does not get there in time."""
    said = []
    watchdog = threading.Timer(DEADLINE_S, process.kill)
    watchdog.start()
    try:
        for line in process.stderr or ():
            said.append(line)
            if "valid once" in line:
                return said
    finally:
        watchdog.cancel()
    raise AssertionError("the server did not start: " + "".join(said))


@dataclass(frozen=True)
class Answer:
    """The answer of the server."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:  # noqa: ANN401 - any JSON
        return json.loads(self.body)


@dataclass
class Server:
    """A server on the loopback interface; as a context manager, so that nothing of it outlives a test.

    Attributes:
        allowed: The directory that may be measured.
        store: Where its runs are.
        environment: Variables besides those of the tests.
        files: How many it may have open, if not as many as the tests.
    """

    engine: Engine
    allowed: Path
    store: Path
    environment: dict[str, str] = field(default_factory=dict)
    files: int | None = None
    port: int = 0
    entrance: str = ""
    cookie: str = ""

    def __enter__(self) -> Self:
        self.allowed.mkdir(parents=True, exist_ok=True)
        command = ["-m", "strider", "serve", "--allow", str(self.allowed), "--store", str(self.store)]
        limited = ["prlimit", f"--nofile={self.files}:{self.files}"] if self.files else []
        # Without Landlock no run of the page would start.
        command += ["--confine", "auto"] if support(self.engine).reason else []
        self.process = subprocess.Popen(
            [*limited, sys.executable, "-I", *command],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "STRIDER_ENGINE": str(self.engine.path), **self.environment},
        )
        (found,) = [found for line in read_start(self.process) if (found := _ADDRESS.search(line))]
        self.port, self.entrance = int(found[1]), found[2]
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGKILL)

    def stop(self, number: signal.Signals) -> int:
        """Ends the server, and waits for its end."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(DEADLINE_S)
        if self.process.stderr:
            self.process.stderr.close()
        return code

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def enter(self) -> Answer:
        """Exchanges the token for a session."""
        answer = self.ask("GET", self.entrance, cookie="")
        self.cookie = answer.headers.get("set-cookie", "").partition(";")[0]
        return answer

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), DEADLINE_S)

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        cookie: str | None = None,
        **changed: str | None,
    ) -> Answer:
        """One request as a browser makes it from a page of the server; of a stream the head alone.

        Args:
            method: GET or POST.
            path: The path as it is sent.
            body: The request, sent as JSON.
            cookie: Instead of the session's.
            changed: Headers with `_` for `-`; None leaves one out.
        """
        headers: dict[str, str | None] = {
            "host": f"127.0.0.1:{self.port}",
            "cookie": self.cookie if cookie is None else cookie,
        }
        if method != "GET":
            headers |= {"origin": self.address, "content-type": "application/json"}
        headers |= {name.replace("_", "-"): value for name, value in changed.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            sent = b"" if body is None else json.dumps(body).encode()
            for name, value in headers.items():
                if value is not None:
                    connection.putheader(name, value)
            if method != "GET":
                connection.putheader("content-length", str(len(sent)))
            connection.endheaders(sent)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            endless = found.get("content-type", "").startswith("text/event-stream")
            return Answer(response.status, found, b"" if endless else response.read())
        finally:
            connection.close()

    def submit(self, text: str) -> str:
        """Submits a suite; the id of its job."""
        answer = self.ask("POST", "/api/jobs", {"text": text})
        assert answer.status == 201, answer.text
        return str(answer.json()["job"])

    def quiet(self) -> None:
        """Ends all that waits and runs."""
        jobs = [
            job["job"]
            for job in self.ask("GET", "/api/jobs").json()
            if job["state"] in ("waiting", "running")
        ]
        for job in jobs:
            self.ask("POST", f"/api/jobs/{job}/cancel", {})
        for job in jobs:
            self.job(job, "done", "failed", "cancelled")

    def started(self, job: str) -> str:
        """The run of a job, as soon as there is one."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            found = self.job(job, "running", "done")
            if found["run"]:
                return str(found["run"])
            time.sleep(0.1)
        raise AssertionError(f"job {job} has no run after {DEADLINE_S} s")

    def job(self, job: str, *states: str) -> dict[str, Any]:
        """A job as soon as it is in one of some states."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            found: dict[str, Any] = self.ask("GET", f"/api/jobs/{job}").json()
            if found["state"] in states:
                return found
            time.sleep(0.1)
        raise AssertionError(f"job {job} is {found} after {DEADLINE_S} s")


def suite(target: Path, *, name: str = "small", case: str = "", more: str = "") -> str:
    """A suite that is measured in a moment."""
    return (
        f'[suite]\nname = "{name}"\ntarget = {json.dumps(str(target))}\nrepetitions = 1\n{more}\n\n[[case]]\n'
        'interface = "posix"\npattern = "strided"\ntransfer = "4KiB"\ncount = 8\nclients = 2\n'
        f'operations = ["write", "read"]\n{case}\n'
    )


def long_suite(target: Path) -> str:
    """A suite that runs until it is ended."""
    return suite(target, name="long").replace("repetitions = 1", "repetitions = 100000")
