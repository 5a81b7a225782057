"""Sentences with unknown names have no holes."""

import itertools
import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from strider.launch.confinement import Confinement
from strider.launch.deaths import cause_of_death
from strider.launch.messages import messages
from strider.launch.nodes import run_clock_note
from strider.launch.runner import _tell_confinement
from strider.launch.state import RunState, Unanswered
from strider.statistics.stragglers import node_name
from strider.store import Run

HOLE = re.compile(r"  | [,.:;)]|\(\)|[,:(] *$|: :|, ,|\b(on|of|in|to|node) *([,.:;)]|$)")


def assert_whole(text: str) -> None:
    assert text
    assert not HOLE.search(text), text


def test_a_hole_is_found() -> None:
    for text in ("confined : ", "rank 0 on  waited", "node  was lost", "killed on", "in case 1 (): no"):
        assert HOLE.search(text)


@pytest.mark.parametrize(
    "found", [{"state": "", "missing": ""}, {"state": "partly", "missing": ""}, {"state": ""}]
)
def test_an_unknown_confinement(found: dict[str, str]) -> None:
    lines: list[str] = []
    state = RunState(1)
    state.confinement = found
    _tell_confinement(state, Confinement(), lines.append)
    assert_whole(lines[0])


@pytest.mark.parametrize("empty", list(itertools.product([True, False], repeat=3)))
def test_errors_of_a_rank_without_a_name(empty: tuple[bool, ...]) -> None:
    host, call, file = ("" if is_empty else "known" for is_empty in empty)
    error = {
        "kind": "io",
        "rank": 0,
        "host": host,
        "call": call,
        "file": file,
        "message": "waited 9 s",
        "errno": 0,
    }
    for more in ({}, {"case": 1, "operation": "write", "repetition": 0}, {"remedy": ""}, {"remedy": "wait"}):
        for events in ([{**error, **more}], [{**error, **more, "rank": rank} for rank in range(3)]):
            (line,) = messages(cast(Any, events), {1: 4})
            assert_whole(line)


@pytest.mark.parametrize(
    "log", ["", "Connection to n3 closed by remote host.", "srun: error: n3: task 0: Killed"]
)
@pytest.mark.parametrize("status", [None, -9, 9, 139, 1])
def test_the_end_of_ranks_whose_nodes_have_no_names(log: str, status: int | None) -> None:
    for name, unanswered in itertools.product(["", "n3"], [None, Unanswered(["n3"], "")]):
        state = RunState(1, unanswered=unanswered)
        state.nodes = [{"name": name, "ranks": 2, "processes": [[0, 7], [1, 8]]}]
        for case in (0, 1):
            state.case = case
            assert_whole(cause_of_death(status, state, log))


def test_nodes_without_names() -> None:
    run = SimpleNamespace(start=SimpleNamespace(nodes=[SimpleNamespace(name="")]))
    assert node_name(cast(Run, run), 0) == "node 0"
    nodes = [{"name": "", "time_of_day_offset_s": off_s} for off_s in (0.0, 0.0, 4.0)]
    assert_whole(run_clock_note({"event": "run", "nodes": nodes}))
