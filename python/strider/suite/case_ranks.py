"""The ranks of a plan's cases: on which node each rank of a case is (docs/suites.md#placement).

The engine chooses the ranks of a case by the same rules (engine/plan/case_ranks.cpp); tests compare both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from strider.engine import Json
from strider.suite.placement import RankPlacement, groups_of
from strider.suite.plan import Plan, PlannedCase

MOST_LINES = 12
"""Of the table below a plan."""
WIDTH = 80
"""Columns of such a table."""
_MOST_LABEL = 24
_HEAD = "seats (node: ranks of the case)"
_UNKNOWN = "as the launcher places the ranks"


@dataclass(frozen=True)
class Node:
    """A node of a case.

    Attributes:
        name: Its host, or `n0`, `n1`, … where the launcher chooses.
        ranks: Ranks of the case on it, ascending.
    """

    name: str
    ranks: Sequence[int]


@dataclass(frozen=True)
class CaseRanks:
    """The ranks of a case, by node.

    Attributes:
        case: Its number.
        nodes: Its nodes in the order of the run; None where the launcher decides.
    """

    case: int
    nodes: Sequence[Node] | None

    def to_json(self) -> dict[str, Json]:
        """Returns them for `strider plan --seats --json`."""
        nodes = [{"node": node.name, "ranks": list(node.ranks)} for node in self.nodes or ()]
        return {"case": self.case, "nodes": nodes or None}


def has_placement(plan: Plan) -> bool:
    """Returns whether a case of a plan has a key of placement."""
    return any(one.width or one.spreads for case in plan.cases for one in groups_of(case))


def ranks_by_case(plan: Plan, rooms: Sequence[int] = (), names: Sequence[str] = ()) -> list[CaseRanks]:
    """Returns the ranks of all cases, by node.

    Args:
        plan: The plan.
        rooms: Ranks of the run on each node, in the order of ranks; empty: as each case needs them.
        names: Names of these nodes; empty: they are numbered.
    """
    if plan.ranks_per_node:
        rooms, names = blocks(plan.ranks, plan.ranks_per_node), ()
    return [CaseRanks(case.case, _nodes(case, rooms, names)) for case in plan.cases]


def blocks(ranks: int, per_node: int) -> list[int]:
    """Returns the number of ranks on each node, if each node is filled before the next."""
    full, rest = divmod(ranks, per_node)
    return [per_node] * full + ([rest] if rest else [])


def _nodes(case: PlannedCase, rooms: Sequence[int], names: Sequence[str]) -> list[Node] | None:
    groups = groups_of(case)
    left = list(rooms) or _own_rooms(groups)
    used: dict[int, int] = {}
    for group in groups:
        used = _used(group, left)
        if not used:
            return None
        left = [room - used.get(node, 0) for node, room in enumerate(left)]
    ranks = _in_turns(used) if groups[-1].spreads else _in_blocks(used)
    return [Node(names[node] if names else f"n{node}", own) for node, own in ranks.items()]


def _own_rooms(groups: Sequence[RankPlacement]) -> list[int]:
    """Returns rooms that suffice for a case and the groups before it; none where they name no nodes."""
    if not any(one.width for one in groups):
        return []
    return [sum(one.width or one.clients for one in groups)] * max(one.fewest_nodes for one in groups)


def _used(group: RankPlacement, rooms: Sequence[int]) -> dict[int, int]:
    """Returns the number of ranks of a group on each node that it uses; none if they do not fit."""
    limit = group.per_node or group.clients
    room_of = {node: min(room, limit) for node, room in enumerate(rooms) if room}
    if group.nodes:
        if len(room_of) < group.nodes:
            return {}
        room_of = dict(list(room_of.items())[: group.nodes])
    if sum(room_of.values()) < group.clients:
        return {}
    if not group.nodes and not group.spreads:
        return _filled(room_of, group.clients)
    if not group.nodes and group.per_node:
        room_of = {node: room_of[node] for node in _filled(room_of, group.clients)}
    return _dealt(room_of, group.clients)


def _filled(room_of: dict[int, int], clients: int) -> dict[int, int]:
    """Each node is full before the next one is used."""
    used = {}
    for node, room in room_of.items():
        if clients:
            used[node] = min(room, clients)
            clients -= used[node]
    return used


def _dealt(room_of: dict[int, int], clients: int) -> dict[int, int]:
    """Nodes have equally many ranks, the first ones one more, as far as they have room."""
    used = dict.fromkeys(room_of, 0)
    while clients:
        is_open = [node for node, room in room_of.items() if used[node] < room]
        share = max(clients // len(is_open), 1)
        for node in is_open:
            more = min(share, room_of[node] - used[node], clients)
            used[node] += more
            clients -= more
    return {node: count for node, count in used.items() if count}


def _in_blocks(used: dict[int, int]) -> dict[int, Sequence[int]]:
    """Node after node."""
    ranks: dict[int, Sequence[int]] = {}
    begin = 0
    for node, count in used.items():
        ranks[node] = range(begin, begin + count)
        begin += count
    return ranks


def _in_turns(used: dict[int, int]) -> dict[int, Sequence[int]]:
    """A rank of each node in turn."""
    ranks: dict[int, list[int]] = {node: [] for node in used}
    rank = 0
    for row in range(max(used.values())):
        for node, count in used.items():
            if row < count:
                ranks[node].append(rank)
                rank += 1
    return dict(ranks)


def lines(rows: Sequence[CaseRanks], *, are_all: bool = False) -> list[str]:
    """Returns a table: a line for all cases with the same ranks on the same nodes.

    Args:
        rows: The ranks of each case.
        are_all: Whether nodes and lines are never left out; otherwise no line has more than `WIDTH` columns,
            unless names of hosts are longer.
    """
    cases: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for one in rows:
        shown = tuple((node.name, _ranks(node.ranks, are_all=are_all)) for node in one.nodes or ())
        cases.setdefault(shown, []).append(one.case)
    found = [f"  {_label(own)}: {_shown(nodes, own, are_all=are_all)}" for nodes, own in cases.items()]
    if not are_all and len(found) > MOST_LINES:
        more = f"  … {len(found) - MOST_LINES} further lines: strider plan SUITE --seats"
        found = [*found[:MOST_LINES], more]
    return [_HEAD, *found]


def _label(cases: Sequence[int]) -> str:
    """`case 1`, or `cases 1-3, 7`."""
    runs = groupby(enumerate(cases), lambda one: one[1] - one[0])
    numbers = [[number for _, number in run] for _, run in runs]
    text = ", ".join(_range(run[0], run[-1]) for run in numbers)
    if len(text) > _MOST_LABEL:
        text = f"{cases[0]}, {cases[1]} … {cases[-1]}"
    return f"case{'' if len(cases) == 1 else 's'} {text}"


def _shown(nodes: Sequence[tuple[str, str]], cases: Sequence[int], *, are_all: bool) -> str:
    """`n0: 0-3, n1: 4-7`, with … for the nodes in the middle where the line is full."""
    if not nodes:
        return _UNKNOWN
    items = [f"{name}: {ranks}" for name, ranks in nodes]
    text = ", ".join(items)
    room = WIDTH - len(f"  {_label(cases)}: ")
    if are_all or len(text) <= room:
        return text
    end = f"…, {items[-1]} ({len(items)} nodes)"
    kept = ""
    for item in items[:-1]:
        if len(kept) + len(item) + len(", ") + len(end) > room:
            break
        kept += f"{item}, "
    return kept + end


def _ranks(ranks: Sequence[int], *, are_all: bool) -> str:
    """`0-3`, `0 4 8`, or `0 4 … 28`."""
    if ranks[-1] - ranks[0] == len(ranks) - 1:
        return _range(ranks[0], ranks[-1])
    most = len(ranks) if are_all else 3
    if len(ranks) <= most:
        return " ".join(map(str, ranks))
    return f"{ranks[0]} {ranks[1]} … {ranks[-1]}"


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
