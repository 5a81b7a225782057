"""Whether repetitions are alike: single ones that stand out, and rates that rise or fall from first to last.

Outliers are kept in all numbers. They are said, not removed: a stall that happens once in ten repetitions is
a property of the storage, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strider.statistics.ratio import adjust
from strider.store.model import Sample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from strider.statistics.summary import OperationSummary

    FloatArray = NDArray[np.float64]

#: Of fewer values none can stand out: their middle and spread are too uncertain.
MINIMUM_FOR_OUTLIERS = 6
#: Modified z-scores beyond 3.5 are outliers (Iglewicz and Hoaglin 1993), but 9 to 17 % of all series of 6 to
#: 30 normal values have one. With 40 ÷ n added to it, 1 % of them do.
_OUTLIER_SCORE, _FEW_VALUES = 3.5, 40.0
#: Smaller deviations from the median do not matter, however regular the other repetitions are.
OUTLIER_SHARE = 0.05
#: Fewer repetitions show no trend.
MINIMUM_FOR_TREND = 5
#: Smaller changes from the first to the last repetition do not matter.
TREND_SHARE = 0.05
_SIGNIFICANT = 0.05
#: Of single operations one in a hundred may be called unsteady by chance.
_RARE = 0.01
#: Fewer repetitions on a side of a level shift do not show a level.
_FEWEST_OF_LEVEL = 3
#: 0.6745 standard deviations of a normal distribution are its median absolute deviation, 0.7979 its mean one.
_MEDIAN_DEVIATION, _MEAN_DEVIATION = 0.6745, 0.7979


@dataclass(frozen=True)
class Outlier:
    """A repetition that is not like the others.

    Attributes:
        ratio: Its rate ÷ the median rate of all repetitions.
        score: Modified z-score of the logarithm of its rate.
    """

    summary: OperationSummary
    sample: Sample
    ratio: float
    score: float


@dataclass(frozen=True)
class Trend:
    """Rates that rise or fall steadily.

    Attributes:
        change: From the first to the last repetition along the fitted line: -0.2 is a loss of a fifth.
        p_value: Adjusted for the number of operations that were looked at.
    """

    summary: OperationSummary
    change: float
    p_value: float


def modified_scores(values: ArrayLike) -> FloatArray:
    """Modified z-scores of positive values by their logarithms: distance from the median ÷ a robust spread.

    The spread is the median absolute deviation, or the mean one where that is 0.

    Args:
        values: Shape (…, n).

    Returns:
        Shape (…, n); 0 where all values are equal.
    """
    import numpy as np

    logs = np.log(np.asarray(values, dtype=float))
    distance = logs - np.median(logs, axis=-1, keepdims=True)
    middle = np.median(np.abs(distance), axis=-1, keepdims=True) / _MEDIAN_DEVIATION
    mean = np.abs(distance).mean(axis=-1, keepdims=True) / _MEAN_DEVIATION
    spread = np.where(middle > 0, middle, mean)
    scores: FloatArray = np.divide(distance, spread, out=np.zeros_like(distance), where=spread > 0)
    return scores


def outlier_limit(n: int) -> float:
    """The modified z-score from which on one of n values is an outlier."""
    return _OUTLIER_SCORE + _FEW_VALUES / n


def outliers(summaries: Sequence[OperationSummary]) -> list[Outlier]:
    """The repetitions that stand out, those farthest from the others first."""
    found = [outlier for summary in summaries for outlier in _outliers_of(summary)]
    return sorted(found, key=lambda outlier: -abs(outlier.score))


def _outliers_of(summary: OperationSummary) -> list[Outlier]:
    rates = summary.rates
    if len(rates) < MINIMUM_FOR_OUTLIERS or min(rates) <= 0 or summary.rate is None:
        return []
    ratios = [rate / summary.rate.median for rate in rates]
    scores = modified_scores(rates).tolist()
    limit = outlier_limit(len(rates))
    return [
        Outlier(summary, sample, ratio, score)
        for sample, ratio, score in zip(summary.samples, ratios, scores, strict=True)
        if abs(score) > limit and abs(ratio - 1) > OUTLIER_SHARE
    ]


def fit_trend(values: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Straight lines through the logarithms of positive values, by least squares, along the last axis.

    Args:
        values: In the order of time, shape (…, n), n at least 3.

    Returns:
        The change of the logarithm from the first value to the last along the line, and the probability
        (two-sided, Student's t) of one as large where there is none.
    """
    import numpy as np
    from scipy.special import stdtr

    logs = np.log(np.asarray(values, dtype=float))
    n = logs.shape[-1]
    position = np.arange(n) - (n - 1) / 2
    slope = (logs * position).sum(axis=-1) / (position**2).sum()
    rest = logs - logs.mean(axis=-1, keepdims=True) - slope[..., np.newaxis] * position
    error = np.sqrt((rest**2).sum(axis=-1) / (n - 2) / (position**2).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(error > 0, np.abs(slope) / error, np.where(slope != 0, np.inf, 0.0))
    return slope * (n - 1), 2 * stdtr(n - 2, -score)


def trends(summaries: Sequence[OperationSummary]) -> list[Trend]:
    """The operations whose rate rises or falls from repetition to repetition, the largest change first.

    What is said of many operations is tested as a whole: where no rate has a trend, at most 5 % of all runs
    get one.
    """
    import numpy as np

    looked_at = [
        summary for summary in summaries if len(summary.rates) >= MINIMUM_FOR_TREND and min(summary.rates) > 0
    ]
    if not looked_at:
        return []
    fits = [fit_trend(summary.rates) for summary in looked_at]
    adjusted = adjust([float(p_value) for _, p_value in fits]).tolist()
    found = [
        Trend(summary, float(np.expm1(change)), p_value)
        for summary, (change, _), p_value in zip(looked_at, fits, adjusted, strict=True)
    ]
    real = [trend for trend in found if trend.p_value < _SIGNIFICANT and abs(trend.change) > TREND_SHARE]
    return sorted(real, key=lambda trend: -abs(trend.change))


def has_trend(rates: Sequence[float]) -> bool:
    """Whether the rates of one operation rise or fall, by chance in at most 1 % of operations."""
    if len(rates) < MINIMUM_FOR_TREND or min(rates) <= 0:
        return False
    change, p_value = fit_trend(rates)
    return float(p_value) < _RARE and abs(math.expm1(float(change))) > TREND_SHARE


def changes_level(rates: Sequence[float]) -> bool:
    """Whether the rates of one operation jump to another level and stay, by chance in at most 1 %.

    Each split into a first and a last part is tested by Student's t on logarithms, and the smallest p-value
    is multiplied by the number of splits (Bonferroni).
    """
    import numpy as np
    from scipy.special import stdtr

    n = len(rates)
    if n < 2 * _FEWEST_OF_LEVEL or min(rates) <= 0:
        return False
    logs = np.log(np.asarray(rates, dtype=float))
    splits = range(_FEWEST_OF_LEVEL, n - _FEWEST_OF_LEVEL + 1)
    for split in splits:
        first, last = logs[:split], logs[split:]
        step = abs(float(last.mean() - first.mean()))
        rest = float(((first - first.mean()) ** 2).sum() + ((last - last.mean()) ** 2).sum())
        error = np.sqrt(rest / (n - 2) * (1 / split + 1 / (n - split)))
        p_value = 2 * float(stdtr(n - 2, -step / error)) if error > 0 else 0.0
        if step > np.log1p(TREND_SHARE) and p_value * len(splits) < _RARE:
            return True
    return False
