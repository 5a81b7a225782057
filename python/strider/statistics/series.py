"""Series of rates: resemblance to the rate before, two levels, trends; independent noise has none of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

#: A statement on a run is wrong in at most one steady run of a hundred.
RARE = 0.01
#: Levels that are nearer to each other do not matter.
LEVEL_SHARE = 0.05
#: Fewer repetitions on a side of a shift show no level; nor do fewer repetitions in all two levels in turn.
_FEWEST_OF_LEVEL, _FEWEST_IN_TURN = 3, 8
_DRAWS, _SEED = 20_000, 20090101
#: An estimate beyond would leave nothing of any test.
_MOST_PHI = 0.9
#: Fewer repetitions show no trend.
MINIMUM_FOR_TREND = 5
#: Smaller changes from the first to the last repetition do not matter.
TREND_SHARE = 0.05


@dataclass(frozen=True)
class Split:
    """The best division of some rates into two groups; `first` has the indices of one of them."""

    first: Sequence[int]
    p_value: float
    since: int | None = None


def autocorrelation(series: Sequence[Sequence[float]]) -> tuple[float, float]:
    """How much each value resembles the one before, over series of positive values.

    Each series is taken without its line. The estimate is corrected for the line that was taken away.

    Returns:
        The autocorrelation, 0 to 0.9, and its standard error where there is none.
    """
    import numpy as np

    products, squares, count = 0.0, 0.0, 0
    corrections = 0.0
    for values in series:
        n = len(values)
        if n < 5:
            continue
        logs = np.log(np.asarray(values, dtype=float))
        position = np.arange(n) - (n - 1) / 2
        rest = logs - logs.mean() - (logs * position).sum() / (position**2).sum() * position
        total = float((rest**2).sum())
        if total <= 0:
            continue
        # Each series has the same weight, however wild it is.
        products += float((rest[1:] * rest[:-1]).sum()) / total * n
        corrections += 2.0
        squares += n
        count += n
    if count == 0:
        return 0.0, 1.0
    plain = products / squares
    corrected = plain + corrections / squares * (1 + 2 * max(plain, 0.0))
    return min(max(corrected, 0.0), _MOST_PHI), 1 / math.sqrt(count)


def inflation(series: Sequence[Sequence[float]], errors: float = 1.0) -> float:
    """Factor of the standard errors of means and slopes, where values resemble the ones before.

    Args:
        series: Of all operations.
        errors: By so many of its standard errors the autocorrelation is taken higher: too little is not
            corrected.
    """
    phi, error = autocorrelation(series)
    phi = min(phi + errors * error, _MOST_PHI)
    return math.sqrt((1 + phi) / (1 - phi))


def shift(rates: Sequence[float], factor: float = 1.0) -> Split | None:
    """The most significant jump to another level that stays; None of too few repetitions.

    Each division is tested by Student's t on logarithms; the p-value is multiplied by their number.
    """
    n = len(rates)
    if n < 2 * _FEWEST_OF_LEVEL or min(rates) <= 0:
        return None
    import numpy as np
    from scipy.special import stdtr

    logs = np.log(np.asarray(rates, dtype=float))
    places = range(_FEWEST_OF_LEVEL, n - _FEWEST_OF_LEVEL + 1)
    best = Split((), 1.0)
    for place in places:
        first, last = logs[:place], logs[place:]
        step = abs(float(last.mean() - first.mean()))
        rest = float(((first - first.mean()) ** 2).sum() + ((last - last.mean()) ** 2).sum())
        error = factor * math.sqrt(rest / (n - 2) * (1 / place + 1 / (n - place)))
        p_value = 2 * float(stdtr(n - 2, -step / error)) if error > 0 else float(step == 0)
        if step > math.log1p(LEVEL_SHARE) and p_value * len(places) < best.p_value:
            best = Split(tuple(range(place)), p_value * len(places), place)
    return best


def in_turn(rates: Sequence[float]) -> Split | None:
    """Whether the rates lie in two groups apart, in any order; None of too few repetitions.

    The largest gap between ordered logarithms, with two values or more on each side, is divided by the
    deviation within the groups. Its p-value is that of simulated normal values.
    """
    import numpy as np

    n = len(rates)
    if n < _FEWEST_IN_TURN or min(rates) <= 0:
        return None
    order = np.argsort(rates)
    logs = np.log(np.asarray(rates, dtype=float))[order]
    scores, places = _gap_scores(logs[np.newaxis, :])
    place, score = int(places[0]), float(scores[0])
    if logs[place:].mean() - logs[:place].mean() <= math.log1p(LEVEL_SHARE):
        return Split((), 1.0)
    above = int((_by_chance(n) >= score).sum())
    return Split(tuple(int(one) for one in order[:place]), (above + 1) / (_DRAWS + 1))


def _gap_scores(ordered: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The largest gap ÷ deviation within the groups, and its place, of each row of ordered values."""
    import numpy as np

    n = ordered.shape[1]
    gaps = np.diff(ordered, axis=1)[:, 1 : n - 2]
    places = gaps.argmax(axis=1) + 2
    sums, squares = ordered.cumsum(axis=1), (ordered**2).cumsum(axis=1)
    rows = np.arange(len(ordered))
    low, low2 = sums[rows, places - 1], squares[rows, places - 1]
    high, high2 = sums[:, -1] - low, squares[:, -1] - low2
    rest = low2 - low**2 / places + high2 - high**2 / (n - places)
    within = np.sqrt(np.maximum(rest, 1e-18) / (n - 2))
    return gaps.max(axis=1) / within, places


@cache
def _by_chance(n: int) -> NDArray[np.float64]:
    import numpy as np

    drawn = np.sort(np.random.default_rng(_SEED + n).normal(size=(_DRAWS, n)), axis=1)
    return _gap_scores(drawn)[0]


def has_levels(rates: Sequence[float]) -> bool:
    """Whether the rates of one operation are at two levels, by chance in at most 1 % of operations."""
    splits = [split for split in (shift(rates), in_turn(rates)) if split is not None]
    return any(split.p_value * len(splits) < RARE for split in splits)


def fit_trend(values: ArrayLike, factor: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Straight lines through the logarithms of positive values, by least squares, along the last axis.

    Args:
        values: In the order of time, shape (…, n), n at least 3.
        factor: Of the slope's standard error, where values resemble the ones before (`inflation`).

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
    error = factor * np.sqrt((rest**2).sum(axis=-1) / (n - 2) / (position**2).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(error > 0, np.abs(slope) / error, np.where(slope != 0, np.inf, 0.0))
    return slope * (n - 1), 2 * stdtr(n - 2, -score)


def has_trend(rates: Sequence[float]) -> bool:
    """Whether the rates of one operation rise or fall, by chance in at most 1 % of operations."""
    if len(rates) < MINIMUM_FOR_TREND or min(rates) <= 0:
        return False
    change, p_value = fit_trend(rates)
    return float(p_value) < RARE and abs(math.expm1(float(change))) > TREND_SHARE
