"""A killed Strider leaves no launcher and no rank, not even those that hang."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from harness import strider_command, wait_for
from strider.engine import Engine
from strider.launch.confinement import PROGRAM
from strider.processes import command_lines, descendants

SEED = 19
STARTS = 6
"""Runs that are killed at random moments."""
CALLER = """\
import sys
from pathlib import Path
from strider.launch.confinement import Confinement, guard
from strider.launch.launchers import Launcher
from strider.launch.process import start

engine, log, *words = sys.argv[1:]
around = Confinement(guard(Path(engine)))
start(Launcher("env", lambda _: ["env"]), 1, words, Path(log), around).process.wait()
"""
DEAF = "trap '' TERM INT HUP; setsid sh -c \"trap '' TERM INT HUP; sleep 600; :\" & sleep 600; wait"
"""A launcher with a rank in another session; both ignore signals."""
ASKED_TWICE = "trap 'echo asked >> $0; test $(wc -l < $0) -lt 2 || exit' TERM; while :; do sleep 0.1; done"
"""A launcher that ignores the first signal, as one that has not yet started its ranks."""
SUITE = """\
[suite]
name = "killed"
clients = 2
repetitions = 100000
[[case]]
interface = "posix"
pattern = "segmented"
transfer = "64KiB"
block = "1MiB"
"""


def started(engine: Engine, log: Path, *words: str) -> "subprocess.Popen[bytes]":
    """A process that starts a launcher as `strider run` does, without confinement."""
    return subprocess.Popen([sys.executable, "-c", CALLER, str(engine.path), str(log), *words])


def running(pids: list[int]) -> list[int]:
    """Those of the processes that run."""
    found = []
    for pid in pids:
        with suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            found += [] if state in "ZX" else [pid]
    return found


@pytest.fixture
def ended() -> Iterator[list[int]]:
    """Processes that are killed at the end of a test."""
    pids: list[int] = []
    yield pids
    for pid in running(pids):
        os.kill(pid, signal.SIGKILL)


def test_a_launcher_that_ignores_signals_ends_with_its_caller(
    engine: Engine, tmp_path: Path, ended: list[int]
) -> None:
    """With its descendants, also those in other sessions."""
    with started(engine, tmp_path / "log", "sh", "-c", DEAF) as caller:
        wait_for(lambda: len(descendants(caller.pid)) == 5, "the launcher and its rank")
        ended += descendants(caller.pid)
        caller.kill()
    wait_for(lambda: not running(ended), "the end of all processes")


def test_a_launcher_that_loses_a_signal_is_asked_again(
    engine: Engine, tmp_path: Path, ended: list[int]
) -> None:
    """MPICH's mpiexec loses one that arrives at its start; asked again, it ends all ranks."""
    asked = tmp_path / "asked"
    with started(engine, tmp_path / "log", "sh", "-c", ASKED_TWICE, str(asked)) as caller:
        wait_for(lambda: len(descendants(caller.pid)) >= 2, "the launcher")
        wait_for(lambda: (tmp_path / "log").exists(), "the log")
        ended += descendants(caller.pid)
        wait_for(lambda: _handles(descendants(caller.pid)[1], signal.SIGTERM), "the handler")
        caller.kill()
    wait_for(lambda: not running(ended), "the end of all processes")
    assert asked.read_text() == "asked\nasked\n"


@pytest.mark.parametrize("confine", ["auto", "off"])
def test_a_run_that_is_killed_at_its_start_leaves_no_process(tmp_path: Path, confine: str) -> None:
    """At any moment around the start of the launcher."""
    draw = random.Random(SEED)
    suite = tmp_path / "killed.toml"
    suite.write_text(SUITE)
    for number in range(STARTS):
        target = tmp_path / f"target{number}"
        target.mkdir()
        words = ["run", suite, "--target", target, "--store", tmp_path / "store", "--confine", confine]
        command = strider_command(*words, "--ceilings", "none", "--quiet")
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with process:
            wait_for(partial(_below, process.pid, "mpiexec"), "the launcher")
            with suppress(subprocess.TimeoutExpired):
                process.wait(draw.uniform(0, 0.03))
            process.kill()
        wait_for(partial(_has_ended, target), f"the end of the processes of start {number}")


def test_a_launcher_whose_caller_lives_is_not_ended(engine: Engine, tmp_path: Path) -> None:
    """Not even one that takes longer than a launcher of a dead caller may."""
    program = engine.path.resolve().parent / PROGRAM
    script = "trap 'sleep 7; exit 5' TERM; echo; sleep 1 & wait"
    words = [str(program), "--confine", "off", "--", "sh", "-c", script]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        process.terminate()
        assert process.wait(60) == 5


def _below(pid: int, name: str) -> list[int]:
    """Descendants that run a program."""
    found = []
    for child in descendants(pid):
        with suppress(OSError):
            words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            found += [child] if Path(os.fsdecode(words[0])).name == name else []
    return found


def _naming(path: Path) -> list[str]:
    """Command lines of processes that name a path."""
    return [line for _, words in command_lines() if f"{path}/" in (line := " ".join(words))]


def _has_ended(path: Path) -> bool:
    return not _naming(path)


def _handles(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal."""
    text = Path(f"/proc/{pid}/status").read_text()
    (mask,) = (line.split()[1] for line in text.splitlines() if line.startswith("SigCgt"))
    return bool(int(mask, 16) >> (number - 1) & 1)
