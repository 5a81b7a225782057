"""Which rank ended first, as the kernel reports it."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from strider.launch import first_end
from strider.launch.first_end import RankWatch
from strider.launch.state import RunState

PROGRAM = Path("/proc/self/exe").readlink().name
Ranks = list["subprocess.Popen[bytes]"]


@pytest.fixture
def ranks() -> Iterator[Ranks]:
    """Four processes that wait for a line."""
    words = [f"/proc/{os.getpid()}/exe", "-S", "-c", "input()"]
    started = [subprocess.Popen(words, stdin=subprocess.PIPE) for _ in range(4)]
    yield started
    for each in started:
        each.kill()
        each.communicate()


def run_of(ranks: Ranks, *, node: str = "") -> RunState:
    """A run with these ranks on this host, and one elsewhere."""
    state = RunState(1)
    processes = [[rank, each.pid] for rank, each in enumerate(ranks)]
    nodes = [
        {"name": node or socket.gethostname(), "ranks": len(ranks), "processes": processes},
        {"name": "other.invalid", "ranks": 1, "processes": [[len(ranks), 1]]},
    ]
    state.add({"event": "run", "nodes": nodes})
    return state


def descriptors() -> list[str]:
    """The open descriptors of this process."""
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def kill(ranks: Sequence["subprocess.Popen[bytes]"], number: signal.Signals) -> None:
    for each in ranks:
        os.kill(each.pid, number)
        os.waitid(os.P_PID, each.pid, os.WEXITED | os.WNOWAIT)


@pytest.mark.parametrize("position", range(4))
def test_the_first_end_is_known_also_when_all_have_ended(ranks: Ranks, position: int) -> None:
    state = run_of(ranks)
    with closing(RankWatch(PROGRAM)) as watch:
        watch.look(state)
        assert state.first_end is None
        kill([ranks[position]], signal.SIGTERM)
        kill([each for each in ranks if each is not ranks[position]], signal.SIGKILL)
        watch.look(state)
        assert state.first_end is not None
        assert state.first_end.pid == ranks[position].pid
        assert state.first_end.among == {each.pid for each in ranks}
        ranks[position].wait()
        watch.look(state)
        # Linux reports the status since 6.15.
        assert state.first_end.pid == ranks[position].pid
        assert state.first_end.status in (None, signal.SIGTERM)


def test_the_ranks_of_the_last_start_count(ranks: Ranks) -> None:
    state = run_of(ranks[:2])
    with closing(RankWatch(PROGRAM)) as watch:
        watch.look(state)
        state.nodes = run_of(ranks[2:]).nodes
        watch.look(state)
        kill(ranks, signal.SIGKILL)
        watch.look(state)
        assert state.first_end is not None
        assert state.first_end.pid == ranks[2].pid


@pytest.mark.parametrize("reason", ["another host", "another program", "too many", "ended before"])
def test_without_certainty_none_is_the_first(
    ranks: Ranks, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    state = run_of(ranks, node="another.invalid" if reason == "another host" else "")
    if reason == "too many":
        monkeypatch.setattr(first_end, "MOST_RANKS", len(ranks) - 1)
    if reason == "ended before":
        kill(ranks[:1], signal.SIGKILL)
    before = descriptors()
    with closing(RankWatch("sh" if reason == "another program" else PROGRAM)) as watch:
        watch.look(state)
        assert descriptors() == before
        kill(ranks, signal.SIGKILL)
        watch.look(state)
    assert state.first_end is None


def test_no_descriptor_is_left(ranks: Ranks) -> None:
    before = descriptors()
    with closing(RankWatch(PROGRAM)) as watch:
        watch.look(run_of(ranks))
        assert len(descriptors()) == len(before) + 1 + len(ranks)
    assert descriptors() == before
