"""How many requests per second a case carries, from cases that differ only in their arrival rate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from strider.statistics.trust import Trust, is_trusted

if TYPE_CHECKING:
    from strider.statistics.summary import OperationSummary

FEWEST_RATES, FEWEST_REPETITIONS = 2, 3


@dataclass(frozen=True)
class Capacity:
    """The loads that an operation carries, and those that it does not.

    Attributes:
        summary: The operation at the highest rate that it carries, or at the lowest of all.
        results: The operation at all rates.
        carried: The highest arrival rate at which no repetition was saturated, nor at any lower rate, in
            requests per second; None if the lowest is not carried.
        refused: The lowest at which every repetition was saturated, and at every higher rate; None if the
            highest is not.
        issued: Requests per second that were issued at `refused`.
        highest: The highest arrival rate, in requests per second.
        repetitions: Repetitions at the rate that has the fewest.
        best: The best trust of a result; None for the interface `null`.
    """

    summary: OperationSummary
    results: Sequence[OperationSummary]
    carried: float | None
    refused: float | None
    issued: float | None
    highest: float
    repetitions: int
    best: Trust | None

    @property
    def is_repeated(self) -> bool:
        """Whether there are enough repetitions to tell chance from saturation."""
        return self.repetitions >= FEWEST_REPETITIONS

    @property
    def is_trusted(self) -> bool:
        """Whether some result may be in a sentence; those of `null` are Strider's own and may."""
        return self.best is None or is_trusted(self.best)


def capacities(summaries: Sequence[OperationSummary]) -> list[Capacity]:
    """The capacity of each operation that was measured at several arrival rates.

    A rate at which some repetitions are saturated and others are not belongs to neither side. Rates with
    fewer than three repetitions are left out if two others remain.
    """
    groups: defaultdict[str, list[OperationSummary]] = defaultdict(list)
    for summary in summaries:
        if summary.load is not None:
            groups[_alike(summary)].append(summary)
    found = []
    for own in groups.values():
        repeated = [one for one in own if len(one.loads) >= FEWEST_REPETITIONS]
        used = repeated if _count(repeated) >= FEWEST_RATES else own
        if _count(used) >= FEWEST_RATES:
            found.append(_capacity(used))
    return found


def _count(own: Sequence[OperationSummary]) -> int:
    return len({_rate(one) for one in own})


def _rate(summary: OperationSummary) -> float:
    return summary.load.rate if summary.load else 0.0


def _alike(summary: OperationSummary) -> str:
    """The key of cases that differ in their arrival rate alone."""
    case = summary.case
    common = {key: value for key, value in case.common_parameters().items() if key != "arrival_rate"}
    others = (case.name, summary.operation, case.clients, case.order, case.sharing)
    return repr((others, common, case.shape, case.interface))


def _capacity(own: Sequence[OperationSummary]) -> Capacity:
    rising = sorted(own, key=_rate)
    carried = list(takewhile(lambda one: not any(load.saturated for load in one.loads), rising))
    refused = list(takewhile(lambda one: all(load.saturated for load in one.loads), reversed(rising)))
    best, worst = (carried[-1] if carried else None), (refused[-1] if refused else None)
    return Capacity(
        summary=best or rising[0],
        results=rising,
        carried=_rate(best) if best else None,
        refused=_rate(worst) if worst else None,
        issued=worst.load.achieved if worst and worst.load else None,
        highest=_rate(rising[-1]),
        repetitions=min(len(one.loads) for one in own),
        best=min((one.trust for one in own if one.trust), key=lambda trust: trust.grade, default=None),
    )
