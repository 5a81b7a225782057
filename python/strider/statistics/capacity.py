"""How many requests per second a case carries, from cases that differ only in their arrival rate."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from strider.statistics.trust import Trust, is_trusted

if TYPE_CHECKING:
    from strider.statistics.summary import OperationSummary

FEWEST_RATES, FEWEST_REPETITIONS = 2, 3
#: The latency has risen where p99 is more than so many times that at the lowest arrival rate.
RISE = 2


@dataclass(frozen=True)
class Knee:
    """The arrival rate from which the latency rises.

    Attributes:
        lowest: The operation at the lowest arrival rate.
        rises: The operation at the first rate at which the 95 % interval of p99 is above `RISE` times that at
            the lowest, there and at every higher rate; None if there is none.
        stays: Whether the interval of p99 at the highest carried rate is below `RISE` times that at the
            lowest.
    """

    lowest: OperationSummary
    rises: OperationSummary | None
    stays: bool


@dataclass(frozen=True)
class Capacity:
    """The loads that an operation carries, and those that it does not.

    Attributes:
        summary: The operation at the highest rate that it carries, or at the lowest of all.
        results: The operation at all rates.
        carried: The highest arrival rate that every repetition carried, and every lower rate, in requests per
            second; None if the lowest is not carried.
        refused: The lowest that no repetition carried, and no higher rate; None if the highest is not.
        completed: Requests per second that were completed at `refused`.
        crossed: An arrival rate that no repetition carried, and a higher one that all did; None where rates
            do not contradict each other.
        highest: The highest arrival rate, in requests per second.
        repetitions: Repetitions at the rate that has the fewest.
        best: The best trust of a result; None for the interface `null`.
        knee: Where the latency rises; None where too few requests show it.
    """

    summary: OperationSummary
    results: Sequence[OperationSummary]
    carried: float | None
    refused: float | None
    completed: float | None
    crossed: tuple[float, float] | None
    highest: float
    repetitions: int
    best: Trust | None
    knee: Knee | None

    @property
    def is_repeated(self) -> bool:
        """Whether there are enough repetitions to distinguish chance from saturation."""
        return self.repetitions >= FEWEST_REPETITIONS

    @property
    def is_trusted(self) -> bool:
        """Whether some result may be in a sentence; those of `null` are Strider's own and may."""
        return self.best is None or is_trusted(self.best)


def capacities(summaries: Sequence[OperationSummary]) -> list[Capacity]:
    """The capacity of each operation that was measured at several arrival rates.

    A rate that some repetitions carry and others do not belongs to neither side. Rates with
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
    common = {key: value for key, value in case.common_parameters.items() if key != "arrival_rate"}
    others = (case.name, summary.operation, case.clients, case.order, case.sharing)
    return repr((others, common, case.shape, case.interface))


def _capacity(own: Sequence[OperationSummary]) -> Capacity:
    rising = sorted(own, key=_rate)
    carried = list(takewhile(_is_carried, rising))
    refused = list(takewhile(_is_refused, reversed(rising)))
    best, worst = (carried[-1] if carried else None), (refused[-1] if refused else None)
    return Capacity(
        summary=best or rising[0],
        results=rising,
        carried=_rate(best) if best else None,
        refused=_rate(worst) if worst else None,
        completed=min(worst.load.achieved, worst.load.completed) if worst and worst.load else None,
        crossed=_crossed(rising),
        highest=_rate(rising[-1]),
        repetitions=min(len(one.loads) for one in own),
        best=min((one.trust for one in own if one.trust), key=lambda trust: trust.grade, default=None),
        knee=_knee(rising, best or rising[0]),
    )


def _is_carried(summary: OperationSummary) -> bool:
    return all(load.is_carried for load in summary.loads)


def _is_refused(summary: OperationSummary) -> bool:
    return not any(load.is_carried for load in summary.loads)


def _crossed(rising: Sequence[OperationSummary]) -> tuple[float, float] | None:
    """Returns the lowest refused rate below a carried one, and the highest carried one."""
    refused = [_rate(one) for one in rising if _is_refused(one)]
    carried = [_rate(one) for one in rising if _is_carried(one)]
    return (refused[0], carried[-1]) if refused and carried and refused[0] < carried[-1] else None


def _knee(rising: Sequence[OperationSummary], best: OperationSummary) -> Knee | None:
    """Returns where p99 rises, if it is known at the lowest and at the highest carried rate."""
    low, high = _p99_s(rising[0])
    best_low, best_high = _p99_s(best)
    if not math.isfinite(low + best_low):
        return None
    risen = list(takewhile(lambda one: _p99_s(one)[0] > RISE * high, reversed(rising)))
    return Knee(rising[0], risen[-1] if risen else None, best_high < RISE * low)


def _p99_s(summary: OperationSummary) -> tuple[float, float]:
    """Returns the 95 % interval of p99, seconds; NaN where it is not known."""
    found = summary.latency
    return (found.p99_low_s, found.p99_high_s) if found else (math.nan, math.nan)
