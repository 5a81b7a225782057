"""What can be said about a few repeated measurements: their centre, their spread, and an interval.

The centre of rates is their geometric mean, and its interval is found on logarithms: then it does not matter
whether rates or durations are described, and a comparison's ratio is the ratio of two centres.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

LEVEL = 0.95
#: With fewer values no interval is given: of two values Student's interval is 9 standard deviations wide
#: either side.
MINIMUM_FOR_INTERVAL = 3
#: With fewer values Student's t is the better choice: of 10 normal values BCa's "95 %" interval holds the
#: mean in 90 % of all cases, of 20 in 93 %, while Student's does in 95 % (docs/decisions/0014-*.md).
MINIMUM_FOR_BOOTSTRAP = 50
_RESAMPLES = 1999
#: Resampled values held in memory at a time, 8 bytes each.
_VALUES_AT_ONCE = 4_000_000
_SEED = 20090101

Method = Literal["Student t", "BCa bootstrap", "percentile bootstrap", "all values equal"]


@dataclass(frozen=True)
class Interval:
    """A 95 % confidence interval, in the unit of the values; `method` says how it was found."""

    low: float
    high: float
    method: Method


def half_width_of(low: float, high: float) -> float:
    """How far an interval reaches above its geometric centre, as a share of the centre; both ends above 0."""
    return math.sqrt(high / low) - 1


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """Repeated measurements of one quantity, in its unit.

    Attributes:
        centre: Geometric mean; 0 where a value is 0. It stands for all values wherever one number does.
        mean: Arithmetic mean.
        zeros: Number of values that are 0.
        deviation: Standard deviation of the sample, with n - 1 in the denominator (ddof = 1); NaN for n = 1.
        interval: Of the centre; None where n < 3 or a value is 0.
    """

    n: int
    centre: float
    mean: float
    median: float
    minimum: float
    maximum: float
    zeros: int
    deviation: float
    interval: Interval | None

    @property
    def half_width(self) -> float | None:
        """How far the interval reaches above the centre, as a share of it; None without an interval.

        Below it reaches as far as a factor, so by a smaller share.
        """
        if self.interval is None:
            return None
        return half_width_of(self.interval.low, self.interval.high)

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
    finite = [float(value) for value in values if math.isfinite(value)]
    if not finite:
        return None
    return _of_one(finite[0]) if len(finite) == 1 else _of_several(finite)


def _of_one(value: float) -> Distribution:
    """Describes a single measurement."""
    centre = max(0.0, value)
    return Distribution(
        n=1,
        centre=centre,
        mean=value,
        median=value,
        minimum=value,
        maximum=value,
        zeros=int(value <= 0),
        deviation=math.nan,
        interval=None,
    )


def _of_several(values: Sequence[float]) -> Distribution:
    """Describes two measurements or more."""
    import numpy as np

    data = np.array(values)
    zeros = int((data <= 0).sum())
    return Distribution(
        n=int(data.size),
        centre=0.0 if zeros else float(np.exp(np.log(data).mean())),
        mean=float(data.mean()),
        median=float(np.median(data)),
        minimum=float(data.min()),
        maximum=float(data.max()),
        zeros=zeros,
        deviation=float(data.std(ddof=1)),
        interval=confidence_interval(data.tolist()),
    )


def repetitions_for(rate: Distribution, half_width: float) -> int | None:
    """About how many repetitions an interval of this half-width takes, by the spread of those that there are.

    Returns:
        None without an interval, or where it takes more than 1000.
    """
    if rate.half_width is None:
        return None
    from scipy.special import stdtrit

    quantile = (1 + LEVEL) / 2
    deviation = math.log1p(rate.half_width) * math.sqrt(rate.n) / float(stdtrit(rate.n - 1, quantile))
    wanted = math.log1p(half_width)
    counts = range(MINIMUM_FOR_INTERVAL, 1001)
    return next(
        (n for n in counts if float(stdtrit(n - 1, quantile)) * deviation <= wanted * math.sqrt(n)), None
    )


def typical_repetitions_for(rates: Sequence[Distribution], half_width: float) -> int | None:
    """About how many repetitions intervals of this half-width take for half of some results.

    Returns:
        None where none of them has an interval, or where it takes more than 1000.
    """
    counts = [repetitions_for(rate, half_width) or math.inf for rate in rates if rate.half_width is not None]
    middle = median(counts) if counts else math.inf
    return math.ceil(middle) if math.isfinite(middle) else None


def confidence_interval(values: Sequence[float]) -> Interval | None:
    """The 95 % confidence interval of the geometric mean of some values, found on their logarithms.

    Student's t below 50 values, bias-corrected and accelerated (BCa) bootstrap from there on, percentile
    bootstrap where BCa is not defined, None below 3 values and where one is 0.
    """
    import numpy as np

    if len(values) < MINIMUM_FOR_INTERVAL or min(values) <= 0:
        return None
    if min(values) == max(values):
        return Interval(values[0], values[0], "all values equal")
    logs = np.log(np.asarray(values, dtype=float))
    if len(values) < MINIMUM_FOR_BOOTSTRAP:
        return _interval(student_interval(logs), "Student t")
    return _interval(bootstrap_interval(logs, "BCa"), "BCa bootstrap") or _interval(
        bootstrap_interval(logs, "percentile"), "percentile bootstrap"
    )


def student_interval(
    values: ArrayLike, level: float = LEVEL, least_deviation: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends of Student's interval of the mean, along the last axis.

    Args:
        values: Shape (…, n), n at least 2.
        level: Probability that the interval has the mean in it.
        least_deviation: A smaller standard deviation of the values is chance, as where they are rounded.
    """
    import numpy as np
    from scipy.special import stdtrit

    data = np.asarray(values, dtype=float)
    n = data.shape[-1]
    mean, deviation = data.mean(axis=-1), np.maximum(data.std(axis=-1, ddof=1), least_deviation)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * deviation / math.sqrt(n)
    return mean - half, mean + half


def bootstrap_interval(
    values: ArrayLike, method: Literal["BCa", "percentile"]
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends of a 95 % interval of the mean by resampling, along the last axis.

    NaN where the method is not defined for the values (Efron 1987; BCa needs values that differ).

    Args:
        values: Shape (…, n), n at least 2.
        method: Bias-corrected and accelerated, or the resampled means' percentiles as they are.
    """
    import numpy as np
    from scipy import stats

    data = np.asarray(values, dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        result = stats.bootstrap(
            (data,),
            np.mean,
            axis=-1,
            confidence_level=LEVEL,
            n_resamples=_RESAMPLES,
            batch=min(_RESAMPLES, max(1, _VALUES_AT_ONCE // data.size)),
            method=method,
            rng=np.random.default_rng(_SEED),
        )
    return np.asarray(result.confidence_interval.low), np.asarray(result.confidence_interval.high)


def _interval(ends: tuple[FloatArray, FloatArray], method: Method) -> Interval | None:
    """An interval from that of the logarithms; None where its ends are not defined."""
    low, high = float(ends[0]), float(ends[1])
    return Interval(math.exp(low), math.exp(high), method) if math.isfinite(low + high) else None
