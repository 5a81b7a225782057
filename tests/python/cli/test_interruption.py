"""Signals that reach the command line before, and after, the engine measures."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from strider.engine import Engine

SUITE = """\
[suite]
name = "trial"
clients = 1
repetitions = 1
[[case]]
interface = "null"
pattern = "segmented"
transfer = "64KiB"
block = "256KiB"
operations = ["write"]
"""
SIGNALLED = """\
import os, signal, sys
from functools import wraps
from importlib import import_module

def signalled(number, times, module, name):
    what = getattr(import_module(module), name)
    @wraps(what)
    def wrapped(*arguments, **named):
        for _ in range(times):
            os.kill(os.getpid(), getattr(signal, number))
        return what(*arguments, **named)
    setattr(import_module(module), name, wrapped)

signalled({number!r}, {times}, {module!r}, {name!r})
from strider.__main__ import start
sys.exit(start())
"""
"""The command line, in which a function gets signals as it begins."""

Start = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def start(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Runs the suite above; signals come at the beginning of a function."""
    monkeypatch.setenv("STRIDER_ENGINE", str(engine.path))
    suite, target = tmp_path / "trial.toml", tmp_path / "target"
    suite.write_text(SUITE, encoding="utf-8")
    target.mkdir()

    def run(number: str, times: int, module: str, name: str) -> subprocess.CompletedProcess[str]:
        program = SIGNALLED.format(number=number, times=times, module=module, name=name)
        words = [
            "run",
            suite,
            "--target",
            target,
            "--store",
            tmp_path / "store",
            "--ceilings",
            "none",
            "--quiet",
        ]
        return subprocess.run(
            [sys.executable, "-c", program, *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize(
    ("module", "name"), [("strider.engine", "find"), ("strider.launch", "choose_display")]
)
def test_before_the_run_a_line_says_so(start: Start, number: str, module: str, name: str) -> None:
    done = start(number, 1, module, name)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "strider: interrupted\n")


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_results_are_written_all_the_same(start: Start, tmp_path: Path, number: str) -> None:
    done = start(number, 1, "strider.store", "derive")
    assert done.returncode == 0, done.stderr
    assert "write" in done.stdout
    assert done.stderr.count("interrupted; what was measured is kept") == 1
    (run,) = (tmp_path / "store").iterdir()
    assert (run / "samples.parquet").exists()
    assert (run / "report.html").exists()


def test_a_second_signal_ends_at_once(start: Start, tmp_path: Path) -> None:
    done = start("SIGTERM", 2, "strider.store", "derive")
    assert done.returncode == 1
    (run,) = (tmp_path / "store").iterdir()
    assert "interrupted; what was measured is kept" in done.stderr
    assert f"strider report {run}" in done.stderr.splitlines()[-1]
    assert not (run / "samples.parquet").exists()
    assert not list(run.glob(".*"))
