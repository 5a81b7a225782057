"""How much of the time of requests in flight passed while the ranks computed."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from strider.statistics.rule import FEWEST_REPETITIONS, Card
from strider.statistics.summary import OperationSummary
from strider.store.case import Case

#: What two cases may differ in besides the thinking and still do the same.
_IRRELEVANT = ("case", "name", "repetitions", "warmup", "settle", "think", "turn")


CARD = Card(
    "overlap",
    "`transfer_s` with and without think time, `compute_s`",
    "3 repetitions of each",
    "lower 99.5 % bound of the hidden time above 0 (Welch)",
    "any",
    "overlap 52 % (31–73)",
)


@dataclass(frozen=True)
class Overlap:
    """A case with think time beside the same without; means over repetitions, seconds.

    Attributes:
        alone_s: Transfer time without computing.
        compute_s: Time spent on computing.
        together_s: Transfer time with computing, which is part of it.
        half_s: Half the 95 % interval of the hidden time, seconds; None with fewer than three repetitions.
        chance_s: Hidden time that chance exceeds in one of 200 cases without overlap.
    """

    alone_s: float
    compute_s: float
    together_s: float
    half_s: float | None = None
    chance_s: float = math.inf

    @property
    def is_shown(self) -> bool:
        """Whether anything was hidden, beyond chance."""
        return self.hidden_s > self.chance_s

    @property
    def hidden_s(self) -> float:
        """Time that passed for both at once; below 0 where they took longer together than apart."""
        return self.alone_s + self.compute_s - self.together_s

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of `share`."""
        if self.half_s is None:
            return None
        low, high = (self._share_of(self.hidden_s + sign * self.half_s) for sign in (-1, 1))
        return low, high

    @property
    def share(self) -> float:
        """Share of the shorter of the two that was hidden behind the other, 0 to 1.

        As the Intel MPI Benchmarks define it for nonblocking collectives (IMB-NBC): (alone + compute -
        together) ÷ the lesser of alone and compute, kept within 0 and 1.
        """
        return self._share_of(self.hidden_s)

    def _share_of(self, hidden_s: float) -> float:
        return max(0.0, min(1.0, hidden_s / min(self.alone_s, self.compute_s)))


def _widths(alone_s: Sequence[float], beyond_s: Sequence[float]) -> tuple[float, float] | None:
    """Half the 95 % interval of the mean hidden time, and what chance exceeds in 0.5 % (Welch).

    None with fewer than three repetitions.

    Args:
        alone_s: Transfer time of each repetition without computing.
        beyond_s: Of each repetition with computing, its transfer time less the computing.
    """
    n, m = len(alone_s), len(beyond_s)
    if min(n, m) < FEWEST_REPETITIONS:
        return None
    from scipy.special import stdtrit

    parts = variance(alone_s) / n, variance(beyond_s) / m
    total = sum(parts)
    if total <= 0:
        return 0.0, 0.0
    freedom = total**2 / (parts[0] ** 2 / (n - 1) + parts[1] ** 2 / (m - 1))
    half, chance = (float(stdtrit(freedom, share)) * math.sqrt(total) for share in (0.975, 0.995))
    return half, chance


def overlap_of(
    alone_s: Sequence[float], together_s: Sequence[float], compute_s: Sequence[float]
) -> Overlap | None:
    """The overlap of some repetitions; None where nothing was transferred or computed."""
    if not alone_s or not together_s or min(fmean(alone_s), fmean(compute_s)) <= 0:
        return None
    beyond_s = [one - other for one, other in zip(together_s, compute_s, strict=True)]
    means = fmean(alone_s), fmean(compute_s), fmean(together_s)
    widths = _widths(alone_s, beyond_s)
    return Overlap(*means, *widths) if widths else Overlap(*means)


def overlaps(summaries: Sequence[OperationSummary]) -> dict[tuple[int, str], Overlap]:
    """By case number and operation: what think time overlapped with.

    There is one for each operation of a case with `think` whose run has the same case with `think = 0`,
    both measured.
    """
    alone = {
        (_work(summary.case), summary.operation): summary
        for summary in summaries
        if _thinks(summary.case) == 0 and summary.samples
    }
    found: dict[tuple[int, str], Overlap] = {}
    for summary in summaries:
        without = alone.get((_work(summary.case), summary.operation))
        if _thinks(summary.case) > 0 and without:
            overlap = overlap_of(
                [sample.transfer_s for sample in without.samples],
                [sample.transfer_s for sample in summary.samples],
                [sample.compute_s for sample in summary.samples],
            )
            if overlap is not None:
                found[summary.key] = overlap
    return found


def _thinks(case: Case) -> float:
    return float(case.common_parameters.get("think") or 0)


def _work(case: Case) -> str:
    """The key of a case without its think time."""
    keys = case.model_dump(by_alias=True, exclude=set(_IRRELEVANT) | {"number"})
    return json.dumps(keys, sort_keys=True)
