"""How two sets of rates compare: the ratio of their typical values, its interval, and how sure it is.

All of it works on logarithms, so that it does not matter whether rates or durations are compared, or which of
two sets is the base: exchanged, they give the inverse. The typical value of a set is its geometric mean. Why
these methods and no others is in docs/decisions/0014-*.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from strider.statistics.distribution import LEVEL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

#: Fewer measurements (or pairs of them) than this say nothing about their own spread.
MINIMUM_FOR_RATIO = 3

Design = Literal["paired", "unpaired"]


@dataclass(frozen=True)
class Ratio:
    """Ratios of typical values, other ÷ base; arrays of one shape, which may be ().

    Attributes:
        log: Natural logarithm of the ratio.
        error: Standard error of `log`; 0 where the measurements do not differ among themselves.
        freedom: Degrees of freedom of `error`.
        resolution: Width in logarithms of the steps that the measurements are rounded to. Differences up to
            one step say nothing, however often they are measured; 0 for exact values.
    """

    log: FloatArray
    error: FloatArray
    freedom: FloatArray
    resolution: float = 0.0

    def interval(self, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of the interval of the ratio, at 95 % or another level."""
        import numpy as np
        from scipy.special import stdtrit

        half = stdtrit(self.freedom, (1 + level) / 2) * self.error + self.resolution
        return np.exp(self.log - half), np.exp(self.log + half)

    def p_value(self, threshold: float = 0.0) -> FloatArray:
        """How probable so large a ratio, or a larger one, is where the true one is within the threshold.

        Two-sided: it is below 0.05 just where the 95 % interval has no ratio within the threshold.

        Args:
            threshold: From 0 to below 1; true ratios from 1 ÷ (1 + threshold) to 1 + threshold make no
                difference. So it does not matter which side is the base, nor whether rates or times are
                compared.
        """
        import numpy as np
        from scipy.special import stdtr

        beyond = np.abs(self.log) - np.log1p(threshold) - self.resolution
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(self.error > 0, beyond / self.error, np.where(beyond > 0, np.inf, -np.inf))
        probability: FloatArray = np.minimum(1.0, 2 * stdtr(self.freedom, -score))
        return probability


def paired_ratio(base: ArrayLike, other: ArrayLike, resolution: float = 0.0) -> Ratio:
    """Ratio of measurements that belong together two by two, such as those of one round.

    Whatever changes from pair to pair, drift above all, hits both and cancels: Student's t on the differences
    of logarithms.

    Args:
        base: Positive; shape (…, n), n at least 2.
        other: Likewise, of the same shape.
        resolution: As of `Ratio`.
    """
    import numpy as np

    difference = np.log(np.asarray(other, dtype=float)) - np.log(np.asarray(base, dtype=float))
    n = difference.shape[-1]
    error = np.maximum(difference.std(axis=-1, ddof=1) / np.sqrt(n), _rounding(resolution, n, n))
    return Ratio(difference.mean(axis=-1), error, np.full(error.shape, n - 1.0), resolution)


def unpaired_ratio(base: ArrayLike, other: ArrayLike, resolution: float = 0.0) -> Ratio:
    """Ratio of two independent sets of measurements, whose spreads may differ (Welch 1947), on logarithms.

    Args:
        base: Positive; shape (…, n), n at least 2.
        other: Positive; shape (…, m), m at least 2.
        resolution: As of `Ratio`.
    """
    import numpy as np

    first, second = np.log(np.asarray(base, dtype=float)), np.log(np.asarray(other, dtype=float))
    n, m = first.shape[-1], second.shape[-1]
    of_first, of_second = first.var(axis=-1, ddof=1) / n, second.var(axis=-1, ddof=1) / m
    total = of_first + of_second
    with np.errstate(invalid="ignore"):
        freedom = total**2 / (of_first**2 / (n - 1) + of_second**2 / (m - 1))
    return Ratio(
        second.mean(axis=-1) - first.mean(axis=-1),
        np.maximum(np.sqrt(total), _rounding(resolution, n, m)),
        np.where(total > 0, freedom, float(n + m - 2)),
        resolution,
    )


def ratio_by_history(base: float, other: float, past: ArrayLike, resolution: float = 0.0) -> Ratio:
    """Ratio of two single runs, judged by how much runs of the same work differed before.

    The repetitions of a run share its day, its files' places and its neighbours, and say nothing of these. So
    the variance v of earlier runs decides: Student's t of the two, with an error of √(2v).

    Args:
        base: Typical value of a run, positive.
        other: Of the other run, likewise.
        past: Typical values of at least 2 earlier runs.
        resolution: As of `Ratio`.
    """
    import numpy as np

    logs = np.log(np.asarray(past, dtype=float))
    error = np.maximum(np.sqrt(2 * logs.var(ddof=1)), _rounding(resolution, 1, 1))
    return Ratio(
        np.asarray(np.log(other) - np.log(base)),
        np.asarray(error),
        np.asarray(len(logs) - 1.0),
        resolution,
    )


def _rounding(resolution: float, n: int, m: int) -> float:
    """Standard error of the difference of two means of values that are rounded to steps, at least."""
    return resolution * math.sqrt((1 / n + 1 / m) / 12)


def adjust(p_values: ArrayLike) -> FloatArray:
    """p-values adjusted for their number (Benjamini and Hochberg 1995), along the last axis.

    Of the values below 0.05, at most 5 % are expected by chance; without any effect,
    anything is below 0.05 in at most 5 % of all cases.

    Args:
        p_values: Shape (…, m).
    """
    import numpy as np

    found = np.asarray(p_values, dtype=float)
    count = found.shape[-1]
    order = np.argsort(found, axis=-1, kind="stable")[..., ::-1]
    scaled = np.take_along_axis(found, order, axis=-1) * count / np.arange(count, 0, -1)
    adjusted = np.minimum(1.0, np.minimum.accumulate(scaled, axis=-1))
    result = np.empty_like(adjusted)
    np.put_along_axis(result, order, adjusted, axis=-1)
    return result


def simes(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """The p-value of two tests together (Simes 1986): small where one is very small, or both are."""
    import numpy as np

    one, two = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    together: FloatArray = np.minimum(2 * np.minimum(one, two), np.maximum(one, two))
    return together
