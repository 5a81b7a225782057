"""How many requests per second a case carries, from cases that differ only in their arrival rate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strider.statistics.summary import OperationSummary

FEWEST_RATES, FEWEST_REPETITIONS = 2, 3


@dataclass(frozen=True)
class Capacity:
    """The loads that an operation carries, and those that it does not.

    Attributes:
        summary: The operation at the highest rate that it carries, or at the lowest of all.
        carried: The highest arrival rate at which no repetition was saturated, nor at any lower rate, in
            requests per second; None if the lowest is not carried.
        refused: The lowest at which every repetition was saturated, and at every higher rate; None if the
            highest is not.
        issued: Requests per second that were issued at `refused`.
    """

    summary: OperationSummary
    carried: float | None
    refused: float | None
    issued: float | None


def capacities(summaries: Sequence[OperationSummary]) -> list[Capacity]:
    """The capacity of each operation that was measured at several arrival rates.

    A rate at which some repetitions are saturated and others are not belongs to neither side. Fewer than
    three repetitions at a rate, or two rates, show no capacity.
    """
    groups: defaultdict[str, list[OperationSummary]] = defaultdict(list)
    for summary in summaries:
        if len(summary.loads) >= FEWEST_REPETITIONS and summary.load is not None:
            groups[_alike(summary)].append(summary)
    return [_capacity(own) for own in groups.values() if len({_rate(one) for one in own}) >= FEWEST_RATES]


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
        carried=_rate(best) if best else None,
        refused=_rate(worst) if worst else None,
        issued=worst.load.achieved if worst and worst.load else None,
    )
