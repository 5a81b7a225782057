"""Comparing two sides of runs, or the values of a key within one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from strider.compare.circumstances import about, remarks
from strider.compare.history import History
from strider.compare.judge import Opponents, judge, settle
from strider.compare.labels import Labels
from strider.compare.measured import Taken, taken_of
from strider.compare.metrics import METRICS, Metric
from strider.compare.model import Comparison, Method, Row, Side
from strider.compare.values import By, same_work_remedy, several_of, values_of
from strider.compare.work import items, match
from strider.errors import StriderError
from strider.statistics import MINIMUM_FOR_RATIO
from strider.store.model import Run


def compare(
    base: Sequence[Run],
    other: Sequence[Run],
    metrics: Sequence[str] = ("rate",),
    threshold: float = 0.0,
    history: History | None = None,
) -> Comparison:
    """Compares runs: two systems, two versions, two moments.

    Cases are matched by everything that defines their work; targets, machines and numbers of repetitions
    may differ. With several runs on each side each is one measurement, so that differences between runs
    are part of the uncertainty. With one run on each side only earlier runs show these; without them there
    is no verdict.

    Args:
        base: The runs of side A: one, or at least 3 of the same suite.
        other: Those of side B: one if `base` is one, else at least 3.
        metrics: Names of `METRICS`.
        threshold: A share from 0 to below 1: what differs by less is no difference.
        history: Earlier runs of both sides, as found by `history_of`; used for two single runs alone.

    Returns:
        A row for each operation of each case of either side, and for each metric.

    Raises:
        StriderError: The numbers of runs do not go together, or a name or number is wrong.
    """
    chosen = _metrics(metrics)
    _check_threshold(threshold)
    _check_counts(base, other)
    method = _method(base, other)
    earlier = history or History()
    sides = Opponents(
        taken_of(base), taken_of(other), "A", "B", method, (taken_of(earlier.base), taken_of(earlier.other))
    )
    matches = match(sides.base[0].items, sides.other[0].items)
    labels = Labels.of([one.item for one in matches])
    rows = [
        replace(judge(one, metric, sides, threshold), labels=labels.of_item(one.item))
        for metric in chosen
        for one in matches
    ]
    settled, overall = settle(rows, threshold)
    both = [
        Side("A", [run.id for run in base], about(base)),
        Side("B", [run.id for run in other], about(other)),
    ]
    said = remarks(base, other, method, settled, threshold)
    return Comparison(
        sides=both,
        by="",
        threshold=threshold,
        metrics=chosen,
        rows=settled,
        remarks=said,
        constants=labels.constants,
        overall=overall,
    )


def compare_within(
    run: Run, by: str, metrics: Sequence[str] = ("rate",), threshold: float = 0.0
) -> Comparison:
    """Compares what differs in one key within a run: interfaces, methods, orders, transfer sizes.

    Where the run was interleaved, repetitions of the same round are compared with each other, so that drift
    does not pass for a difference.

    Args:
        run: The run.
        by: A key of a suite, such as `interface` or `posix.direct`: its first value in the plan is the base.
            Or with the values to compare, the base first: `interface=posix,mpiio`.
        metrics: Names of `METRICS`.
        threshold: As by `compare`.

    Raises:
        StriderError: No case has the key, or it has but one value, or not the named ones.
    """
    chosen = _metrics(metrics)
    _check_threshold(threshold)
    key = By.parse(by)
    values = values_of(run, key)
    method: Method = "paired by round" if run.plan.interleave == "random" else "unpaired"
    base, *others = values
    base_items = items(base.cases, key.is_compared)
    labels = Labels.of(base_items, without=key.key)
    taken = Taken.of(run, [])
    rows: list[Row] = []
    for other in others:
        sides = Opponents([taken], [taken], base.label, other.label, method)
        for one in match(base_items, items(other.cases, key.is_compared)):
            known = labels if one.base else Labels.of([one.item], key.key)
            said = known.of_item(one.item)
            rows += [replace(judge(one, metric, sides, threshold), labels=said) for metric in chosen]
    settled, overall = settle(rows, threshold)
    remedy = same_work_remedy(values, key.key, settled)
    return Comparison(
        sides=[Side(value.label, [run.id], about([run])) for value in values],
        by=key.key,
        threshold=threshold,
        metrics=chosen,
        rows=settled,
        remarks=[*([remedy] if remedy else []), *remarks([run], [run], method, settled, threshold)],
        constants=labels.constants,
        overall=overall,
    )


def comparable_keys(run: Run) -> list[str]:
    """Returns the keys with several values in a run that have at least one operation in common."""
    return [key for key in several_of(run) if _has_pair(run, By.parse(key))]


def _has_pair(run: Run, key: By) -> bool:
    base, *others = values_of(run, key)
    base_items = items(base.cases, key.is_compared)
    return any(
        one.base and one.other
        for other in others
        for one in match(base_items, items(other.cases, key.is_compared))
    )


def _metrics(names: Sequence[str]) -> list[Metric]:
    unknown = [name for name in names if name not in METRICS]
    if unknown or not names:
        wrong = f'no metric "{unknown[0]}"' if unknown else "no metric"
        raise StriderError(f"{wrong}: choose one of {', '.join(METRICS)}")
    return [METRICS[name] for name in dict.fromkeys(names)]


def _check_threshold(threshold: float) -> None:
    if not 0 <= threshold < 1:
        raise StriderError(
            f'the threshold {threshold:g} is out of range: write a share from 0 to below 1, for example "5%"'
        )


def _check_counts(base: Sequence[Run], other: Sequence[Run]) -> None:
    counts = (len(base), len(other))
    if counts != (1, 1) and min(counts) < MINIMUM_FOR_RATIO:
        raise StriderError(
            f"cannot compare {counts[0]} with {counts[1]} runs: name one run on each side, or at least "
            f"{MINIMUM_FOR_RATIO} on each; then each run counts as one measurement"
        )
    for side in (base, other):
        if len({run.id for run in side}) < len(side):
            raise StriderError("a run is named twice on one side: name each run once")


def _method(base: Sequence[Run], other: Sequence[Run]) -> Method:
    if len(base) == 1:
        return "unpaired"
    return "paired by run" if _in_turns(base, other) else "unpaired by run"


def _in_turns(base: Sequence[Run], other: Sequence[Run]) -> bool:
    """Whether the runs of each side are in the order of time, and the n-th of both are next to each other."""
    if len(base) != len(other):
        return False
    started = [
        (run.info.started, position)
        for position, pair in enumerate(zip(base, other, strict=True))
        for run in pair
    ]
    return [position for _, position in sorted(started)] == [position for _, position in started]
