"""Servers of a volume are killed and started again at random, while clients use it."""

import json
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from harness import strider_command, wait_for
from strider.engine import Engine
from strider.listio import VOLUME_FILE, ServerOptions, scrub, serve, stop
from strider.listio.servers import dead_servers, processes_of

SERVERS = 4
CLIENTS = 8
SECONDS = float(os.environ.get("STRIDER_KILLS_S", "15"))
END_S = 120
OPTIONS = ServerOptions(servers=SERVERS, strip_bytes=65536)
Clients = Sequence["subprocess.Popen[str]"]


@contextmanager
def clients_of(engine: Engine, volume: Path, seed: int, patience_ms: int) -> Iterator[Clients]:
    """Clients that work on a volume until a line is written to them."""
    program = Path(engine.path).resolve().parents[1] / "tests/listio/strider-listio-kills"
    if not program.exists():
        pytest.skip("needs `tools/setup.sh test`")
    with ExitStack() as stack:
        clients = []
        for number in range(CLIENTS):
            place: list[str | Path] = [program, volume / VOLUME_FILE]
            words = [*place, str(number), str(CLIENTS), str(seed), str(patience_ms)]
            client = stack.enter_context(
                subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(client.kill)
            clients.append(client)
        yield clients


def kill_at_random(engine: Engine, volume: Path, options: ServerOptions, choose: random.Random) -> list[int]:
    """Kills two servers, one after the other or at once, and starts them again; their numbers."""
    pair = choose.sample(range(SERVERS), 2)
    for number in pair:
        os.kill(processes_of(volume)[number].pid, signal.SIGKILL)
        time.sleep(choose.choice([0, 0.05, 0.5]))
    wait_for(lambda: dead_servers(volume) == sorted(pair), "the servers to end")
    time.sleep(choose.uniform(0, 2))
    serve(engine, volume, options)
    return pair


def require_killed(error: str, tenths: int, rounds: Sequence[tuple[float, list[int]]]) -> None:
    """The error names a server of the round in which the call failed, or whose loss was seen in the next."""
    begun = [pair for begin, pair in rounds if begin < (tenths + 1) / 10]
    recent = begun if "was started again" in error else begun[-2:]
    named = re.search(r"server (\d) \(", error)
    assert named, error
    assert int(named[1]) in {number for pair in recent for number in pair}, (error, begun)


def strider(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(strider_command(*words), capture_output=True, text=True, timeout=END_S, check=False)


@pytest.mark.parametrize(("copies", "patience_ms"), [(1, 3000), (2, 20000)], ids=["one copy", "two copies"])
def test_nothing_acknowledged_is_lost_when_servers_are_killed(
    engine: Engine, tmp_path: Path, copies: int, patience_ms: int
) -> None:
    """Errors name a server that was killed, within the client's patience, and all is back afterwards.

    With two copies transfers do not fail at all.
    """
    options = replace(OPTIONS, copies=copies)
    volume = tmp_path / "volume"
    choose = random.Random(1)
    rounds: list[tuple[float, list[int]]] = []
    fills = 0
    serve(engine, volume, options)
    try:
        with clients_of(engine, volume, 1, patience_ms) as clients:
            for client in clients:
                assert client.stdout is not None
                assert client.stdout.readline() == "ready\n"
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                time.sleep(choose.uniform(0.2, 1.5))
                begin = time.monotonic()
                rounds.append((begin, kill_at_random(engine, volume, options, choose)))
                if copies > 1:
                    filled = scrub(engine, volume)["filled"]
                    fills += len(filled)
                    assert not [each for each in filled if each["reason"]], filled
            found = [json.loads(client.communicate("end\n", timeout=END_S)[0]) for client in clients]
        # Of calls that the kills interrupted.
        strider("listio", "check", volume, "--repair")
        cleaned = strider("listio", "check", volume, "--remove-orphans")
        checked, scrubbed = strider("listio", "check", volume), strider("listio", "scrub", volume)
    finally:
        stop(volume)
    keys = ("calls", "failed", "failed_transfers", "losses", "blocks_compared")
    sums = {key: sum(each[key] for each in found) for key in keys}
    longest_ms = max(each["longest_ms"] for each in found)
    print(f"{len(rounds)} rounds, {fills} fills: {sums}, longest call: {longest_ms} ms")
    assert [mistake for each in found for mistake in each["mistakes"]] == []
    assert sum(each["failed"] for each in found) > 0, "the kills were felt"
    assert sum(each["losses"] for each in found) > 0, "syncs after restarts"
    assert all(each["losses"] <= 2 * len(rounds) for each in found), "one for each restart"
    for each in found:
        for error, tenths in each["errors"].items():
            for time_of_it in tenths:
                require_killed(error, time_of_it, rounds)
    assert all(each["longest_ms"] < 5 * each["patience_ms"] for each in found)
    if copies > 1:
        assert fills > 0
        assert sums["failed_transfers"] == 0
    assert scrubbed.returncode == 0, scrubbed.stdout + scrubbed.stderr
    assert cleaned.returncode == 0, cleaned.stdout + cleaned.stderr
    assert checked.returncode == 0, checked.stdout + checked.stderr
