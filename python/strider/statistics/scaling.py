"""Up to which count of clients, servers or nodes a rate grows in proportion, and where it no longer does."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from strider.statistics.ratio import unpaired_ratio
from strider.statistics.rule import FEWEST_REPETITIONS, Card
from strider.statistics.summary import OperationSummary
from strider.statistics.trust import is_trusted
from strider.store.case import Case, Parameters

#: A rate grows in proportion where its efficiency is surely above this.
LINEAR = 0.9
#: Level of the intervals that decide.
LEVEL = 0.99
FEWEST_COUNTS = 3
CARD = Card(
    "scaling",
    "ratio of the rate at each count of clients, servers or nodes to that at the lowest, ÷ the ratio of the "
    "counts (efficiency)",
    "3 counts, 3 repetitions of each, grade B apart from `spread`",
    "99 % interval (Welch, on logarithms) of the efficiency above 90 % up to a count, below 90 % from a "
    "higher one on",
    "10 %",
    "98 % of linear at 2, 82 % at 3 servers: the knee is between 2 and 3 servers",
)
#: Keys of a case that do not change its work.
_BOOKKEEPING = frozenset({"case", "repetitions", "warmup", "settle", "request_bytes", "own_client"})


@dataclass(frozen=True)
class Axis:
    """A count that cases may differ in.

    Attributes:
        noun: Its plural.
        count: The count of a case; None where it has none.
        without: Removes what differs with the count from the keys of a case.
    """

    noun: str
    count: Callable[[Case], object]
    without: Callable[[Parameters], Parameters]


def _without(*names: str) -> Callable[[Parameters], Parameters]:
    return lambda keys: {name: value for name, value in keys.items() if name not in names}


def _without_servers(keys: Parameters) -> Parameters:
    interface = {name: value for name, value in keys["interface"].items() if name != "servers"}
    return {**keys, "interface": interface}


def _nodes_of(case: Case) -> object:
    """Nodes of a case whose ranks per node are set: its clients grow with them."""
    own = case.common_parameters
    return own.get("nodes") if own.get("per_node") else None


AXES = (
    Axis("clients", lambda case: case.clients, _without("clients")),
    Axis("nodes", _nodes_of, _without("clients", "nodes")),
    Axis("servers", lambda case: case.interface.get("servers"), _without_servers),
    Axis("servers", lambda case: case.common_parameters.get("mount_servers"), _without("mount_servers")),
)


@dataclass(frozen=True)
class Efficiency:
    """The rate at a count ÷ that at the lowest, ÷ the ratio of the counts; 1 is growth in proportion.

    Attributes:
        low: Lower end of its 99 % interval.
        high: Upper end.
    """

    count: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Scaling:
    """How the rate of an operation grows with a count.

    Attributes:
        summary: The operation at the lowest count.
        noun: The counted items, in the plural.
        lowest: The lowest count.
        points: The efficiency at each higher count.
    """

    summary: OperationSummary
    noun: str
    lowest: int
    points: Sequence[Efficiency]

    @property
    def linear(self) -> int:
        """The highest count up to which the efficiency is surely above `LINEAR`; `lowest` if none is."""
        shown = [point.count for point in takewhile(lambda point: point.low > LINEAR, self.points)]
        return shown[-1] if shown else self.lowest

    @property
    def below(self) -> int | None:
        """The lowest count from which on it is surely below `LINEAR`; None if it is not at the highest."""
        shown = [point.count for point in takewhile(lambda point: point.high < LINEAR, self.points[::-1])]
        return shown[-1] if shown else None

    @property
    def is_linear_throughout(self) -> bool:
        """Whether growth in proportion is shown up to the highest count."""
        return self.linear == self.points[-1].count


def scalings(summaries: Sequence[OperationSummary]) -> list[Scaling]:
    """The growth of each operation along each count, where a knee or its absence is shown."""
    usable = [one for one in summaries if _is_usable(one)]
    keys = {case.number: _keys(case) for case in {one.case.number: one.case for one in usable}.values()}
    found = []
    for axis in AXES:
        groups: defaultdict[str, dict[int, OperationSummary]] = defaultdict(dict)
        for one in usable:
            count = axis.count(one.case)
            if isinstance(count, int) and count > 0:
                work = json.dumps(axis.without(keys[one.case.number]), sort_keys=True)
                groups[f"{one.operation} {work}"][count] = one
        found += [_scaling(axis.noun, own) for own in groups.values() if len(own) >= FEWEST_COUNTS]
    return [one for one in found if one.below is not None or one.is_linear_throughout]


def scaling_of(rates: Mapping[int, Sequence[float]]) -> list[Efficiency]:
    """The efficiency at each count but the lowest.

    Args:
        rates: Rates of the repetitions by count; at least two, all positive.
    """
    lowest = min(rates)
    found = []
    for count in sorted(set(rates) - {lowest}):
        ratio = unpaired_ratio(rates[lowest], rates[count])
        low, high = ratio.interval(LEVEL)
        share = lowest / count
        found.append(Efficiency(count, share * math.exp(ratio.log), share * float(low), share * float(high)))
    return found


def _scaling(noun: str, own: Mapping[int, OperationSummary]) -> Scaling:
    lowest = min(own)
    return Scaling(own[lowest], noun, lowest, scaling_of({count: one.rates for count, one in own.items()}))


def _is_usable(summary: OperationSummary) -> bool:
    trust = summary.trust
    enough = summary.n >= FEWEST_REPETITIONS and all(rate > 0 for rate in summary.rates)
    return enough and trust is not None and is_trusted(trust.apart_from({"spread"}))


def _keys(case: Case) -> Parameters:
    return case.model_dump(by_alias=True, exclude={*_BOOKKEEPING, "number"})
