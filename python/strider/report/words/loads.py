"""Sentences on the load that storage carries, from cases with several arrival rates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from strider.report.words.advice import remedies
from strider.report.words.numbers import significant
from strider.report.words.wording import result_in_words
from strider.statistics import OperationSummary
from strider.statistics.capacity import FEWEST_REPETITIONS, Capacity, capacities

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
    completed = f"{significant(found.refused)} requests/s", f"{significant(found.issued)}"
    if found.carried is None:
        if found.refused is None:
            return "shows no capacity: repetitions at one arrival rate differ in whether they keep up"
        return f"does not carry {completed[0]}: it completes {completed[1]}"
    carried = f"carries {significant(found.carried)} requests/s{_latency(found.summary)}"
    if found.carried == found.highest:
        return f"{carried}, the highest arrival rate: its capacity may be higher"
    if found.refused is None:
        return (
            f"{carried}; at higher arrival rates, up to {significant(found.highest)} requests/s, repetitions "
            "differ in whether they keep up"
        )
    return f"{carried}; of {completed[0]} it completes {completed[1]}"


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
