"""Where one method overtakes another along a sweep of lengths, and whether it does at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strider.statistics.rule import FEWEST_REPETITIONS, Card

#: A line needs this many lengths.
FEWEST_LENGTHS = 3
_TAIL = 0.025
CARD = Card(
    "crossover",
    "logarithm of the ratio of the two rates in each repetition, a line in the logarithm of the length",
    "3 lengths, 3 repetitions, grade B apart from `spread`",
    "95 % intervals of the line below 1 at the shortest length and above 1 at the longest; Fieller's "
    "interval of where it is 1",
    "any",
    "gather is faster than pack from about 512 bytes (95 % interval 430–610 bytes)",
)


@dataclass(frozen=True)
class Crossover:
    """The length from which on the first method is faster, in bytes, with its 95 % interval."""

    length: float
    low: float
    high: float


def crossover(
    first: Mapping[int, Sequence[float]], second: Mapping[int, Sequence[float]]
) -> Crossover | None:
    """The length at which the first method overtakes the second; None where that is not shown.

    Args:
        first: Rates of the repetitions by length.
        second: Likewise. Lengths with fewer than three repetitions are left out.
    """
    import numpy as np
    from scipy.special import stdtrit

    places: list[float] = []
    ratios: list[float] = []
    for length in sorted(set(first) & set(second)):
        pairs = list(zip(first[length], second[length], strict=False))
        if len(pairs) < FEWEST_REPETITIONS or min(map(min, pairs)) <= 0:
            continue
        places += [math.log(length)] * len(pairs)
        ratios += [math.log(one / other) for one, other in pairs]
    lengths = sorted(set(places))
    if len(lengths) < FEWEST_LENGTHS:
        return None
    x, y = np.array(places), np.array(ratios)
    middle = float(x.mean())
    width = float(((x - middle) ** 2).sum())
    slope, level = float(((x - middle) * y).sum() / width), float(y.mean())
    freedom = len(x) - 2
    variance = float(((y - level - slope * (x - middle)) ** 2).sum()) / freedom
    t = float(stdtrit(freedom, 1 - _TAIL))

    def ends(place: float) -> tuple[float, float]:
        half = t * math.sqrt(variance * (1 / len(x) + (place - middle) ** 2 / width))
        value = level + slope * (place - middle)
        return value - half, value + half

    if not (ends(lengths[0])[1] < 0 < ends(lengths[-1])[0]):
        return None
    # Fieller: all places at which the line's interval has 0 in it.
    a = slope**2 - t**2 * variance / width
    b = level * slope
    c = level**2 - t**2 * variance / len(x)
    if a <= 0:
        return None
    root = math.sqrt(max(0.0, b * b - a * c))
    low, high = (middle + (-b - root) / a, middle + (-b + root) / a)
    return Crossover(math.exp(middle - level / slope), math.exp(low), math.exp(high))
