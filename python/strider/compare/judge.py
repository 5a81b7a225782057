"""From what was measured on two sides to a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean

from strider.compare.measured import Found, Taken, find
from strider.compare.metrics import Metric
from strider.compare.model import Change, Measured, Method, Row, Verdict
from strider.compare.work import Item, Match
from strider.statistics import MINIMUM_FOR_RATIO, Ratio, adjust, describe, paired_ratio, unpaired_ratio

#: Adjusted p-values below this are differences.
SIGNIFICANT = 0.05
NO_DIFFERENCE: Verdict = "no difference shown"
NOT_COMPARABLE: Verdict = "not comparable"


@dataclass(frozen=True)
class Opponents:
    """Two sides and how their measurements are set against each other."""

    base: Sequence[Taken]
    other: Sequence[Taken]
    base_label: str
    other_label: str
    method: Method


def judge(match: Match, metric: Metric, sides: Opponents, threshold: float) -> Row:
    """Compares one operation; the verdict is preliminary until `settle` has seen all rows."""
    base, found_base = _side(match.base, sides.base, sides.base_label, metric)
    other, found_other = _side(match.other, sides.other, sides.other_label, metric)
    row = Row({}, match.item.operation, metric, base, other, None, NOT_COMPARABLE)
    reason = _obstacle(match, found_base, found_other, sides)
    if reason:
        return replace(row, reason=reason)
    pair = _set_against(found_base, found_other, sides.method)
    least = min(len(pair[0]), len(pair[1]))
    if least < MINIMUM_FOR_RATIO:
        return replace(row, reason=_too_few(pair, sides.method))
    ratio = (paired_ratio if sides.method.startswith("paired") else unpaired_ratio)(*pair)
    return replace(row, change=_change(ratio, sides.method, threshold, least), verdict=NO_DIFFERENCE)


def settle(rows: Sequence[Row], threshold: float) -> list[Row]:
    """Adjusts the p-values of all rows for their number and gives the verdicts."""
    compared = [row.change for row in rows if row.change is not None]
    adjusted = iter(adjust([change.p_value for change in compared]).tolist())
    return [
        row if row.change is None else _settled(row, row.change, next(adjusted), threshold) for row in rows
    ]


def _settled(row: Row, change: Change, p_adjusted: float, threshold: float) -> Row:
    verdict: Verdict = NO_DIFFERENCE
    if p_adjusted < SIGNIFICANT:
        verdict = "faster" if (change.ratio > 1) == (row.metric.better == "higher") else "slower"
    notes = list(row.notes)
    if p_adjusted >= SIGNIFICANT > change.p_value:
        notes.append("alone it would count")
    if threshold and 1 - threshold <= change.low <= change.high <= 1 + threshold:
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
    if match.other is None:
        return f"only in {sides.base_label}"
    if match.base is None:
        return f"only in {sides.other_label}"
    if match.differences:
        return f"different work: {match.differences}"
    verified = [item.case.common_parameters().get("verify") or "off" for item in (match.base, match.other)]
    if verified[0] != verified[1]:
        return f"verified differently: {verified[0]} and {verified[1]}"
    problems = ((sides.base_label, base.problem), (sides.other_label, other.problem))
    return "; ".join(f"{label}: {problem}" for label, problem in problems if problem)


def _set_against(base: Found, other: Found, method: Method) -> tuple[list[float], list[float]]:
    """The measurements of both sides; paired ones in the same order."""
    if method != "paired by round":
        return base.measurements, other.measurements
    first, second = base.by_run[0], other.by_run[0]
    common = [repetition for repetition in first if repetition in second]
    return [first[repetition] for repetition in common], [second[repetition] for repetition in common]


def _too_few(pair: tuple[list[float], list[float]], method: Method) -> str:
    noun = "runs" if method.endswith("by run") else "repetitions"
    if method.startswith("paired"):
        return f"too few {noun}: {len(pair[0])} in common, at least {MINIMUM_FOR_RATIO} needed"
    return f"too few {noun}: {len(pair[0])} and {len(pair[1])}, at least {MINIMUM_FOR_RATIO} each needed"


def _change(ratio: Ratio, method: Method, threshold: float, n: int) -> Change:
    low, high = ratio.interval()
    p_value = float(ratio.p_value(threshold))
    return Change(
        ratio=math.exp(float(ratio.log)),
        low=float(low),
        high=float(high),
        freedom=float(ratio.freedom),
        p_value=p_value,
        p_adjusted=p_value,
        method=method,
        n=n,
    )
