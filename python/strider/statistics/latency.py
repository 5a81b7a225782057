"""Latencies of requests: extremes, mean and those percentiles that enough requests show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from strider.statistics.distribution import MINIMUM_FOR_INTERVAL, student_interval
from strider.statistics.histogram import BUCKET_WIDTH, LatencyDistribution, merge
from strider.store import Part, Sample

#: A percentile is shown where so many requests of each repetition lie beyond it: p99.9 of 192 requests is
#: their maximum, 0.69 of the true one, and of 10 000 it is 0.98.
BEYOND = 10


@dataclass(frozen=True)
class LatencySummary:
    """Latency of single requests over ranks and repetitions, seconds; percentiles to within 0.4 %.

    Percentiles that too few requests show are NaN. `p50_low_s` and so on are the ends of the 95 % interval of
    the percentile of a typical repetition; NaN below three repetitions.

    Attributes:
        count: Requests of all repetitions.
        requests_min: Requests of the repetition that has fewest.
    """

    count: int
    requests_min: int
    minimum_s: float
    mean_s: float
    p50_s: float
    p90_s: float
    p99_s: float
    p999_s: float
    maximum_s: float
    p50_low_s: float
    p50_high_s: float
    p90_low_s: float
    p90_high_s: float
    p99_low_s: float
    p99_high_s: float
    p999_low_s: float
    p999_high_s: float


_SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}


def is_known(share: float, requests: int) -> bool:
    """Whether so many requests of a repetition show a percentile: enough of them lie on each side of it."""
    return requests * min(share, 1 - share) >= BEYOND * (1 - 1e-9)


def histogram_of(requests: Sequence[Sample | Part]) -> LatencyDistribution | None:
    """All latencies of some samples, or of one part of each."""
    histograms = [one.histogram for one in requests if one.histogram is not None]
    return merge(histograms) if histograms else None


def summarize_latency(
    requests: Sequence[Sample | Part], histogram: LatencyDistribution | None
) -> LatencySummary | None:
    """The latencies of some repetitions, or of one part of each; None where none were measured."""
    measured = [one for one in requests if one.latency is not None and one.latency.count > 0]
    latencies = [one.latency for one in measured if one.latency is not None]
    if not latencies or histogram is None:
        return None
    count, fewest = sum(one.count for one in latencies), min(one.count for one in latencies)
    minimum_s, maximum_s = min(one.min_s for one in latencies), max(one.max_s for one in latencies)
    own = [merge([one.histogram]) for one in measured if one.histogram is not None]
    values: dict[str, float] = {}
    for name, share in _SHARES.items():
        known = is_known(share, fewest)
        # A bucket's midpoint may lie outside of the observed range; the exact extremes are known.
        value = min(max(histogram.percentile_s(share), minimum_s), maximum_s)
        ends = _interval([one.percentile_s(share) for one in own]) if known else (math.nan, math.nan)
        values |= {f"{name}_s": value if known else math.nan}
        values |= {f"{name}_low_s": ends[0], f"{name}_high_s": ends[1]}
    return LatencySummary(
        count=count,
        requests_min=fewest,
        minimum_s=minimum_s,
        mean_s=sum(one.mean_s * one.count for one in latencies) / count,
        maximum_s=maximum_s,
        **values,
    )


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """Student's interval on logarithms of the percentiles of repetitions.

    The deviation is never less than that of values that are rounded to buckets: equal percentiles are not
    known without an error.
    """
    if len(values) < MINIMUM_FOR_INTERVAL or min(values) <= 0:
        return math.nan, math.nan
    logs = [math.log(value) for value in values]
    low, high = student_interval(logs, least_deviation=BUCKET_WIDTH / math.sqrt(12))
    return math.exp(low), math.exp(high)
