"""Noise of repetitions, as logarithms of rates: the summand of the logarithm of the true rate.

Every kind has a mean of 0 on the logarithmic scale. So the geometric mean of the true rate is known, and the
arithmetic mean as far as `Noise.mean_factor` gives it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from strider.statistics.histogram import midpoint_ns

Logs = NDArray[np.float64]
Random = np.random.Generator
Draw = Callable[[Random, tuple[int, int]], Logs]


@dataclass(frozen=True)
class Noise:
    """A kind of noise.

    Attributes:
        name: For tables.
        draw: Logarithms of shape (rows, repetitions); repetitions are in the order of time.
        independent: Whether the repetitions of a row are independent of each other.
    """

    name: str
    draw: Draw
    independent: bool = True

    def __add__(self, other: Noise) -> Noise:
        """Both together."""
        return Noise(
            f"{self.name}, {other.name}",
            lambda rng, shape: self.draw(rng, shape) + other.draw(rng, shape),
            self.independent and other.independent,
        )

    def mean_factor(self, seed: int = 1) -> float:
        """Arithmetic mean of the rate ÷ its geometric mean, by simulation."""
        logs = self.draw(np.random.default_rng(seed), (100_000, 4))
        return float(np.exp(logs).mean())


def lognormal(variation: float) -> Noise:
    """Independent; `variation` is the coefficient of variation of the rates."""
    deviation = math.sqrt(math.log1p(variation**2))
    return Noise(f"lognormal {100 * variation:g} %", lambda rng, shape: rng.normal(0, deviation, shape))


def two_levels(share: float, lower: float = 0.7, variation: float = 0.03) -> Noise:
    """A share of the repetitions at 1, the others at `lower` times that."""
    step = math.log(lower)

    def draw(rng: Random, shape: tuple[int, int]) -> Logs:
        low = rng.random(shape) >= share
        return np.where(low, step, 0.0) - (1 - share) * step + rng.normal(0, variation, shape)

    return Noise(f"two levels {100 * share:.0f}:{100 * (1 - share):.0f}", draw)


def stalls(share: float = 0.05, to: float = 0.4, variation: float = 0.03) -> Noise:
    """A repetition now and then falls to a fraction of its rate."""
    found = two_levels(1 - share, to, variation)
    return Noise(f"stalls {100 * share:g} %", found.draw)


def autocorrelated(phi: float, variation: float = 0.05) -> Noise:
    """Every repetition keeps a share of the deviation of the one before (AR 1)."""
    own = variation * math.sqrt(1 - phi**2)

    def draw(rng: Random, shape: tuple[int, int]) -> Logs:
        logs = rng.normal(0, own, shape)
        logs[:, 0] = rng.normal(0, variation, shape[0])
        for at in range(1, shape[1]):
            logs[:, at] += phi * logs[:, at - 1]
        return logs

    return Noise(f"autocorrelated {phi:g}", draw, independent=False)


def drift(total: float, variation: float = 0.03) -> Noise:
    """A straight line from the first repetition to the last, falling by `total` in logarithms."""

    def draw(rng: Random, shape: tuple[int, int]) -> Logs:
        line = np.linspace(total / 2, -total / 2, shape[1])
        return line + rng.normal(0, variation, shape)

    return Noise(f"drift {100 * total:g} %", draw, independent=False)


def run_effect(deviation: float, of_rows: bool = False) -> Noise:
    """A run as a whole is faster or slower: all rows alike, or each by itself."""

    def draw(rng: Random, shape: tuple[int, int]) -> Logs:
        return np.broadcast_to(rng.normal(0, deviation, (shape[0] if of_rows else 1, 1)), shape)

    kind = "of each row" if of_rows else "of all rows"
    return Noise(f"run effect {100 * deviation:g} % {kind}", draw, independent=False)


def last_of_ranks(variation: float, ranks: int = 8) -> Noise:
    """The rate of the last of some ranks that vary independently, beside its typical value."""
    middle = float(np.random.default_rng(1).normal(size=(20_000, ranks)).max(axis=1).mean())

    def draw(rng: Random, shape: tuple[int, int]) -> Logs:
        late: Logs = variation * (middle - rng.normal(size=(*shape, ranks)).max(axis=-1))
        return late

    return Noise(f"last of {ranks} ranks {100 * variation:g} %", draw)


def silent() -> Noise:
    """None at all."""
    return Noise("none", lambda _, shape: np.zeros(shape))


def buckets_of(nanoseconds: Logs) -> NDArray[np.int64]:
    """`strider.statistics.histogram.bucket_of` of many values, all from 128 on."""
    values = nanoseconds.astype(np.int64)
    exponents = np.frexp(values.astype(float))[1] - 1
    found: NDArray[np.int64] = (exponents - 6) * 128 + ((values >> (exponents - 7)) & 127)
    return found


def quantised(seconds: Logs) -> Logs:
    """Latencies as a histogram of the scheme loglinear-7 gives them back."""
    flat = [midpoint_ns(bucket) * 1e-9 for bucket in buckets_of(1e9 * seconds.ravel()).tolist()]
    return np.array(flat).reshape(seconds.shape)
