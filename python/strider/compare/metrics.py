"""The quantities of a sample that can be compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from strider.statistics.histogram import BUCKET_WIDTH
from strider.store.case import Case
from strider.store.model import Sample

Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Metric:
    """A quantity of a sample.

    Attributes:
        unit: Unit of its value for cases of data; of metadata `op/s` stands for `MiB/s`.
        better: Whether more of it or less is faster.
        value: Its value; NaN where it was not measured.
        resolution: Width in logarithms of the steps that its values are rounded to; 0 where they are exact.
    """

    name: str
    unit: str
    better: Better
    value: Callable[[Case, Sample], float]
    resolution: float = 0.0

    def unit_of(self, case: Case) -> str:
        """Unit of its value in samples of a case."""
        return "op/s" if self.unit == "MiB/s" and case.is_metadata else self.unit


def _rate(case: Case, sample: Sample) -> float:
    return sample.requests_s if case.is_metadata else sample.rate_mib_s


def _first_done(case: Case, sample: Sample) -> float:
    return sample.rate_first_done_requests_s if case.is_metadata else sample.rate_first_done_mib_s


def _latency(field: str) -> Callable[[Case, Sample], float]:
    return lambda _, sample: float(getattr(sample.latency, field)) if sample.latency else math.nan


METRICS = {
    metric.name: metric
    for metric in (
        Metric("rate", "MiB/s", "higher", _rate),
        Metric("first-done", "MiB/s", "higher", _first_done),
        Metric("latency-mean", "s", "lower", _latency("mean_s")),
        Metric("latency-p50", "s", "lower", _latency("p50_s"), BUCKET_WIDTH),
        Metric("latency-p90", "s", "lower", _latency("p90_s"), BUCKET_WIDTH),
        Metric("latency-p99", "s", "lower", _latency("p99_s"), BUCKET_WIDTH),
        Metric("latency-max", "s", "lower", _latency("max_s")),
    )
}
"""By the name typed after `--metric`."""
