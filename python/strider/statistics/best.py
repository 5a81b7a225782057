"""The best of several results: which ones it may be, and a rate that is not the luckiest one's.

The highest of many measured rates is too high, because it is chosen for its luck: of 60 equal configurations
with three repetitions that vary by 10 %, it is 16 % too high. So the rate of the best one is drawn towards
the mean of all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: The best configuration is in the set with this probability at least.
_LEVEL = 0.95
#: Results differ where differences as large would come by chance this rarely.
_RARE = 0.01
_POINTS = 64


@dataclass(frozen=True)
class Best:
    """The best of k results.

    Attributes:
        leader: Number of the one with the highest rate.
        members: Numbers of those that may be the best, the highest rate first.
        rate: Of the best one, freed from its luck.
    """

    leader: int
    members: Sequence[int]
    rate: float


def best_of(rates: Sequence[Sequence[float]]) -> Best:
    """The best of some results by their repetitions' rates.

    A result may be the best unless another one is higher by more than chance explains (multiple comparisons
    with the best, Hsu 1981, by Dunnett's one-sided critical value). Its deviation is its own or, if that is
    larger, that of all results. The rate is drawn towards the mean of all (empirical Bayes, James and Stein),
    all the way unless an F test finds differences: where there are none, shrinking alone leaves some of the
    luck with few results. Where differences are as small as the noise, the rate is some per cent too low.

    Args:
        rates: Of each result its repetitions, positive and at least two.
    """
    import numpy as np

    logs = [np.log(np.asarray(own, dtype=float)) for own in rates]
    means = np.array([own.mean() for own in logs])
    counts = np.array([own.size for own in logs])
    squares = np.array([((own - own.mean()) ** 2).sum() for own in logs])
    freedom = int((counts - 1).sum())
    pooled = float(squares.sum()) / freedom
    errors = np.maximum(pooled, squares / (counts - 1)) / counts
    leader = int(means.argmax())
    order = np.argsort(-means, kind="stable")
    reach = critical_value(len(rates), freedom)
    gap = means[leader] - means
    may_be = gap <= reach * np.sqrt(errors + errors[leader])
    members = [int(one) for one in order if may_be[one]]
    return Best(leader, members, math.exp(_shrunken(means[order], errors[order], freedom)))


def _shrunken(means: NDArray[np.float64], errors: NDArray[np.float64], freedom: int) -> float:
    """The first of some means, drawn towards all of them."""
    from scipy.special import fdtrc

    k = means.size
    if k == 1:
        return float(means[0])
    middle, error = float(means.mean()), float(errors.mean())
    spread = float(means.var(ddof=1))
    if spread == 0 or (error > 0 and float(fdtrc(k - 1, freedom, spread / error)) > _RARE):
        return middle
    kept = max(0.0, 1 - error * max(0, k - 3) / ((k - 1) * spread))
    return middle + kept * (float(means[0]) - middle)


def critical_value(k: int, freedom: int) -> float:
    """Dunnett's one-sided critical value for comparing k - 1 means with one, of equal numbers, at 5 %."""
    import numpy as np
    from scipy.optimize import brentq
    from scipy.special import gammaincinv, ndtr

    if k < 2:
        return 0.0
    z, weights = np.polynomial.hermite_e.hermegauss(_POINTS)
    weights = weights / weights.sum()
    at = (np.arange(_POINTS) + 0.5) / _POINTS
    scale = np.sqrt(2 * gammaincinv(freedom / 2, at) / freedom)

    def missing(limit: float) -> float:
        inside = ndtr(z[:, np.newaxis] + limit * math.sqrt(2) * scale[np.newaxis, :]) ** (k - 1)
        return float((weights[:, np.newaxis] * inside).sum(axis=0).mean()) - _LEVEL

    return float(brentq(missing, 0.0, 60.0))
