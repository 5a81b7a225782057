"""Servers of a volume are killed and started again at random, while clients use it."""

import os
import random
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kills import client_program, findings, kill_at_random, require_whole_after_repair, working
from strider.engine import Engine
from strider.listio import VOLUME_FILE, ServerOptions, scrub, serve, stop

CLIENTS = 8
SECONDS = float(os.environ.get("STRIDER_KILLS_S", "15"))
OPTIONS = ServerOptions(servers=4, strip_bytes=65536)


def require_killed(error: str, tenths: int, rounds: Sequence[tuple[float, list[int]]]) -> None:
    """The error names a server of the round in which the call failed, or whose loss was seen in the next."""
    begun = [pair for begin, pair in rounds if begin < (tenths + 1) / 10]
    recent = begun if "was started again" in error else begun[-2:]
    named = re.search(r"server (\d) \(", error)
    assert named, error
    assert int(named[1]) in {number for pair in recent for number in pair}, (error, begun)


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
    program = client_program(engine, "strider-listio-kills")
    commands = [[program, volume / VOLUME_FILE, number, CLIENTS, 1, patience_ms] for number in range(CLIENTS)]
    serve(engine, volume, options)
    try:
        with working(commands) as clients:
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                time.sleep(choose.uniform(0.2, 1.5))
                begin = time.monotonic()
                rounds.append((begin, kill_at_random(engine, volume, options, choose)))
                if copies > 1:
                    filled = scrub(engine, volume)["filled"]
                    fills += len(filled)
                    assert not [each for each in filled if each["reason"]], filled
            found = findings(clients)
        require_whole_after_repair(engine, volume)
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
