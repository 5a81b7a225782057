"""Rates at two levels, and repetitions that resemble the one before, which independent noise has not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from strider.statistics.ratio import adjust
from strider.statistics.series import RARE, Split, autocorrelation, in_turn, inflation, shift
from strider.statistics.summary import OperationSummary


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
