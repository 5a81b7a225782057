"""How much of the time of requests in flight passed while the ranks computed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from strider.statistics.summary import OperationSummary
from strider.store.case import Case

#: What two cases may differ in besides the thinking and still do the same.
_IRRELEVANT = ("case", "name", "repetitions", "warmup", "settle", "think")


@dataclass(frozen=True)
class Overlap:
    """A case with think time beside the same without; means over repetitions, seconds.

    Attributes:
        alone_s: Transfer time without computing.
        compute_s: Time spent on computing.
        together_s: Transfer time with computing, which is part of it.
    """

    alone_s: float
    compute_s: float
    together_s: float

    @property
    def share(self) -> float:
        """Share of the shorter of the two that was hidden behind the other, 0 to 1.

        As the Intel MPI Benchmarks define it for nonblocking collectives (IMB-NBC): (alone + compute -
        together) ÷ the lesser of alone and compute, kept within 0 and 1.
        """
        shorter_s = min(self.alone_s, self.compute_s)
        return max(0.0, min(1.0, (self.alone_s + self.compute_s - self.together_s) / shorter_s))


def overlaps(summaries: Sequence[OperationSummary]) -> dict[tuple[int, str], Overlap]:
    """By case number and operation: what think time overlapped with.

    There is one for each operation of a case with `think` whose run has the same case with `think = 0`,
    both measured.
    """
    alone = {
        (_work(summary.case), summary.operation): summary.times
        for summary in summaries
        if _thinks(summary.case) == 0 and summary.times
    }
    found: dict[tuple[int, str], Overlap] = {}
    for summary in summaries:
        times = summary.times
        without = alone.get((_work(summary.case), summary.operation))
        if _thinks(summary.case) > 0 and times and without and min(without.transfer_s, times.compute_s) > 0:
            overlap = Overlap(without.transfer_s, times.compute_s, times.transfer_s)
            found[summary.key] = overlap
    return found


def _thinks(case: Case) -> float:
    return float(case.common_parameters().get("think") or 0)


def _work(case: Case) -> str:
    """The key of a case without its think time."""
    keys = case.model_dump(by_alias=True, exclude=set(_IRRELEVANT) | {"number"})
    return json.dumps(keys, sort_keys=True)
