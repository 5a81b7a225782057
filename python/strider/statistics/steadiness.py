"""Whether repetitions are alike: single ones that stand out, and rates that rise or fall from first to last.

Outliers are kept in all numbers. They are reported, not removed: a stall that happens once in ten repetitions
is a property of the storage, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from strider.statistics.ratio import adjust
from strider.statistics.series import MINIMUM_FOR_TREND, RARE, TREND_SHARE, fit_trend, inflation
from strider.statistics.stragglers import last_by_chance
from strider.statistics.summary import OperationSummary
from strider.store.model import Sample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

#: Of fewer values none can stand out: their middle and spread are too uncertain.
MINIMUM_FOR_OUTLIERS = 6
#: Modified z-scores beyond 3.5 are outliers (Iglewicz and Hoaglin 1993), but 9 to 17 % of all series of 6 to
#: 30 normal values have one. With 40 ÷ n added to it, 1 % of them do.
_OUTLIER_SCORE, _FEW_VALUES = 3.5, 40.0
#: Smaller deviations from the median do not matter, however regular the other repetitions are.
OUTLIER_SHARE = 0.05
#: A trend is reported falsely of at most this share of steady runs. In half of a hundred, because rates that
#: resemble the ones before drift: the correction for that is right on average only.
_SIGNIFICANT = 0.005
#: By so many standard errors the autocorrelation is taken higher for a trend.
_CAUTION = 1.25
#: Simulated series, from which a chance of one in 20 000 can be read.
_DRAWS = 20_000
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
    """The repetitions that stand out, those farthest from the others first.

    Many operations are tested together: of 100 steady runs at most one has an outlier.
    """
    looked_at = [one for one in summaries if len(one.rates) >= MINIMUM_FOR_OUTLIERS and min(one.rates) > 0]
    if not looked_at:
        return []
    adjusted = adjust([_chance_of(one.rates) for one in looked_at]).tolist()
    found = [
        outlier
        for summary, p_value in zip(looked_at, adjusted, strict=True)
        if p_value < RARE
        for outlier in _outliers_of(summary)
    ]
    return sorted(found, key=lambda outlier: -abs(outlier.score))


def _chance_of(rates: Sequence[float]) -> float:
    """How often a rate is by chance as far from the others, by two tests.

    Grubbs' test finds a single one best, the modified scores several.
    """
    highest = float(abs(modified_scores(rates)).max())
    several = float(((_highest_by_chance(len(rates)) >= highest).sum() + 1) / (_DRAWS + 1))
    return min(1.0, 2 * min(several, _farthest_by_chance(rates)))


def _farthest_by_chance(rates: Sequence[float]) -> float:
    """Grubbs' test of the highest and of the lowest rate together."""
    return 2 * min(last_by_chance(rates), last_by_chance([1 / rate for rate in rates]))


@cache
def _highest_by_chance(n: int) -> FloatArray:
    import numpy as np

    drawn = np.exp(np.random.default_rng(n).normal(size=(_DRAWS, n)))
    return np.asarray(abs(modified_scores(drawn)).max(axis=-1))


def _outliers_of(summary: OperationSummary) -> list[Outlier]:
    rates = summary.rates
    if summary.rate is None:
        return []
    ratios = [rate / summary.rate.median for rate in rates]
    scores = modified_scores(rates).tolist()
    limit = outlier_limit(len(rates))
    if _farthest_by_chance(rates) < RARE:
        limit = min(limit, max(map(abs, scores)))
    return [
        Outlier(summary, sample, ratio, score)
        for sample, ratio, score in zip(summary.samples, ratios, scores, strict=True)
        if abs(score) >= limit and abs(ratio - 1) > OUTLIER_SHARE
    ]


def trends(summaries: Sequence[OperationSummary]) -> list[Trend]:
    """The operations whose rate rises or falls from repetition to repetition, the largest change first.

    Many operations are tested together: where no rate has a trend, at most 0.5 % of all
    runs get one. How much repetitions resemble the one before is estimated over all operations together.
    """
    import numpy as np

    looked_at = [
        summary for summary in summaries if len(summary.rates) >= MINIMUM_FOR_TREND and min(summary.rates) > 0
    ]
    if not looked_at:
        return []
    factor = inflation([summary.rates for summary in looked_at], _CAUTION)
    fits = [fit_trend(summary.rates, factor) for summary in looked_at]
    adjusted = adjust([float(p_value) for _, p_value in fits]).tolist()
    found = [
        Trend(summary, float(np.expm1(change)), p_value)
        for summary, (change, _), p_value in zip(looked_at, fits, adjusted, strict=True)
    ]
    real = [trend for trend in found if trend.p_value < _SIGNIFICANT and abs(trend.change) > TREND_SHARE]
    return sorted(real, key=lambda trend: -abs(trend.change))
