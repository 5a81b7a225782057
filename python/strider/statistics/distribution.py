"""What can be said about a few repeated measurements: location, spread, and an interval for the mean."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

LEVEL = 0.95
#: With fewer values no interval is given: of two values Student's interval is 9 standard deviations wide
#: either side.
MINIMUM_FOR_INTERVAL = 3
#: With fewer values the bootstrap is far too sure of itself (of 3 normal values its "95 %" interval holds the
#: mean in 71 % of all cases, of 5 in 83 %, of 10 in 92 %), so Student's t takes its place.
MINIMUM_FOR_BOOTSTRAP = 10
_RESAMPLES = 1999
_SEED = 20090101

Method = Literal["Student t", "BCa bootstrap", "percentile bootstrap", "all values equal"]


@dataclass(frozen=True)
class Interval:
    """A 95 % confidence interval of the mean, in the unit of the values; `method` says how it was found."""

    low: float
    high: float
    method: Method


@dataclass(frozen=True)
class Distribution:
    """Repeated measurements of one quantity, in its unit.

    Attributes:
        deviation: Standard deviation of the sample, with n - 1 in the denominator (ddof = 1); NaN for n = 1.
        interval: Of the mean; None where n < 3.
    """

    n: int
    mean: float
    median: float
    minimum: float
    maximum: float
    deviation: float
    interval: Interval | None

    @property
    def variation(self) -> float:
        """Coefficient of variation: standard deviation ÷ mean; NaN where it means nothing."""
        return self.deviation / self.mean if self.mean else math.nan


def describe(values: Sequence[float]) -> Distribution | None:
    """Describes repeated measurements of a quantity that is never negative, such as a rate.

    Args:
        values: The measurements; NaN (not measured) is left out.

    Returns:
        None where nothing is left. The same values always give the same interval: resampling is seeded.
    """
    import numpy as np

    data = np.array([value for value in values if math.isfinite(value)], dtype=float)
    if data.size == 0:
        return None
    return Distribution(
        n=int(data.size),
        mean=float(data.mean()),
        median=float(np.median(data)),
        minimum=float(data.min()),
        maximum=float(data.max()),
        deviation=float(data.std(ddof=1)) if data.size > 1 else math.nan,
        interval=confidence_interval(data.tolist()),
    )


def confidence_interval(values: Sequence[float]) -> Interval | None:
    """The 95 % confidence interval of the mean of some values that are never negative.

    Student's t below 10 values, bias-corrected and accelerated (BCa) bootstrap from there on, percentile
    bootstrap where BCa is not defined, None below 3 values. An interval never reaches below 0.
    """
    if len(values) < MINIMUM_FOR_INTERVAL:
        return None
    if min(values) == max(values):
        return Interval(values[0], values[0], "all values equal")
    if len(values) < MINIMUM_FOR_BOOTSTRAP:
        return _student(values)
    return _bootstrap(values, "BCa bootstrap") or _bootstrap(values, "percentile bootstrap")


def _student(values: Sequence[float]) -> Interval:
    import numpy as np
    from scipy.special import stdtrit

    n = len(values)
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * float(np.std(values, ddof=1)) / math.sqrt(n)
    mean = float(np.mean(values))
    return Interval(max(0.0, mean - half), mean + half, "Student t")


def _bootstrap(values: Sequence[float], method: Method) -> Interval | None:
    """An interval by resampling; None where the method is not defined for these values."""
    import numpy as np
    from scipy import stats

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        result = stats.bootstrap(
            (np.asarray(values),),
            np.mean,
            confidence_level=LEVEL,
            n_resamples=_RESAMPLES,
            method="BCa" if method == "BCa bootstrap" else "percentile",
            rng=np.random.default_rng(_SEED),
        )
    low, high = float(result.confidence_interval.low), float(result.confidence_interval.high)
    return Interval(low, high, method) if math.isfinite(low) and math.isfinite(high) else None
