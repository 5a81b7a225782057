"""Programs that use a volume and compare the data, kills of its servers, and its state afterwards."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness import wait_for
from strider.engine import Engine
from strider.errors import StriderError
from strider.listio import ServerOptions, check, scrub, serve
from strider.listio.servers import dead_servers, processes_of

END_S = 120
Clients = Sequence["subprocess.Popen[str]"]
Found = Mapping[str, Any]
"""A client's report at its end: see Worker::json in tests/listio/kills."""


def client_program(engine: Engine, name: str) -> Path:
    """A program of tests/listio."""
    program = Path(engine.path).resolve().parents[1] / "tests/listio" / name
    if not program.exists():
        pytest.skip("needs `tools/setup.sh test`")
    return program


@contextmanager
def working(
    commands: Sequence[Sequence[object]], environment: Mapping[str, str] | None = None
) -> Iterator[Clients]:
    """Clients that have begun, and work until a line is written to them."""
    with ExitStack() as stack:
        clients = []
        for command in commands:
            client = stack.enter_context(
                subprocess.Popen(
                    [str(word) for word in command],
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            stack.callback(client.kill)
            clients.append(client)
        for client in clients:
            assert client.stdout is not None
            assert client.stdout.readline() == "ready\n"
        yield clients


def findings(clients: Clients) -> list[Found]:
    """Ends the clients; what each has found, in lines of JSON."""
    found: list[Found] = []
    for client in clients:
        said = client.communicate("end\n", timeout=END_S)[0]
        assert client.returncode == 0, said
        found += [json.loads(line) for line in said.splitlines()]
    return found


def kill_at_random(engine: Engine, volume: Path, options: ServerOptions, choose: random.Random) -> list[int]:
    """Kills two servers, one after the other or at once, and starts them again; their numbers."""
    pair = kill_pair(volume, choose)
    time.sleep(choose.uniform(0, 2))
    serve_again(engine, volume, options)
    return pair


def serve_again(engine: Engine, volume: Path, options: ServerOptions) -> None:
    """Starts servers at the addresses that they had; waits where a connection of this host has the port."""

    def is_started() -> bool:
        try:
            serve(engine, volume, options)
        except StriderError as error:
            if "Address already in use" not in error.message:
                raise
            return False
        return True

    wait_for(is_started, "the ports of the servers")


def kill_pair(volume: Path, choose: random.Random) -> list[int]:
    """Kills two servers, one after the other or at once; their numbers."""
    pair = choose.sample(range(len(processes_of(volume))), 2)
    for number in pair:
        os.kill(processes_of(volume)[number].pid, signal.SIGKILL)
        time.sleep(choose.choice([0, 0.05, 0.5]))
    wait_for(lambda: dead_servers(volume) == sorted(pair), "the servers to end")
    return pair


def require_whole_after_repair(engine: Engine, volume: Path) -> None:
    """A check repairs what calls left that were interrupted; then neither it nor a scrub finds anything."""
    check(engine, volume, repair=True)
    check(engine, volume, remove_orphans=True)
    found, scrubbed = check(engine, volume), scrub(engine, volume)
    assert (found["problems"], found["orphans"]) == ([], []), found
    assert scrubbed["findings"] == [], scrubbed
    assert [each for each in scrubbed["filled"] if each["reason"]] == [], scrubbed
