"""`strider run` with several targets: one repetition in each target after the other, joined to one run."""

import random
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from strider.console import error_console
from strider.errors import ExitCode, StriderError
from strider.running.options import RunOptions
from strider.running.performing import tell_sizes
from strider.running.prepared import Prepared
from strider.running.presenting import in_child, present
from strider.running.sizing import prepare
from strider.running.turns import MINIMUM_ROUNDS, Course, Ended, Side, run_in_turns, tell

if TYPE_CHECKING:
    from rich.console import Console

    from strider.launch import Outcome
    from strider.launch.runner import Status
    from strider.suite.document import Document


def run_targets(suite: Path, targets: Sequence[str], options: RunOptions) -> NoReturn:
    """Runs a suite in several targets, prints the results of all and exits.

    A round has one repetition of every case in each target, in random order.

    Args:
        suite: The suite file.
        targets: The directories.
        options: Options of all runs.

    Raises:
        StriderError: The suite is invalid, or a target cannot be measured.
    """
    from strider.launch import interruptions
    from strider.suite.document import read

    console, document = error_console(), read(suite)
    sides, rounds = _sides(document, targets, options)
    tell_sizes(sides[0].prepared.chosen, console)
    tell(console, f"{rounds} rounds of {len(targets)} targets: {', '.join(targets)}")
    course = _course(sides, rounds)
    with interruptions() as interrupted:
        ended = run_in_turns(sides, course, options, console, interrupted)
        if not any(side.done for side in sides) and ended.broken is None:
            raise typer.Exit(int(ended.exit_code))
        outcome = _joined(document, sides, ended, options)
        written = in_child(outcome, partial(present, outcome, options, None), interrupted)
        _tell_paths(outcome, ended, console)
        exit_code = ended.exit_code if written else ended.exit_code or ExitCode.CHECK_FAILED
        sys.stdout.flush()
        interrupted.settle(int(exit_code))
    raise typer.Exit(int(exit_code))


def _sides(document: "Document", targets: Sequence[str], options: RunOptions) -> tuple[list[Side], int]:
    """Returns what runs in each target, and the number of rounds: the most repetitions of a case."""
    from strider.launch import check_target
    from strider.suite.document import parse
    from strider.suite.sizes import Sizes, largest

    places = [check_target(target).resolve() for target in targets]
    if len(set(places)) < len(places):
        raise StriderError("two of the targets are the same directory: name each directory once")

    def prepared(target: str, settings: Sequence[str], sizes: Sizes | None = None) -> Prepared:
        own = replace(options, target=target, settings=[*options.settings, *settings], ceilings="none")
        # A document takes in the changes of its run.
        return prepare(parse(document.text, document.name), own, sizes)

    first = prepared(targets[0], [])
    rounds = max(case.repetitions.min for case in first.checked.suite.plan.cases)
    sizes = first.sizes
    if sizes:
        # The same work in all targets, long enough in the fastest.
        sizes = largest([sizes, *(prepared(target, []).sizes for target in targets[1:])])
    return [Side(target, prepared(target, ["case.repetitions=1"], sizes), []) for target in targets], rounds


def _course(sides: Sequence[Side], rounds: int) -> Course:
    """Rounds in random order; a round that would end after the suite's time limit does not begin."""
    order = random.SystemRandom()
    limit_s = sides[0].prepared.checked.suite.plan.time_limit_s

    def total(complete: int, elapsed_s: float) -> int:
        is_over = limit_s and complete and elapsed_s * (complete + 1) / complete > limit_s
        return complete if is_over else rounds

    return Course("round", total, lambda _: order.sample(list(sides), len(sides)), lambda *_: True)


def _joined(document: "Document", sides: Sequence[Side], ended: Ended, options: RunOptions) -> "Outcome":
    """Joins all runs to one, removes them, and returns its outcome."""
    from strider import store as stored
    from strider.launch import Outcome
    from strider.launch.rundir import RunDirectory, new_run_id
    from strider.store.join import Joined, Part, join

    done = [
        Part(path, position, number)
        for position, side in enumerate(sides)
        for number, path in enumerate(side.done)
    ]
    if ended.broken is not None:
        target = stored.load(ended.broken).plan.target
        position = [side.prepared.checked.suite.plan.target for side in sides].index(target)
        done.append(Part(ended.broken, position, len(sides[position].done)))
    status = _status(ended)
    plan = sides[0].prepared.checked.suite.plan
    run = new_run_id(plan.suite.name, datetime.now(UTC))
    common = Joined(
        [side.label for side in sides], document.text, options.settings, status, int(ended.exit_code)
    )
    path = join(sides[0].prepared.store.absolute() / run, done, common)
    for part in done:
        shutil.rmtree(part.directory)
    found = stored.load(path)
    return Outcome(RunDirectory(run, path), status, ended.exit_code, "", [], len(found.samples), None)


def _status(ended: Ended) -> "Status":
    """Returns how the last run ended; a signal between two runs interrupts as one within them."""
    from strider import store as stored

    if ended.broken is None:
        return "complete" if ended.exit_code == ExitCode.OK else "interrupted"
    found = stored.load(ended.broken).info.status
    return "complete" if found == "complete" else "interrupted" if found == "interrupted" else "failed"


def _tell_paths(outcome: "Outcome", ended: Ended, console: "Console") -> None:
    tell(console, f"run: {outcome.directory.path}")
    if outcome.directory.report.exists():
        tell(console, f"report: {outcome.directory.report}")
    if ended.rounds >= MINIMUM_ROUNDS:
        tell(console, f"to compare the targets: strider compare {outcome.directory.path} --by target")
