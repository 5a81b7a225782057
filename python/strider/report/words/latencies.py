"""Sentences and cells about latencies."""

from __future__ import annotations

import math
from collections.abc import Sequence

from strider.report.words.numbers import NOTHING, TimeUnit
from strider.statistics import OperationSummary
from strider.statistics.latency import BEYOND, LatencySummary


def percentile_line(summaries: Sequence[OperationSummary]) -> str:
    """Returns why some percentiles are not shown; empty if all are."""
    latencies = [summary.latency for summary in summaries if summary.latency]
    latencies += [part.latency for summary in summaries for part in summary.parts if part.latency]
    if all(math.isfinite(latency.p999_s) for latency in latencies):
        return ""
    fewest = min(latency.requests_min for latency in latencies)
    return (
        f"Percentiles need {BEYOND} requests beyond them in each repetition (fewest requests: {fewest}); "
        f"others are {NOTHING}."
    )


def percentile_interval(latency: LatencySummary | None, name: str, unit: TimeUnit) -> str:
    """Returns the 95 % interval of a percentile (`p99`) of a typical repetition, without the unit."""
    low, high = (getattr(latency, f"{name}_{end}_s", math.nan) for end in ("low", "high"))
    if not math.isfinite(low + high):
        return NOTHING
    return f"{unit.format(low)} – {unit.format(high)}"
