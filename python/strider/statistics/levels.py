"""Rates at two levels, and repetitions that resemble the one before: what independent noise does not do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from strider.statistics.ratio import adjust

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from strider.statistics.summary import OperationSummary

#: What is said of a run is wrong in at most one steady run of a hundred.
RARE = 0.01
#: Levels that are nearer to each other do not matter.
LEVEL_SHARE = 0.05
#: Fewer repetitions on a side of a shift show no level; nor do fewer repetitions in all two levels in turn.
_FEWEST_OF_LEVEL, _FEWEST_IN_TURN = 3, 8
_DRAWS, _SEED = 20_000, 20090101
#: An estimate beyond would leave nothing of any test.
_MOST_PHI = 0.9


@dataclass(frozen=True)
class Levels:
    """Rates at two levels.

    Attributes:
        low: Geometric mean of the lower rates.
        high: Of the higher rates.
        since: Number of the first repetition at the second level, from 0; None where levels alternate.
        p_value: Adjusted for the number of operations.
    """

    summary: OperationSummary
    low: float
    high: float
    since: int | None
    p_value: float

    @property
    def is_rather_a_line(self) -> bool:
        """Whether a straight line is nearer to the rates than a step: both find a steady rise or fall."""
        import numpy as np

        if self.since is None:
            return False
        logs = np.log(np.asarray(self.summary.rates, dtype=float))
        position = np.arange(logs.size) - (logs.size - 1) / 2
        line = logs.mean() + (logs * position).sum() / (position**2).sum() * position
        step = np.where(position < position[self.since], logs[: self.since].mean(), logs[self.since :].mean())
        return bool(((logs - line) ** 2).sum() < ((logs - step) ** 2).sum())


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
    import numpy as np
    from scipy.special import stdtr

    n = len(rates)
    if n < 2 * _FEWEST_OF_LEVEL or min(rates) <= 0:
        return None
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


def levels(summaries: Sequence[OperationSummary]) -> list[Levels]:
    """The operations at two levels, the widest apart first; said without cause in at most 1 % of runs."""
    factor = inflation([summary.rates for summary in summaries if _positive(summary.rates)])
    found = []
    for summary in summaries:
        splits = [split for split in (shift(summary.rates, factor), in_turn(summary.rates)) if split]
        if splits:
            best = min(splits, key=lambda split: split.p_value)
            found.append((summary, best, min(1.0, best.p_value * len(splits))))
    adjusted = adjust([p_value for _, _, p_value in found]).tolist() if found else []
    real = [
        _levels(summary, split, p_value)
        for (summary, split, _), p_value in zip(found, adjusted, strict=True)
        if p_value < RARE and split.first
    ]
    return sorted(real, key=lambda one: one.low / one.high)


def _positive(rates: Sequence[float]) -> bool:
    return bool(rates) and min(rates) > 0


def _levels(summary: OperationSummary, split: Split, p_value: float) -> Levels:
    def centre(numbers: Sequence[int]) -> float:
        return math.exp(sum(math.log(summary.rates[one]) for one in numbers) / len(numbers))

    first = set(split.first)
    ends = centre(sorted(first)), centre([one for one in range(summary.n) if one not in first])
    return Levels(summary, min(ends), max(ends), split.since, p_value)


def resemblance(summaries: Sequence[OperationSummary]) -> float | None:
    """The autocorrelation of a run's repetitions if chance explains it in at most 1 % of runs; else None."""
    phi, error = autocorrelation([summary.rates for summary in summaries if _positive(summary.rates)])
    return phi if phi > 3.0 * error else None
