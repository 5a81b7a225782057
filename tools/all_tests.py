"""All tests: what compares times with a set truth alone, everything else in one pool, so that waits overlap.

    tools/all_tests.py ENGINE       as tools/test.sh calls it

A step that fails does not keep the others from running. Output of steps beside the Python tests is printed
when they are over. The last lines are a table of the time of each step.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torture
from sanitizers import SANITIZERS

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build" / "test-logs"
PYTHON = str(ROOT / ".strider/venv/bin/python")
WORKERS = 3 * (os.cpu_count() or 1)
"""Python tests wait for most of their time: for servers, ranks and clocks."""
ALONE = (
    "tests/system/calibration",
    "tests/system/lab/test_nodes.py"
    "::test_striping_is_linear_until_the_link_of_the_client_is_full_and_the_knee_is_named",
)
"""Tests that compare rates with a set truth, and need the machine for themselves."""
ALONE_WORKERS = 2
"""Rates are limited far below what a processor can do, so two at a time do not disturb each other."""
AGAIN = "python, those that failed, alone"
"""A test that fails beside others and passes alone fails by chance: mend it at once."""
CI_SHARE = 0.1
"""Of `make torture`, in each run."""


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        name: Its name in the table.
        words: Its command.
        environment: Settings for it.
    """

    name: str
    words: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """The result of a step.

    Attributes:
        name: Its name.
        status: Its exit code.
        seconds: Its duration.
        processor_s: Processor time of its processes.
    """

    name: str
    status: int
    seconds: float
    processor_s: float


class Pool:
    """Runs steps; ends those under way when this process is ended."""

    def __init__(self) -> None:
        self._running: set[int] = set()
        self._is_over = False
        self._lock = threading.Lock()

    def run(self, step: Step, *, is_shown: bool = True) -> Done:
        """Runs a step to its end; shows its output, or keeps it in a file."""
        LOGS.mkdir(parents=True, exist_ok=True)
        if is_shown:
            print(f"\n=== {step.name}", flush=True)
        began = time.monotonic()
        with (LOGS / f"{step.name}.log").open("wb") as log:
            output: dict[str, Any] = {} if is_shown else {"stdout": log, "stderr": subprocess.STDOUT}
            process = self._start(step, output)
        _, status, used = os.wait4(process.pid, 0)
        with self._lock:
            self._running.discard(process.pid)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - began
        return Done(step.name, process.returncode, seconds, used.ru_utime + used.ru_stime)

    def _start(self, step: Step, output: dict[str, Any]) -> "subprocess.Popen[bytes]":
        """Starts a step; `end` comes before it or ends it.

        Raises:
            InterruptedError: No step begins any more.
        """
        with self._lock:
            if self._is_over:
                raise InterruptedError
            environment = os.environ | step.environment
            # Linux shares processors fairly among sessions.
            process = subprocess.Popen(
                step.words, cwd=ROOT, env=environment, start_new_session=True, **output
            )
            self._running.add(process.pid)
            return process

    def run_in_turn(self, steps: Sequence[Step]) -> list[Done]:
        """Runs steps one after the other, each with its output in a file."""
        found: list[Done] = []
        with suppress(InterruptedError):
            for step in steps:
                found.append(self.run(step, is_shown=False))
        return found

    def end(self) -> None:
        """Ends the steps under way; no further one begins."""
        with self._lock:
            self._is_over = True
            for pid in self._running:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGTERM)


def pytest(*words: str, workers: int) -> list[str]:
    """Returns the command of Python tests: whole files go to the workers, the longest ones first."""
    distribution = ["--numprocesses", str(workers), "--dist", "loadfile", "--no-loadscope-reorder"]
    return [PYTHON, "-m", "pytest", "-p", "durations", *distribution, *words]


def steps_beside(build: Path, seed: int) -> list[list[Step]]:
    """Returns what runs beside the Python tests: each list in turn, at the same time as the others."""
    units = Step(
        "engine",
        ["ctest", "--test-dir", str(build), "--no-tests=error", "--output-on-failure", "--parallel", "2"],
        {"PATH": f"{os.environ['PATH']}:{ROOT / '.strider/venv/bin'}"},
    )
    tried = [PYTHON, "tools/torture.py", "--share", str(CI_SHARE), "--seed", str(seed)]
    sanitizer = random.Random(seed).choice(list(SANITIZERS))  # noqa: S311 - no secret
    return [
        [*([units] if (build / "tests/engine").is_dir() else []), Step("torture", tried)],
        [
            Step("compilations", ["tools/compilations.sh", sanitizer]),
            Step(f"sanitizer {sanitizer}", [PYTHON, "tools/sanitizers.py", sanitizer]),
        ],
        [
            Step("mutants", [PYTHON, "tools/mutants.py", "--units", "--sample", "10", "--seed", str(seed)]),
        ],
    ]


def print_log(name: str) -> None:
    """Prints the output of a step beside the Python tests."""
    text = (LOGS / f"{name}.log").read_text(encoding="utf-8", errors="replace")
    print(f"\n=== {name}\n{text}", end="", flush=True)


def run_all(pool: Pool, build: Path, seed: int) -> list[Done]:
    """Runs all steps, and returns their results."""
    found: list[Done] = []
    excluded = [f"--deselect={tests}" for tests in ALONE]
    with ThreadPoolExecutor() as threads:
        beside = [threads.submit(pool.run_in_turn, steps) for steps in steps_beside(build, seed)]
        try:
            found.append(pool.run(Step("lint", ["tools/lint.sh", "check"])))
            found.append(pool.run(Step("python", pytest(*excluded, workers=WORKERS))))
            for future in beside:
                for done in future.result():
                    print_log(done.name)
                    found.append(done)
        except BaseException:
            pool.end()
            raise
    if any(done.name == "python" and done.status == 1 for done in found):
        found.append(pool.run(Step(AGAIN, [PYTHON, "-m", "pytest", "--last-failed"])))
    found.append(pool.run(Step("calibration", pytest(*ALONE, workers=ALONE_WORKERS))))
    return found


def failures(found: Sequence[Done]) -> list[str]:
    """Returns the steps that failed; Python tests that passed alone are only named."""
    passed_alone = any(done.name == AGAIN and done.status == 0 for done in found)
    return [done.name for done in found if done.status and not (done.name == "python" and passed_alone)]


def seed_of_commit() -> int:
    """Returns another seed for each commit, so that what passed before a push passes after it."""
    asked = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return int(commit[:7] or "1", 16)


def print_table(found: Sequence[Done]) -> None:
    """Prints the time of each step, and those that failed."""
    print(f"\n{'seconds':>8} {'processor':>9}  step")
    for done in found:
        failed = "" if done.status == 0 else f"  FAILED ({done.status})"
        print(f"{done.seconds:8.0f} {done.processor_s:9.0f}  {done.name}{failed}")


def main() -> int:
    """Runs all tests."""
    engine = Path(sys.argv[1])
    os.environ["STRIDER_ENGINE"] = str(engine)
    seed = int(os.environ.get(torture.SEED_VARIABLE) or seed_of_commit())
    print(f"{torture.SEED_VARIABLE}={seed} chooses the same mutants, sanitizer and parts of make torture")
    build = engine.parents[1]
    pool = Pool()
    began = time.monotonic()
    found = run_all(pool, build, seed)
    print_table(found)
    print(f"{time.monotonic() - began:8.0f}            all")
    if not (build / "tests/engine").is_dir():
        print("skipped: engine: GoogleTest is missing (Debian package libgtest-dev)")
        if os.environ.get("STRIDER_REQUIRE_ALL") == "1":
            return 1
    failed = failures(found)
    if failed:
        print(f"\nfailed: {' '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    sys.exit(main())
