"""Signals that reach the command line before, and after, the engine measures."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from strider.engine import Engine

pytestmark = pytest.mark.slow

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
import os, signal, sys, time
from functools import wraps
from importlib import import_module

command = os.getpid()

def signalled(number, times, module, name):
    what = getattr(import_module(module), name)
    @wraps(what)
    def wrapped(*arguments, **named):
        for _ in range(times):
            os.kill(command, getattr(signal, number))
            time.sleep(0.2)
        return what(*arguments, **named)
    setattr(import_module(module), name, wrapped)

signalled({number!r}, {times}, {module!r}, {name!r})
from strider.__main__ import start
sys.exit(start())
"""
"""The command line, in which a function gets signals as it begins."""

Execute = Callable[[str], subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def execute(engine_in_use: Engine, tmp_path: Path) -> Execute:
    """Runs the suite above by a program that changes the command line first."""
    suite, target = tmp_path / "trial.toml", tmp_path / "target"
    suite.write_text(SUITE, encoding="utf-8")
    target.mkdir()
    words = ["run", suite, "--target", target, "--store", tmp_path / "store", "--ceilings", "none", "-q"]

    def run(program: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    return run


@pytest.fixture
def start(execute: Execute) -> Start:
    """Runs the suite above; signals come at the beginning of a function."""
    return lambda number, times, module, name: execute(
        SIGNALLED.format(number=number, times=times, module=module, name=name)
    )


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize(
    ("module", "name"), [("strider.engine", "find"), ("strider.launch", "choose_display")]
)
def test_before_the_run_a_line_says_so(start: Start, number: str, module: str, name: str) -> None:
    done = start(number, 1, module, name)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "strider: interrupted\n")


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
@pytest.mark.usefixtures("whole_runs")
def test_results_are_written_all_the_same(start: Start, tmp_path: Path, number: str) -> None:
    done = start(number, 1, "strider.store", "derive")
    assert done.returncode == 0, done.stderr
    assert "write" in done.stdout
    assert done.stderr.count("interrupted; the measurement is kept") == 1
    (run,) = (tmp_path / "store").iterdir()
    assert (run / "samples.parquet").exists()
    assert (run / "report.html").exists()


@pytest.mark.usefixtures("whole_runs")
def test_a_second_signal_ends_at_once(start: Start, tmp_path: Path) -> None:
    done = start("SIGTERM", 2, "strider.store", "derive")
    assert done.returncode == 1
    (run,) = (tmp_path / "store").iterdir()
    assert "interrupted; the measurement is kept" in done.stderr
    assert f"strider report {run}" in done.stderr.splitlines()[-1]
    assert not (run / "samples.parquet").exists()
    assert not list(run.glob(".*"))


FAILING = """\
import os, signal, sys
from importlib import import_module

def fail(*_arguments, **_named):
    {failure}

setattr(import_module({module!r}), {name!r}, fail)
from strider.__main__ import start
sys.exit(start())
"""
"""The command line, in which a function fails."""

Fail = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def fail(execute: Execute) -> Fail:
    """Runs the suite above while a function of the presentation fails."""
    return lambda module, name, failure: execute(FAILING.format(module=module, name=name, failure=failure))


@pytest.mark.usefixtures("whole_runs")
def test_a_report_that_cannot_be_written_costs_the_report_alone(fail: Fail, tmp_path: Path) -> None:
    done = fail("strider.report.output.page", "write_whole", "raise OSError(28, 'No space left on device')")
    assert done.returncode == 1
    assert "null" in done.stdout
    assert "error: cannot write the report" in done.stderr
    assert "No space left on device; all measured data is in" in done.stderr
    (run,) = (tmp_path / "store").iterdir()
    assert '"status": "complete"' in (run / "run.json").read_text(encoding="utf-8")


@pytest.mark.usefixtures("whole_runs")
def test_tables_that_cannot_be_derived_cost_neither_results_nor_report(fail: Fail, tmp_path: Path) -> None:
    done = fail("strider.store", "derive", "raise RuntimeError('first\\nsecond')")
    assert done.returncode == 1
    assert "null" in done.stdout
    assert "error: cannot write the run's tables: RuntimeError: first;" in done.stderr
    (run,) = (tmp_path / "store").iterdir()
    assert (run / "report.html").exists()


@pytest.mark.usefixtures("whole_runs")
def test_a_library_that_ends_the_process_costs_the_results_alone(fail: Fail, tmp_path: Path) -> None:
    done = fail("strider.store", "derive", "os.kill(os.getpid(), signal.SIGSEGV)")
    assert done.returncode == 1
    assert (
        "error: the process that writes the results was killed by SIGSEGV; all measured data is in"
        in done.stderr
    )
    (run,) = (tmp_path / "store").iterdir()
    assert f"report: strider report {run}" in done.stderr


def test_without_memory_a_line_says_which_limit(engine: Engine, tmp_path: Path) -> None:
    program = "import resource, sys\nfrom strider import cli\ndef none(*_, **__): raise MemoryError\n"
    program += "resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))\n"
    program += "cli.app = none\nfrom strider.__main__ import start\nsys.exit(start())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    expected = "strider: error: out of memory (ulimit -v allows 8192 MiB of address space)\n"
    assert (done.returncode, done.stderr) == (3, expected)


IN_C = """\
import ctypes, sys
from importlib import import_module

def interrupted(*_arguments, **_named):
    # As C libraries run Python code; the interpreter notes that an interruption passed through.
    run = ctypes.pythonapi.PyRun_String
    run.restype = ctypes.py_object
    run.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.py_object, ctypes.py_object]
    code = b"import os, signal, time; os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)"
    run(code, 257, {}, {})

setattr(import_module("strider.engine"), "find", interrupted)
from strider.__main__ import start
sys.exit(start())
"""
"""The command line, interrupted while a library written in C runs code."""


def test_an_interruption_within_a_library_gives_the_exit_code_too(tmp_path: Path) -> None:
    suite = tmp_path / "trial.toml"
    suite.write_text(SUITE, encoding="utf-8")
    # A module, as `./strider` runs it: after a command of `-c` the interpreter asks for no such note.
    (tmp_path / "interrupted.py").write_text(IN_C, encoding="utf-8")
    words = [sys.executable, "-m", "interrupted", "run", str(suite), "--target", str(tmp_path)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (3, "strider: interrupted\n")
