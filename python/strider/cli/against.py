"""`strider run --against`: a suite and its baseline, alternating, and their comparison."""

import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from strider.cli.compare import FailOn, conclude, conditions
from strider.cli.running import Prepared, RunOptions, display_of, in_child, perform, prepare, present
from strider.errors import ExitCode, StriderError
from strider.units import format_seconds

if TYPE_CHECKING:
    from rich.console import Console

    from strider.compare.chances import Condition
    from strider.compare.history import Experience
    from strider.launch import Interruptions
    from strider.suite.document import Document

_MINIMUM_PAIRS = 3
#: What a run takes besides its measurement, seconds: the launcher's start, its tables and its report.
_OVERHEAD_S = 2.0
_ASSUMED_RATE_MIB_S = 200
_ASSUMED = f"if the targets transfer {_ASSUMED_RATE_MIB_S} MiB/s; the first pair shows the time"


@dataclass(frozen=True)
class Verdicts:
    """What is done with the runs.

    Attributes:
        pairs: Number of runs of each side.
        threshold: As of a comparison.
        fail_on: Conditions that fail it.
        page: HTML page to write, or None.
    """

    pairs: int
    threshold: float
    fail_on: list[FailOn]
    page: Path | None

    @classmethod
    def of(cls, pairs: int, threshold: str, fail_on: list[FailOn] | None, page: Path | None) -> "Verdicts":
        """Reads the options as typed; see `conditions`."""
        return cls(pairs, *conditions(threshold, fail_on), page)


@dataclass
class _Side:
    """One side: what it runs, how long that takes, and the run directories so far."""

    label: str
    prepared: Prepared
    known: "Experience"
    expected_s: float
    done: list[Path]


def run_against(suite: Path, baseline: str, options: RunOptions, verdicts: Verdicts) -> NoReturn:
    """Runs a baseline (A) and a suite (B) alternately, prints their comparison and exits.

    Args:
        suite: The suite of B.
        baseline: A suite, a run or a directory.
        options: Options of all runs.
        verdicts: Number of pairs and what is done with them.

    Raises:
        StriderError: A suite is invalid, or the baseline is none.
    """
    from rich.console import Console

    from strider.launch import interruptions
    from strider.suite.document import read

    console = Console(stderr=True)
    base, known_s = _baseline(suite, baseline, options)
    sides = [_side("A", base, known_s), _side("B", prepare(read(suite), options), None)]
    _announce(sides, verdicts, console)
    with interruptions() as interrupted:
        exit_code = _run_pairs(sides, options, verdicts.pairs, console, interrupted)
    pairs = min(len(side.done) for side in sides)
    names = [",".join(path.name for path in side.done[:pairs]) for side in sides]
    again = f"strider compare {' '.join(names)} --store {sides[0].prepared.store}"
    if exit_code != ExitCode.OK:
        _tell(console, f"{pairs} of {verdicts.pairs} pairs are complete and kept")
        if pairs >= _MINIMUM_PAIRS:
            _tell(console, f"to compare them: {again}")
        raise typer.Exit(int(exit_code))
    _tell(console, f"to compare them again: {again}")
    _compare(sides, options, verdicts)
    raise typer.Exit(0)


def _baseline(suite: Path, name: str, options: RunOptions) -> tuple[Prepared, float | None]:
    """Returns what the baseline runs, and how long its run took if it is one."""
    from strider import store as stored
    from strider.launch.rundir import store
    from strider.suite import ready_made
    from strider.suite.document import read

    path = Path(name)
    if path.is_file() or (name in ready_made() and not path.exists()):
        document = read(path if path.is_file() else ready_made()[name])
        own = document.data.get("suite", {})
        has_target = isinstance(own, dict) and own.get("target")
        return prepare(document, replace(options, target=None) if has_target else options), None
    if path.is_dir() and not (path / "run.json").is_file():
        return prepare(read(suite), replace(options, target=name)), None
    try:
        directory = stored.resolve(store(options.store), name)
    except StriderError as error:
        raise StriderError(
            f"--against {name}: no suite, directory or run of that name ({error.message})"
        ) from None
    return _again(directory, options)


def _again(directory: Path, options: RunOptions) -> tuple[Prepared, float | None]:
    """Returns the suite of a run with its own target and settings, and how long the run took."""
    from strider import store as stored
    from strider.compare.history import duration_s

    run = stored.load(directory)
    clients = ",".join(str(count) for count in dict.fromkeys(case.clients for case in run.plan.cases))
    own = replace(options, settings=list(run.info.set), target=run.plan.target, clients=None)
    prepared = prepare(_suite_of(directory), own)
    if [case.clients for case in prepared.checked.suite.plan.cases] != [
        case.clients for case in run.plan.cases
    ]:
        # Numbers of clients that -n gave are in the plan alone.
        prepared = prepare(_suite_of(directory), replace(own, clients=clients))
    if len(prepared.checked.suite.plan.cases) != len(run.plan.cases):
        raise StriderError(
            f"run {run.id} cannot be repeated: its suite now has {len(prepared.checked.suite.plan.cases)} "
            f"cases, and the run had {len(run.plan.cases)}: name a suite file with --against"
        )
    return prepared, duration_s(run)


def _suite_of(directory: Path) -> "Document":
    from strider.suite.document import read

    return read(directory / "suite.toml")


def _side(label: str, prepared: Prepared, known_s: float | None) -> _Side:
    from strider.compare.history import experience_of
    from strider.suite.estimate import AssumedRates, estimate

    plan = prepared.checked.suite.plan
    known = experience_of(prepared.store, plan.suite.name, plan.target)
    expected_s = known.duration_s or known_s
    if expected_s is None:
        expected_s = estimate(prepared.checked, AssumedRates(_ASSUMED_RATE_MIB_S << 20, 10_000)).seconds
    return _Side(label, prepared, known, expected_s + _OVERHEAD_S, [])


def _announce(sides: Sequence[_Side], verdicts: Verdicts, console: "Console") -> None:
    """Prints what will run, how long it takes, and what the test will decide."""
    from strider.compare.chances import Test, chances_text

    for side in sides:
        plan = side.prepared.checked.suite.plan
        name = f"{side.label}{' (base)' if side.label == 'A' else ''}"
        _tell(console, f"{name}: suite {plan.suite.name} on {plan.target}")
    expected = format_seconds(verdicts.pairs * sum(side.expected_s for side in sides))
    how = "as earlier runs took" if all(side.known.runs for side in sides) else _ASSUMED
    _tell(console, f"{2 * verdicts.pairs} runs in {verdicts.pairs} pairs, about {expected} ({how})")
    rows = sum(len(set(case.operations)) for case in sides[1].prepared.checked.suite.plan.cases)
    widest = max(sides, key=lambda side: side.known.spread or 0.0).known
    known: dict[FailOn, Condition] = {
        FailOn.SLOWER: "slower",
        FailOn.DIFFERENT: "different",
        FailOn.UNPROVEN: "unproven",
    }
    tests = [known[one] for one in verdicts.fail_on if one in known]
    for condition in tests or [known[FailOn.SLOWER]]:
        test = Test(verdicts.pairs, rows, verdicts.threshold, condition)
        for line in chances_text(test, widest.spread, widest.runs):
            _tell(console, line)


def _run_pairs(
    sides: Sequence[_Side], options: RunOptions, pairs: int, console: "Console", interrupted: "Interruptions"
) -> ExitCode:
    """Runs all pairs, each in random order; stops at the first run that is not complete or has errors."""
    from rich.console import Console

    order, started = random.SystemRandom(), time.monotonic()
    notes: Console | None = None
    for pair in range(1, pairs + 1):
        for side in order.sample(list(sides), len(sides)):
            done = sum(len(one.done) for one in sides)
            run_s = (time.monotonic() - started) / done if done else 0.0
            left = f", about {format_seconds(run_s * (2 * pairs - done))} left" if done else ""
            if done == len(sides):
                whole = format_seconds(2 * pairs * run_s)
                _tell(console, f"at the pace of the first pair, {2 * pairs} runs take {whole}")
            _tell(console, f"pair {pair} of {pairs}, {side.label}{left}")
            display = display_of(side.prepared, options, console)
            outcome = perform(side.prepared, display, console, interrupted, notes)
            if outcome.status == "interrupted" or outcome.exit_code != ExitCode.OK:
                return outcome.exit_code or ExitCode.CHECK_FAILED
            is_written = in_child(outcome, partial(present, outcome, options, None, False), interrupted)
            side.done.append(outcome.directory.path)
            if interrupted.received or not is_written:
                return ExitCode.CHECK_FAILED
        notes = Console(stderr=True, quiet=True)  # those of the first pair hold for all
    return ExitCode.OK


def _compare(sides: Sequence[_Side], options: RunOptions, verdicts: Verdicts) -> None:
    """Prints the comparison of all pairs, and exits with code 1 if it meets a condition of --fail-on."""
    from strider import compare as comparing
    from strider import store as stored

    base, other = ([stored.load(path) for path in side.done] for side in sides)
    found = comparing.compare(base, other, threshold=verdicts.threshold)
    conclude(found, verdicts.fail_on, json=options.json, page=verdicts.page)


def _tell(console: "Console", line: str) -> None:
    console.print(line, highlight=False, markup=False, soft_wrap=True)
    sys.stderr.flush()
