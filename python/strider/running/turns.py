"""Runs of several sides alternately: each round has every side once."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from strider.console import error_console
from strider.errors import ExitCode
from strider.running.options import RunOptions
from strider.running.performing import display_of, perform
from strider.running.prepared import Prepared
from strider.units import format_seconds

if TYPE_CHECKING:
    from rich.console import Console

    from strider.launch import Interruptions, Outcome
    from strider.store import Run

#: With fewer rounds there is no verdict.
MINIMUM_ROUNDS = 3


@dataclass
class Side:
    """One side: its name, its runs, and its run directories so far."""

    label: str
    prepared: Prepared
    done: list[Path]


@dataclass(frozen=True)
class Course:
    """How the turns go.

    Attributes:
        noun: The name of a round: `pair` or `round`.
        total: Returns the number of rounds, from the number of complete ones and the seconds that they took.
        order: Returns the sides of a round in their order, from its number (the first is 1).
        finish: Called after each run; returns whether to continue.
    """

    noun: str
    total: "Callable[[int, float], int]"
    order: "Callable[[int], Sequence[Side]]"
    finish: "Callable[[Outcome, Interruptions], bool]"


@dataclass(frozen=True)
class Ended:
    """How the turns ended.

    Attributes:
        exit_code: That of the last run.
        rounds: Number of complete rounds.
        broken: The run directory of the run that ended them early, or None.
    """

    exit_code: ExitCode
    rounds: int
    broken: Path | None = None


def run_in_turns(
    sides: Sequence[Side],
    course: Course,
    options: RunOptions,
    console: "Console",
    interrupted: "Interruptions",
    notes: "Console | None" = None,
) -> Ended:
    """Runs all rounds; stops at the first run that is not complete or has errors.

    Args:
        sides: All sides; their run directories are added to them.
        course: How the turns go.
        options: Options of all runs.
        console: Receives errors and the progress.
        interrupted: Signals received.
        notes: Receives the notes of the first round; None for the console.
    """
    started, complete = time.monotonic(), 0
    while complete < (total := course.total(complete, time.monotonic() - started)):
        for side in course.order(complete + 1):
            _announce(
                sides,
                side,
                course.noun,
                console,
                number=complete + 1,
                total=total,
                elapsed_s=time.monotonic() - started,
            )
            outcome = perform(
                side.prepared, display_of(side.prepared, options, console), console, interrupted, notes
            )
            if outcome.status == "interrupted" or outcome.exit_code != ExitCode.OK:
                return Ended(outcome.exit_code or ExitCode.CHECK_FAILED, complete, outcome.directory.path)
            goes_on = course.finish(outcome, interrupted)
            side.done.append(outcome.directory.path)
            if interrupted.received or not goes_on:
                return Ended(ExitCode.CHECK_FAILED, min(len(one.done) for one in sides))
        notes = error_console(quiet=True)  # those of the first round hold for all
        complete += 1
    return Ended(ExitCode.OK, complete)


def _announce(
    sides: Sequence[Side],
    side: Side,
    noun: str,
    console: "Console",
    *,
    number: int,
    total: int,
    elapsed_s: float,
) -> None:
    """Prints which run begins, and about how long all of them take."""
    done, runs = sum(len(one.done) for one in sides), total * len(sides)
    run_s = elapsed_s / done if done else 0.0
    if done == len(sides):
        tell(console, f"at the pace of the first {noun}, {runs} runs take {format_seconds(runs * run_s)}")
    left = f", about {format_seconds(run_s * (runs - done))} left" if done else ""
    tell(console, f"{noun} {number} of {total}, {side.label}{left}")


def again(sides: Sequence[Side], ended: Ended, noun: str, wanted: int) -> str:
    """Returns the command that compares the runs again; of an interrupted measurement also the kept runs."""
    names = [",".join(path.name for path in side.done[: ended.rounds]) for side in sides]
    command = f"strider compare {' '.join(names)} --store {sides[0].prepared.store}"
    if ended.exit_code == ExitCode.OK:
        return f"to compare them again: {command}"
    kept = f"{ended.rounds} of {wanted} {noun} are complete and kept"
    return f"{kept}\nto compare them: {command}" if ended.rounds >= MINIMUM_ROUNDS else kept


def complete_rounds(sides: Sequence[Side], ended: Ended) -> "list[list[Run]]":
    """Returns the runs of each side, of complete rounds only."""
    from strider import store as stored

    return [[stored.load(path) for path in side.done[: ended.rounds]] for side in sides]


def show_runs(sides: Sequence[Side], ended: Ended) -> None:
    """Prints the results of the runs of an interrupted measurement that has too few rounds to compare."""
    measured = [path for side in sides for path in side.done] + ([ended.broken] if ended.broken else [])
    for path in sorted(measured, key=lambda one: one.name):
        _show_run(path)


def _show_run(directory: Path) -> None:
    """Prints the results of a run, if it has any."""
    from strider import store as stored
    from strider.console import output
    from strider.report import show
    from strider.report.results.results import Results

    run = stored.load(directory)
    if run.samples:
        console = output()
        console.print(f"{run.id}, target {run.plan.target}", highlight=False, markup=False, soft_wrap=True)
        show(Results(run), console)


def tell(console: "Console", line: str) -> None:
    """Prints a line of progress."""
    console.print(line, highlight=False, markup=False, soft_wrap=True)
    sys.stderr.flush()
