"""The nodes of cases, as far as a plan knows them (docs/suites.md#placement)."""

from collections.abc import Sequence
from dataclasses import dataclass

from strider.suite.plan import PlannedCase
from strider.suite.vocabulary import MOST_RANKS


@dataclass(frozen=True)
class RankPlacement:
    """On which nodes the ranks of a case are.

    Attributes:
        clients: Ranks of the case.
        nodes: Nodes that the case names; 0: none.
        per_node: Most ranks on a node; 0: no limit.
        spreads: Whether consecutive ranks are on different nodes.
    """

    clients: int
    nodes: int
    per_node: int
    spreads: bool

    @classmethod
    def of(cls, case: PlannedCase) -> "RankPlacement":
        """The placement of a case."""
        return cls(
            case.clients,
            _number(case, "nodes"),
            _number(case, "per_node"),
            case.get("placement") == "spread",
        )

    @property
    def width(self) -> int:
        """Ranks on the node with the most, as far as the case names them; 0: not known."""
        if self.per_node:
            return min(self.per_node, self.clients)
        return -(-self.clients // self.nodes) if self.nodes else 0

    @property
    def fewest_nodes(self) -> int:
        """The fewest nodes on which the case can be, as far as it names them."""
        if self.nodes or not self.per_node:
            return max(1, self.nodes)
        return -(-self.clients // self.per_node)

    def fewest(self, ranks: int, ranks_per_node: int, is_alone: bool) -> int | None:
        """The number of clients on the node with the fewest; None if it is unknown.

        Args:
            ranks: Ranks of the run.
            ranks_per_node: Ranks that count as a node; 0: not known.
            is_alone: Whether all ranks run on one node where `ranks_per_node` is 0.
        """
        if self.nodes:
            return max(1, self.clients // self.nodes)
        width = self.per_node or ranks_per_node
        if not width:
            return self.clients if is_alone else 1 if self.spreads else None
        if not self.spreads:
            return self.clients % width or width
        used = -(-self.clients // width) if self.per_node else -(-ranks // width)
        return max(1, self.clients // used)


def ranks_of(cases: Sequence[PlannedCase], ranks_per_node: int) -> int:
    """The ranks that a run of some cases needs: all clients, and enough on each node that a case names.

    Args:
        cases: The cases.
        ranks_per_node: Ranks that count as a node; 0: nodes have as many as the widest case needs.
    """
    placements = [_with_earlier_groups(case) for case in cases]
    clients = max(placement.clients for placement in placements)
    if ranks_per_node:
        ends = [(one.nodes - 1) * ranks_per_node + one.width for one in placements if one.nodes]
        return max([clients, *(end for end in ends if end <= MOST_RANKS)])
    grid = max(one.nodes for one in placements) * max(one.width for one in placements)
    return max(clients, grid if grid <= MOST_RANKS else 0)


@dataclass(frozen=True)
class _Ranks:
    """The ranks that a case needs beside those of earlier groups; `width`: on the node with the most."""

    clients: int
    nodes: int
    width: int


def groups_of(case: PlannedCase) -> list[RankPlacement]:
    """The placement of a case, after those of the groups that choose their ranks before it."""
    earlier = [
        RankPlacement(ranks["clients"], ranks["nodes"], ranks["per_node"], ranks["placement"] == "spread")
        for ranks in (case.get("turn") or {}).get("earlier", [])
    ]
    return [*earlier, RankPlacement.of(case)]


def _with_earlier_groups(case: PlannedCase) -> _Ranks:
    groups = groups_of(case)
    names_nodes = any(one.width for one in groups)
    return _Ranks(
        sum(one.clients for one in groups),
        max(one.nodes for one in groups),
        sum(one.width or one.clients for one in groups) if names_nodes else 0,
    )


def _number(case: PlannedCase, key: str) -> int:
    value = case.get(key)
    return value if isinstance(value, int) else 0
