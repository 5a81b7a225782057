"""Cuts runs at random moments by SIGKILL of all their processes, and resumes them until they are complete.

    .strider/venv/bin/python benchmarks/resume.py [RUNS] [SEED]

Every cut run must end with the samples of an uninterrupted one, each once and in the same order, and with an
empty target. Prints what differs; the exit code is 1 if anything does.

Commands run in forked processes, without tables and reports at their end, which take longer than the runs.
"""

import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from strider.cli import main as strider
from strider.processes import descendants
from strider.running import presenting

SUITE = """\
[suite]
name = "cut"
clients = 3
repetitions = 4
[[case]]
interface = ["posix", "mpiio"]
pattern = "segmented"
transfer = "64KiB"
block = "512KiB"
operations = ["write", "read"]
verify = "full"
[[case]]
interface = "posix"
tree = "balanced"
items = 60
clients = 2
operations = ["create", "stat", "unlink"]
"""
OPTIONS = ["--ceilings", "none", "--timeline", "none", "-q"]
CUT_AGAIN = 0.35
"""Share of the resumptions that are cut as well."""
MOST_STARTS = 20
"""A run that is not complete after so many starts is an error."""
DEADLINE_S = 300.0
"""No command takes longer."""

Sample = tuple[int, int, str]
"""Case, repetition, operation."""


class Command:
    """A command of Strider under way, in a session of its own.

    Args:
        words: Its words.
        output: File that its output is added to.
    """

    def __init__(self, words: list[str], output: Path) -> None:
        self.code: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            _execute(words, output)

    def is_over(self) -> bool:
        """Returns whether it has ended."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code is not None

    def wait(self, limit_s: float) -> bool:
        """Waits for its end, up to a time limit in seconds; returns whether it has ended."""
        end = time.monotonic() + limit_s
        while not self.is_over() and time.monotonic() < end:
            time.sleep(0.002)
        return self.is_over()

    def kill_everything(self) -> None:
        """Kills it and all its descendants, also those in other sessions."""
        if self.is_over():
            return
        for pid in [self.pid, *descendants(self.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.wait(DEADLINE_S)


def _execute(words: list[str], output: Path) -> NoReturn:
    """Executes a command in a forked process."""
    code = 3
    try:
        os.setsid()
        opened = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for number in (1, 2):
            os.dup2(opened, number)
        presenting.present = lambda *_: True
        code = strider(words)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


@dataclass
class Trial:
    """A run in a folder of its own."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def target(self) -> Path:
        """The directory that it measures."""
        return self.folder / "target"

    def run_directory(self) -> Path | None:
        """The directory of the run; None before it is there."""
        found = list(self.store.glob("*/run.json"))
        return found[0].parent if found else None

    def start(self) -> Command:
        """Starts the run, or resumes it if it was started before."""
        directory = self.run_directory()
        if directory is None:
            # A kill before there is a run to resume: its folder in the target is for strider clean.
            Command(["clean", str(self.target)], self.folder / "output").wait(DEADLINE_S)
            suite = self.folder / "cut.toml"
            words = ["run", str(suite), "--target", str(self.target), *OPTIONS]
        else:
            words = ["resume", str(directory), "-q"]
        return Command([*words, "--store", str(self.store)], self.folder / "output")

    def samples(self) -> list[Sample]:
        """The samples in the order of the events."""
        directory = self.run_directory()
        file = directory / "events.jsonl" if directory else None
        events = file.read_text(encoding="utf-8").splitlines() if file and file.exists() else []
        # A line that a kill left incomplete is no sample.
        whole = [line for line in events if line.startswith('{"event":"sample"') and line.endswith("}")]
        return [(one["case"], one["repetition"], one["operation"]) for one in map(json.loads, whole)]

    def info(self) -> dict[str, object]:
        directory = self.run_directory()
        return dict(json.loads((directory / "run.json").read_text(encoding="utf-8"))) if directory else {}


@dataclass(frozen=True)
class Whole:
    """An uninterrupted run: its samples in order, and its duration in seconds."""

    samples: list[Sample]
    took_s: float


def make_trial(folder: Path) -> Trial:
    """Makes the folders of a run."""
    trial = Trial(folder)
    trial.target.mkdir(parents=True)
    (folder / "cut.toml").write_text(SUITE, encoding="utf-8")
    return trial


def wait_for_the_moment(command: Command, trial: Trial, whole: Whole, chance: random.Random) -> None:
    """Waits for a random moment: of the start of the ranks, or after a random number of samples."""
    wanted = chance.randrange(-len(whole.samples) // 4, len(whole.samples))
    if wanted < 0:
        command.wait(chance.uniform(0.0, whole.took_s / 2))
        return
    end = time.monotonic() + DEADLINE_S
    while len(trial.samples()) < wanted and not command.wait(0.01) and time.monotonic() < end:
        pass
    command.wait(chance.uniform(0.0, 2 * whole.took_s / len(whole.samples)))


def run_until_complete(trial: Trial, whole: Whole, chance: random.Random) -> Counter[str]:
    """Starts a run, cuts it at a random moment, and resumes it until it is complete; counts what happened."""
    happened: Counter[str] = Counter()
    for start in range(MOST_STARTS):
        command = trial.start()
        if start == 0 or chance.random() < CUT_AGAIN:
            wait_for_the_moment(command, trial, whole, chance)
            happened["over before the cut" if command.is_over() else "cut"] += 1
            command.kill_everything()
            happened["cut among the phases"] += bool(trial.samples()) and "ended" not in trial.info()
        elif not command.wait(DEADLINE_S) or command.code:
            happened[f"exit code {command.code}"] += 1
            command.kill_everything()
        if trial.info().get("status") == "complete":
            break
    return happened


def faults(trial: Trial, expected: list[Sample]) -> list[str]:
    """Returns the errors of a run that was cut and resumed."""
    samples = trial.samples()
    found = []
    if trial.info().get("status") != "complete":
        found.append(f"not complete after {MOST_STARTS} starts")
    if samples != expected:
        missing, more = Counter(expected) - Counter(samples), Counter(samples) - Counter(expected)
        found.append(
            f"missing {dict(missing)}, too many {dict(more)}" if missing or more else "another order"
        )
    found += [f"left in the target: {path.name}" for path in trial.target.iterdir()]
    return found


def main(runs: int, seed: int) -> int:
    """Cuts and resumes runs; returns the exit code."""
    chance = random.Random(seed)  # noqa: S311 - moments, not secrets
    happened: Counter[str] = Counter()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        reference = make_trial(Path(folder) / "reference")
        begin = time.monotonic()
        command = reference.start()
        if not command.wait(DEADLINE_S) or command.code:
            print((reference.folder / "output").read_text(encoding="utf-8"))
            return 1
        whole = Whole(reference.samples(), time.monotonic() - begin)
        print(f"uninterrupted: {len(whole.samples)} samples in {whole.took_s:.1f} s")
        for number in range(runs):
            trial = make_trial(Path(folder) / f"run-{number}")
            happened += run_until_complete(trial, whole, chance)
            found = faults(trial, whole.samples)
            wrong += bool(found)
            for line in found:
                print(f"run {number}: {line}")
            if found:
                print((trial.folder / "output").read_text(encoding="utf-8"))
    print(f"{runs} runs, {wrong} of them wrong; {', '.join(f'{n} {what}' for what, n in happened.items())}")
    return 1 if wrong else 0


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    raise SystemExit(main(count, int(sys.argv[2]) if len(sys.argv) > 2 else 1))
