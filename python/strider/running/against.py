"""`strider run --against`: a suite and its baseline, alternating, and their comparison."""

import random
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from strider.console import error_console
from strider.errors import ExitCode, StriderError
from strider.report.words.wording import plural
from strider.running.conclusion import conclude, conditions, show_comparison
from strider.running.options import FailOn, RunOptions, VerdictOptions
from strider.running.performing import tell_sizes
from strider.running.prepared import Prepared
from strider.running.presenting import in_child, present
from strider.running.sizing import prepare
from strider.running.turns import (
    MINIMUM_ROUNDS,
    Course,
    Ended,
    Side,
    again,
    complete_rounds,
    run_in_turns,
    show_runs,
    tell,
)
from strider.units import format_seconds

if TYPE_CHECKING:
    from rich.console import Console

    from strider.compare.chances import Condition
    from strider.compare.foreseen import Planned
    from strider.compare.history import Experience
    from strider.launch import Interruptions, Outcome
    from strider.suite.document import Document
    from strider.suite.sizes import Sizes

#: Time of a run besides its measurement, seconds: the launcher's start, its tables and its report.
_OVERHEAD_S = 2.0
_ASSUMED_RATE_MIB_S = 200
#: Of the reasons why operations cannot be compared; others are counted.
_MOST_REASONS = 3
_ASSUMED = f"if the targets transfer {_ASSUMED_RATE_MIB_S} MiB/s; the first pair shows the time"


@dataclass(frozen=True)
class Verdicts:
    """Actions on the runs.

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
    def of(cls, pairs: int, options: VerdictOptions) -> "Verdicts":
        """Reads the options as typed; see `conditions`."""
        return cls(pairs, *conditions(options.threshold, options.fail_on), options.page)


@dataclass
class _Side(Side):
    """One side, how long its runs take, and the `--set` of the run that it repeats, if it does."""

    known: "Experience"
    expected_s: float
    settings: Sequence[str] = ()


def run_against(suite: Path, baseline: str, options: RunOptions, verdicts: Verdicts) -> NoReturn:
    """Runs a baseline (A) and a suite (B) alternately, prints their comparison and exits.

    Args:
        suite: The suite of B.
        baseline: A suite, a run or a directory.
        options: Options of all runs.
        verdicts: Number of pairs and actions on them.

    Raises:
        StriderError: A suite is invalid, or the baseline is none.
    """
    from strider.launch import interruptions
    from strider.suite.document import read
    from strider.suite.sizes import largest

    console = error_console()
    base, known_s = _baseline(suite, baseline, options)
    other = prepare(read(suite), options, base.sizes if known_s is not None else None)
    if known_s is None and (base.sizes or other.sizes):
        # The same work on both sides, long enough on the faster one.
        sizes = largest([base.sizes, other.sizes])
        base, _ = _baseline(suite, baseline, options, sizes)
        other = prepare(read(suite), options, sizes)
    tell_sizes(list(dict.fromkeys([*base.chosen, *other.chosen])), console)
    sides = [_side("A", base, known_s, _settings_of(baseline, options, known_s)), _side("B", other, None)]
    _refuse_incomparable(sides, baseline, verdicts, console)
    _announce(sides, verdicts, console)
    with interruptions() as interrupted:
        ended = run_in_turns(sides, _course(sides, options, verdicts.pairs), options, console, interrupted)
    tell(console, again(sides, ended, "pairs", verdicts.pairs))
    if ended.exit_code != ExitCode.OK:
        if not options.json:  # a program must not take a part for the whole
            _show_part(sides, ended, verdicts.threshold)
        raise typer.Exit(int(ended.exit_code))
    _compare(sides, options, verdicts)
    raise typer.Exit(0)


def _baseline(
    suite: Path, name: str, options: RunOptions, sizes: "Sizes | None" = None
) -> tuple[Prepared, float | None]:
    """Returns the suite of the baseline, and the time of its run if it is one."""
    from strider import store as stored
    from strider.listing.names import store_of
    from strider.suite import ready_made
    from strider.suite.document import read

    path = Path(name)
    if path.is_file() or (name in ready_made() and not path.exists()):
        document = read(path if path.is_file() else ready_made()[name])
        own = document.data.get("suite", {})
        has_target = isinstance(own, dict) and own.get("target")
        return prepare(document, replace(options, target=None) if has_target else options, sizes), None
    if path.is_dir() and not (path / "run.json").is_file():
        return prepare(read(suite), replace(options, target=name), sizes), None
    try:
        directory = stored.resolve(store_of(options.store), name)
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
    prepared = prepare(_suite_of(directory), own, earlier=run)
    if [case.clients for case in prepared.checked.suite.plan.cases] != [
        case.clients for case in run.plan.cases
    ]:
        # Numbers of clients that -n gave are in the plan alone.
        prepared = prepare(_suite_of(directory), replace(own, clients=clients), earlier=run)
    if len(prepared.checked.suite.plan.cases) != len(run.plan.cases):
        raise StriderError(
            f"run {run.id} cannot be repeated: its suite now has {len(prepared.checked.suite.plan.cases)} "
            f"cases, and the run had {len(run.plan.cases)}: name a suite file with --against"
        )
    return prepared, duration_s(run)


def _settings_of(name: str, options: RunOptions, known_s: float | None) -> list[str]:
    """Returns the settings of the run that a baseline names; none of another baseline."""
    from strider import store as stored
    from strider.listing.names import store_of

    if known_s is None:
        return []
    return list(stored.load(stored.resolve(store_of(options.store), name)).info.set)


def _suite_of(directory: Path) -> "Document":
    from strider.suite.document import read

    return read(directory / "suite.toml")


def _side(label: str, prepared: Prepared, known_s: float | None, settings: Sequence[str] = ()) -> _Side:
    from strider.compare.history import experience_of
    from strider.suite.estimate import AssumedRates, estimate

    plan = prepared.checked.suite.plan
    known = experience_of(prepared.store, plan.suite.name, plan.target)
    expected_s = known.duration_s or known_s
    if expected_s is None:
        expected_s = estimate(prepared.checked, AssumedRates(_ASSUMED_RATE_MIB_S << 20, 10_000)).seconds
    return _Side(label, prepared, [], known, expected_s + _OVERHEAD_S, settings)


def _refuse_incomparable(
    sides: Sequence[_Side], baseline: str, verdicts: Verdicts, console: "Console"
) -> None:
    """Refuses sides whose plans or targets rule a comparison out; prints operations that they rule out.

    Raises:
        StriderError: No operation can be compared, or one cannot and `--fail-on incomparable` is given.
    """
    from strider.compare.foreseen import foresee

    found = foresee(*(_planned(side) for side in sides))
    reasons: dict[str, int] = {}
    for one in found:
        if one.reason:
            reasons[one.reason] = reasons.get(one.reason, 0) + 1
    if not reasons:
        return
    count = sum(reasons.values())
    listed = "; ".join(
        f"{reason} ({plural(number, 'operation')})"
        for reason, number in sorted(reasons.items(), key=lambda item: -item[1])[:_MOST_REASONS]
    )
    more = f"; {len(reasons) - _MOST_REASONS} more reasons" if len(reasons) > _MOST_REASONS else ""
    said = f"{count} of {plural(len(found), 'operation')} cannot be compared: {listed}{more}"
    if count == len(found) or FailOn.INCOMPARABLE in verdicts.fail_on:
        targets = [f"{one.label} is on {one.file_system}" for one in map(_planned, sides)]
        raise StriderError(
            f"--against {baseline}: {said}. Nothing was measured. {_remedy(list(reasons), sides, targets)}"
        )
    tell(console, said)


def _planned(side: _Side) -> "Planned":
    """Returns the facts of a side before it runs."""
    from strider.compare.foreseen import Planned
    from strider.launch.machine import mount_of
    from strider.store.load import planned_cases

    prepared = side.prepared
    plan = prepared.checked.suite.plan
    checked = [case.model_dump() for case in prepared.checked.check.cases]
    cases = planned_cases(plan.to_json(), checked, prepared.inputs.engine.description.model_dump_json())
    mount = mount_of(Path(plan.target))
    return Planned(side.label, cases, mount.kind if mount else "")


def _remedy(reasons: Sequence[str], sides: Sequence[_Side], targets: Sequence[str]) -> str:
    """Returns what to change so that both sides can be compared."""
    if all("in memory" in reason for reason in reasons):
        return f"Choose two targets in memory or two on storage: {' and '.join(targets)}"
    settings = sides[0].settings
    if settings:
        options = " ".join(f"--set {shlex.quote(text)}" for text in settings)
        return f"Give the suite the settings of that run: {options}"
    return "Give both sides the same values, with --set or in the suites; two directories have the same work"


def _announce(sides: Sequence[_Side], verdicts: Verdicts, console: "Console") -> None:
    """Prints the planned runs, their time, and the possible verdicts of the test."""
    from strider.compare.chances import Test, chances_text

    for side in sides:
        plan = side.prepared.checked.suite.plan
        name = f"{side.label}{' (base)' if side.label == 'A' else ''}"
        tell(console, f"{name}: suite {plan.suite.name} on {plan.target}")
    expected = format_seconds(verdicts.pairs * sum(side.expected_s for side in sides))
    how = "as earlier runs took" if all(side.known.runs for side in sides) else _ASSUMED
    tell(console, f"{2 * verdicts.pairs} runs in {verdicts.pairs} pairs, about {expected} ({how})")
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
            tell(console, line)


def _course(sides: Sequence[Side], options: RunOptions, pairs: int) -> Course:
    """Pairs in random order; each run gets its tables and its report."""
    order = random.SystemRandom()

    def finish(outcome: "Outcome", interrupted: "Interruptions") -> bool:
        return in_child(outcome, partial(present, outcome, options, None, False), interrupted)

    return Course("pair", lambda *_: pairs, lambda _: order.sample(list(sides), len(sides)), finish)


def _show_part(sides: Sequence[_Side], ended: Ended, threshold: float) -> None:
    """Prints the comparison of the complete pairs; of less than three the results of each run."""
    from strider import compare as comparing

    if ended.rounds < MINIMUM_ROUNDS:
        show_runs(sides, ended)
        return
    base, other = complete_rounds(sides, ended)
    show_comparison(comparing.compare(base, other, threshold=threshold))


def _compare(sides: Sequence[_Side], options: RunOptions, verdicts: Verdicts) -> None:
    """Prints the comparison of all pairs, and exits with code 1 if it meets a condition of --fail-on."""
    from strider import compare as comparing
    from strider import store as stored

    base, other = ([stored.load(path) for path in side.done] for side in sides)
    found = comparing.compare(base, other, threshold=verdicts.threshold)
    conclude(found, verdicts.fail_on, json=options.json, page=verdicts.page)
