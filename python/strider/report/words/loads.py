"""Sentences on the load that storage carries, from cases with several arrival rates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from strider.report.words.advice import remedies
from strider.report.words.numbers import NOTHING, significant
from strider.report.words.wording import result_in_words
from strider.statistics import OperationSummary
from strider.statistics.capacity import FEWEST_REPETITIONS, RISE, Capacity, capacities

_AGAIN = "measure again while no other program uses the target, with more repetitions"
_LONGER = "the time after the last request is too large a share of the phases: raise the deadline or the size"
#: Others are in the table.
_MAXIMUM = 3


def loads(summaries: Sequence[OperationSummary]) -> list[str]:
    """Returns a sentence for each of the first operations that were measured at several arrival rates."""
    return [_text(found) for found in capacities(summaries)[:_MAXIMUM]]


def _text(found: Capacity) -> str:
    name = result_in_words(found.summary.case, found.summary.operation)
    return f"Load: {name} {_found(found)}."


def _found(found: Capacity) -> str:
    if not (found.is_repeated and found.is_trusted):
        return f"shows no capacity: {_obstacle(found)}"
    if found.carried is None:
        return _not_carried(found)
    carried = f"carries {_rate(found.carried)}{_latency(found.summary)}"
    return f"{carried}{_beyond(found)}{_knee(found)}"


def _not_carried(found: Capacity) -> str:
    """Returns the known limits if the lowest arrival rate is not carried."""
    if found.crossed:
        return f"shows no capacity: {_crossed(found.crossed)}"
    if found.refused is not None:
        return f"does not carry {_rate(found.refused)}: it completes {significant(found.completed)}"
    lowest = found.results[0]
    is_late = any(load.saturated for load in lowest.loads)
    return (
        f"shows no capacity: repetitions at {_load(lowest)} differ in whether they keep up; "
        f"{_AGAIN if is_late else _LONGER}"
    )


def _beyond(found: Capacity) -> str:
    """Returns what happens at rates above the highest carried one."""
    if found.carried == found.highest:
        return ", the highest arrival rate: its capacity may be higher"
    if found.crossed:
        return f"; {_crossed(found.crossed)}"
    if found.refused is None:
        return (
            f"; at higher arrival rates, up to {_rate(found.highest)}, repetitions differ in whether they "
            "keep up"
        )
    return f"; of {_rate(found.refused)} it completes {significant(found.completed)}"


def _crossed(rates: tuple[float, float]) -> str:
    """Returns that a rate was not carried and a higher one was, and the remedy."""
    return f"{_rate(rates[0])} was not carried although {_rate(rates[1])} was: {_AGAIN}"


def _knee(found: Capacity) -> str:
    """Returns from which rate the latency rises, or why it is not known."""
    knee = found.knee
    if knee is None:
        return "; too few requests show where its p99 rises (1000 in each repetition do)"
    lowest = f"that at {_load(knee.lowest)} ({_interval(knee.lowest)})"
    rises = knee.rises
    if rises is not None and found.carried is not None and rises.load and rises.load.rate <= found.carried:
        return f"; from {_load(rises)} on its p99 ({_interval(rises)}) is more than {RISE} times {lowest}"
    if knee.stays:
        return f"; up to there its p99 is below {RISE} times {lowest}" if found.summary != knee.lowest else ""
    return "; the intervals of its p99 are too wide to show where it rises"


def _interval(summary: OperationSummary) -> str:
    latency = summary.latency
    if latency is None:
        return NOTHING
    low, high = (significant(1e6 * end) for end in (latency.p99_low_s, latency.p99_high_s))
    return f"{low} to {high} µs"


def _load(summary: OperationSummary) -> str:
    return _rate(summary.load.rate if summary.load else None)


def _rate(requests_s: float | None) -> str:
    return f"{significant(requests_s)} requests/s"


def _obstacle(found: Capacity) -> str:
    """Returns why no capacity can be given, and the remedy."""
    if not found.is_repeated:
        return (
            f"each arrival rate needs {FEWEST_REPETITIONS} repetitions and has {found.repetitions}; set "
            f"repetitions = {FEWEST_REPETITIONS} or more"
        )
    reasons = found.best.reasons if found.best else ()
    remedy = "; ".join(text[0].lower() + text[1:] for text in remedies(reasons, found.results))
    return f"no result has grade A or B (best grade: {found.best}){f'; {remedy}' if remedy else ''}"


def _latency(summary: OperationSummary) -> str:
    p99_s = summary.latency.p99_s if summary.latency else math.nan
    return f" with a p99 of {significant(1e6 * p99_s)} µs" if math.isfinite(p99_s) else ""
