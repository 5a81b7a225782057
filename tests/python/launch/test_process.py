"""The engine as a process."""

import os
import signal
import time
from pathlib import Path

import pytest

from strider.launch.launchers import Launcher
from strider.launch.process import EngineProcess, start

DEADLINE_S = 60


def launched(tmp_path: Path, *words: str) -> EngineProcess:
    """A program under a launcher that does nothing."""
    return start(Launcher("env", lambda _: ["env"]), 1, list(words), tmp_path / "log")


def wait_for_end(process: EngineProcess) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while process.running():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_process_that_ended_keeps_its_number_until_it_is_killed(tmp_path: Path) -> None:
    """Else another process could have the number by then, and be hit."""
    process = launched(tmp_path, "true")
    wait_for_end(process)
    assert Path(f"/proc/{process.process.pid}").exists()
    assert process.returncode is None
    process.kill()
    assert not Path(f"/proc/{process.process.pid}").exists()
    assert process.returncode == 0


def test_no_signal_is_sent_to_a_process_that_was_reaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = launched(tmp_path, "true")
    wait_for_end(process)
    process.kill()

    def refuse(*_: int) -> None:
        raise AssertionError("a signal to a number that may be another process' by now")

    monkeypatch.setattr(os, "kill", refuse)
    monkeypatch.setattr(os, "killpg", refuse)
    process.interrupt()
    process.kill()
    assert not process.running()


def test_what_the_launcher_left_in_its_group_is_killed_with_it(tmp_path: Path) -> None:
    child = tmp_path / "child"
    process = launched(tmp_path, "sh", "-c", f"sleep 600 & echo $! > {child}")
    wait_for_end(process)
    process.kill()
    pid = int(child.read_text())
    deadline = time.monotonic() + DEADLINE_S
    while is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_interruption_is_the_launchers_signal(tmp_path: Path) -> None:
    # Tests that run in the background may ignore the signal, and their processes inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = launched(tmp_path, "sleep", "600")
    finally:
        signal.signal(signal.SIGINT, before)
    process.interrupt()
    wait_for_end(process)
    process.kill()
    assert process.returncode == -signal.SIGINT


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that waits for being reaped does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return False
