"""From the measurements of two sides to a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean

from strider.compare import foreseen
from strider.compare.measured import Found, Taken, find, past
from strider.compare.metrics import Metric
from strider.compare.model import Change, Measured, Method, Overall, Row, Verdict
from strider.compare.overall import overall_of
from strider.compare.trusting import LEAST_RUNS, SHORT, apart_s, reason_of, trust_of
from strider.compare.work import Item, Match
from strider.statistics import (
    MINIMUM_FOR_RATIO,
    Ratio,
    adjust,
    describe,
    paired_ratio,
    ratio_by_history,
    simes,
    unpaired_ratio,
)
from strider.statistics.exceeding import file_system_of
from strider.statistics.trust import SHORT_S, is_trusted

#: Adjusted p-values below this are differences.
SIGNIFICANT = 0.05
NO_DIFFERENCE: Verdict = "no difference shown"
NO_VERDICT: Verdict = "no verdict"
NOT_COMPARABLE: Verdict = "not comparable"


@dataclass(frozen=True)
class Opponents:
    """Two sides and how their measurements are set against each other.

    Attributes:
        history: Earlier runs under the conditions of each side, where both are single runs.
    """

    base: Sequence[Taken]
    other: Sequence[Taken]
    base_label: str
    other_label: str
    method: Method
    history: tuple[Sequence[Taken], Sequence[Taken]] = ((), ())

    @property
    def is_one_run(self) -> bool:
        """Whether both sides are of one run."""
        return self.base[0].run.id == self.other[0].run.id

    @property
    def apart_s(self) -> float:
        """How far apart earlier runs must be to count, seconds."""
        return apart_s(self.base[0].run, self.other[0].run)


#: Metrics that start-up is a part of; percentiles of single requests are not.
_OF_TIME = frozenset({"rate", "first-done"})


def judge(match: Match, metric: Metric, sides: Opponents, threshold: float) -> Row:
    """Compares one operation; the verdict is preliminary until `settle` has seen all rows."""
    base, found_base = _side(match.base, sides.base, sides.base_label, metric)
    other, found_other = _side(match.other, sides.other, sides.other_label, metric)
    row = Row({}, match.item.operation, metric, base, other, None, NOT_COMPARABLE)
    row = replace(row, has_failed=found_other.zeros > 0, notes=_cache_notes(found_base, found_other, sides))
    reason = _obstacle(match, found_base, found_other, sides)
    if reason:
        return replace(row, reason=reason)
    row = replace(row, is_short=metric.name in _OF_TIME and _are_short(found_base, found_other))
    rounds, pair = _set_against(found_base, found_other, sides.method)
    least = min(len(pair[0]), len(pair[1]))
    if least < MINIMUM_FOR_RATIO:
        return replace(row, reason=_too_few(pair, sides.method))
    if sides.method.startswith("paired"):
        logs = {key: math.log(b / a) for key, a, b in zip(rounds, *pair, strict=True)}
        ratio = paired_ratio(*pair, metric.resolution)
        return _judged(replace(row, logs=logs), ratio, sides, sides.method, least, threshold)
    ratio = unpaired_ratio(*pair, metric.resolution)
    if sides.method == "unpaired" and not sides.is_one_run:
        known = _by_history(match, metric, sides, pair, ratio)
        if known is not None:
            return _judged(row, known[0], sides, "by history", known[1], threshold)
    return _judged(row, ratio, sides, sides.method, least, threshold)


def _are_short(base: Found, other: Found) -> bool:
    """Whether start-up and scheduling are a large share of all repetitions of a side."""
    return min(base.longest_s, other.longest_s) < SHORT_S


def _cache_notes(base: Found, other: Found, sides: Opponents) -> list[str]:
    """That rates of a row are those of memory."""
    cached = [
        label for found, label in ((base, sides.base_label), (other, sides.other_label)) if found.is_cached
    ]
    return [f"{' and '.join(cached)} read from cache"] if cached else []


def _judged(row: Row, ratio: Ratio, sides: Opponents, method: Method, n: int, threshold: float) -> Row:
    trust = trust_of(method, n, sides.is_one_run, row.is_short)
    if not is_trusted(trust):
        change = Change.of(ratio, method, n, math.nan)
        reason = SHORT if row.is_short else reason_of(method, n, sides.is_one_run, sides.apart_s)
        return replace(row, change=change, verdict=NO_VERDICT, reason=reason, trust=trust)
    change = Change.of(ratio, method, n, float(ratio.p_value(threshold)))
    return replace(row, change=change, verdict=NO_DIFFERENCE, trust=trust)


def _by_history(
    match: Match,
    metric: Metric,
    sides: Opponents,
    pair: tuple[Sequence[float], Sequence[float]],
    within: Ratio,
) -> tuple[Ratio, int] | None:
    """The ratio of two single runs with what earlier runs show, and their number; None where they are few.

    Where the two sides have different conditions, the side with the larger variance or with fewer runs
    decides: knowledge of the better side makes no verdict easier.
    """
    import numpy as np

    ratios = []
    for item, earlier in zip((match.base, match.other), sides.history, strict=True):
        values = past(earlier, item, metric, sides.apart_s) if item else []
        if len(values) < LEAST_RUNS:
            return None
        ratio = ratio_by_history(geometric_mean(pair[0]), geometric_mean(pair[1]), values, metric.resolution)
        ratios.append((ratio, len(values)))
    widest = max(ratios, key=lambda one: float(one[0].error))[0]
    fewest = min(ratios, key=lambda one: one[1])[1]
    # Repetitions that vary more than whole runs did make the runs' own values uncertain.
    error = np.maximum(widest.error, within.error)
    return replace(widest, error=error, freedom=np.asarray(fewest - 1.0)), fewest


def settle(rows: Sequence[Row], threshold: float) -> tuple[list[Row], list[Overall]]:
    """Adjusts the p-values of all rows for their number, and gives the verdicts of the rows and of the suite.

    The rows and the suite share the risk of a false difference: each is named only if one of the two groups
    alone would be at half of the level, or both are (Simes 1986).
    """
    judged = [row for row in rows if row.change is not None and is_trusted(row.trust)]
    of_rows = adjust([row.change.p_value for row in judged if row.change]).tolist()
    overall = overall_of(judged, threshold)
    of_suite = adjust([one.change.p_value for one in overall]).tolist()
    gate = float(simes(min(of_rows, default=1.0), min(of_suite))) if overall else 0.0
    of_rows, of_suite = ([max(p, gate) for p in found] for found in (of_rows, of_suite))
    named = sum(p < SIGNIFICANT for p in of_rows)
    level = 1 - SIGNIFICANT * named / len(judged) if judged else 0.0
    adjusted = iter(of_rows)
    settled = [
        _settled(row, row.change, next(adjusted), threshold, level)
        if row.change is not None and is_trusted(row.trust)
        else row
        for row in rows
    ]
    return settled, [
        replace(
            one,
            change=replace(one.change, p_adjusted=p),
            verdict=_named(one.change, one.metric) if p < SIGNIFICANT else NO_DIFFERENCE,
        )
        for one, p in zip(overall, of_suite, strict=True)
    ]


def _named(change: Change, metric: Metric) -> Verdict:
    return "faster" if (change.ratio > 1) == (metric.better == "higher") else "slower"


def _settled(row: Row, change: Change, p_adjusted: float, threshold: float, level: float) -> Row:
    verdict: Verdict = NO_DIFFERENCE
    notes = list(row.notes)
    if p_adjusted < SIGNIFICANT:
        verdict = _named(change, row.metric)
        change = change.at(level)
    elif change.p_value < SIGNIFICANT:
        notes.append("alone it would count")
    if threshold and 1 / (1 + threshold) <= change.low <= change.high <= 1 + threshold:
        notes.append(f"within ±{100 * threshold:g} %")
    return replace(row, change=replace(change, p_adjusted=p_adjusted), verdict=verdict, notes=notes)


def _side(
    item: Item | None, side: Sequence[Taken], label: str, metric: Metric
) -> tuple[Measured | None, Found]:
    if item is None:
        return None, Found([], "")
    found = find(side, item, metric)
    values = found.measurements
    typical = geometric_mean(values) if values else None
    return Measured(item.case, label, describe(values), typical, found.samples), found


def _obstacle(match: Match, base: Found, other: Found, sides: Opponents) -> str:
    """Why two sides cannot be compared, however often they were measured."""
    file_systems = (_file_system(match.base, sides.base[0]), _file_system(match.other, sides.other[0]))
    reason = foreseen.obstacle(match, (sides.base_label, sides.other_label), file_systems)
    if reason:
        return reason
    problems = ((sides.base_label, base.problem), (sides.other_label, other.problem))
    return "; ".join(f"{label}: {problem}" for label, problem in problems if problem)


def _file_system(item: Item | None, side: Taken) -> str:
    return file_system_of(side.run, item.case) if item else ""


def _set_against(
    base: Found, other: Found, method: Method
) -> tuple[list[int], tuple[list[float], list[float]]]:
    """The measurements of both sides; paired ones in the same order, with the numbers of the pairs."""
    if method != "paired by round":
        return list(range(1, len(base.measurements) + 1)), (base.measurements, other.measurements)
    first, second = base.by_run[0], other.by_run[0]
    common = [repetition for repetition in first if repetition in second]
    return common, ([first[repetition] for repetition in common], [second[one] for one in common])


def _too_few(pair: tuple[list[float], list[float]], method: Method) -> str:
    noun = "runs" if method.endswith("by run") else "repetitions"
    if method.startswith("paired"):
        return f"too few {noun}: {len(pair[0])} in common, at least {MINIMUM_FOR_RATIO} needed"
    return f"too few {noun}: {len(pair[0])} and {len(pair[1])}, at least {MINIMUM_FOR_RATIO} each needed"
