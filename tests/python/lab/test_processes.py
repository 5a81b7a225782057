"""Processes of a lab are found and stopped; others never are."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from strider.lab.processes import GRACE_S, MARK_VARIABLE, marked, working_in
from strider.processes import Process, identify, is_alive, stop

MARK, OTHER_MARK = f"mark-of-test-{os.getpid()}", f"mark-of-another-lab-{os.getpid()}"
"""Of this process alone: the tests may run several times on a machine."""

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts processes that do not outlive the test."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*words: str, **environment: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(words, env={**os.environ, **environment}, stdout=subprocess.PIPE)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def known(process: subprocess.Popen[bytes]) -> Process:
    found = identify(process.pid, "daemon")
    assert found is not None
    return found


def test_a_process_ends_when_asked(start: Start) -> None:
    process = start("sleep", "60")
    assert stop([known(process)], GRACE_S) == []
    assert process.wait() == -15


def test_one_that_does_not_listen_is_killed(start: Start) -> None:
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    process = start(sys.executable, "-c", deaf)
    assert process.stdout is not None
    process.stdout.readline()
    assert stop([known(process)], GRACE_S) == []
    assert process.wait() == -9


def test_another_process_with_the_number_of_one_that_has_ended_is_left_alone(start: Start) -> None:
    process = start("sleep", "60")
    before = known(process).model_copy(update={"start_ticks": known(process).start_ticks - 1})
    assert not is_alive(before)
    assert stop([before], GRACE_S) == []
    assert process.poll() is None


def test_a_process_that_has_ended_is_not_alive(start: Start) -> None:
    process = start("sleep", "60")
    before = known(process)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, but its number still taken
    assert not is_alive(before)
    assert stop([before], GRACE_S) == []


def test_what_a_daemon_starts_by_itself_is_found_by_its_mark(start: Start) -> None:
    daemon = start("sh", "-c", "sleep 60 & echo started; wait", **{MARK_VARIABLE: MARK})
    start("sleep", "60", **{MARK_VARIABLE: OTHER_MARK})
    assert daemon.stdout is not None
    daemon.stdout.readline()
    end = time.monotonic() + 60
    while {each.name for each in marked(MARK)} != {"sh", "sleep"}:
        assert time.monotonic() < end
    found = list(marked(MARK))
    assert len(found) == 2
    assert stop(found, GRACE_S) == []
    assert list(marked(MARK)) == []
    assert len(list(marked(OTHER_MARK))) == 1


def test_a_process_without_mark_is_found_by_name_and_place(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"], cwd=tmp_path) as process:
        try:
            # The kernel names a process a moment after Popen has returned.
            name, deadline = Path(f"/proc/{process.pid}/comm"), time.monotonic() + 30
            while name.read_text(encoding="utf-8") != "sleep\n" and time.monotonic() < deadline:
                time.sleep(0.01)
            assert [found.pid for found in working_in(tmp_path, ["sleep"])] == [process.pid]
            assert list(working_in(tmp_path, ["cat"])) == []
            assert list(working_in(tmp_path.parent, ["sleep"])) == []
        finally:
            process.kill()
