"""Slow ranks of all cases: from the rows of ranks, and from distributions over ranks where there are no rows.

A distribution shows the last rank of a phase, its node and the median, not the times of the other ranks. It
suffices to name a rank that finishes last far more often than chance allows, or a node whose ranks take
turns.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from strider.statistics import stragglers as by_rows
from strider.statistics.rule import Card
from strider.statistics.stragglers import (
    EQUAL_WORK,
    LATE,
    LEVEL,
    SLOWER,
    LastRank,
    Phase,
    Straggler,
    long_enough,
    node_name,
)
from strider.store.model import RankDistribution, Run, Sample

OFTEN_LAST = Card(
    "straggler among more than 64 clients",
    "the last rank of each phase of an operation, and its node",
    "2 repetitions, phases of 0.1 s, equal work",
    "largest number of phases with the same last rank (or node) beside equal ranks and nodes (binomial), all "
    "operations of a run together: 0.5 %",
    "1.1 ×",
    "a rank of node02 finished last in 9 of 10 phases of write",
)


def last_ranks(run: Run) -> dict[Phase, LastRank]:
    """Returns the last rank to finish in each phase with work for two ranks or more.

    Raises:
        StriderError: The run's events are damaged.
    """
    found = by_rows.last_ranks(run)
    for sample in run.samples:
        phase = (sample.case, sample.repetition, sample.operation)
        case = run.cases.get(sample.case)
        if phase in found or case is None or case.operations.count(sample.operation) != 1:
            continue
        last = _last_rank(run, sample)
        if last is not None:
            found[phase] = last
    return found


def stragglers(run: Run, last: dict[Phase, LastRank]) -> list[Straggler]:
    """Returns the ranks and nodes that are slower than the others, those of cases with rows first.

    Args:
        run: The run.
        last: The last rank of each phase, by `last_ranks`.
    """
    return [*by_rows.stragglers(run, last), *_often_last(run, last)]


def _last_rank(run: Run, sample: Sample) -> LastRank | None:
    """The last rank of a phase by the distributions; None without them, or with one rank."""
    quantities = {one.quantity: one for one in sample.rank_distributions}
    end = quantities.get("end_s")
    if end is None or end.ranks < 2 or not end.p50 > 0:
        return None
    return LastRank(
        repetition=sample.repetition,
        rank=end.max_rank,
        node=node_name(run, end.max_node),
        node_number=end.max_node,
        done_s=end.max,
        lateness=end.max / end.p50,
        whole_node=False,
        lost=None,
        ranks=end.ranks,
        equal_work=_is_equal(quantities),
    )


def _is_equal(quantities: Mapping[str, RankDistribution]) -> bool:
    work = [quantities[name] for name in ("bytes", "requests") if name in quantities]
    moved = next((one for one in work if one.max > 0), None)
    return moved is not None and moved.max <= EQUAL_WORK * moved.min


@dataclass(frozen=True)
class Often:
    """A rank or a node that has the last rank of some phases of a case.

    Attributes:
        rank: None for a node.
        node: Name of the node.
        own: The phases: operation, the last rank, and how many times as long it took as the median of the
            others.
        n: Number of phases, also those in which another one was the last.
        p_value: For the whole run, at most.
    """

    rank: int | None
    node: str
    own: list[tuple[str, LastRank, float]]
    n: int
    p_value: float

    @property
    def lateness(self) -> float:
        """How many times as long as the median of the others it took, geometric mean."""
        return math.exp(fmean(math.log(factor) for _, _, factor in self.own))

    @property
    def is_sure(self) -> bool:
        """Whether it is more than chance, and takes longer by an amount that counts."""
        return self.p_value <= LEVEL and self.lateness >= SLOWER

    def beside(self, other: Often) -> Often:
        """Returns both operations of the same rank or node as one."""
        p_value = min(self.p_value, other.p_value)
        return replace(self, own=[*other.own, *self.own], n=other.n + self.n, p_value=p_value)


def _often_last(run: Run, last: dict[Phase, LastRank]) -> list[Straggler]:
    """Ranks and nodes that finish last surely more often than by chance, in cases without rows of ranks."""
    groups: defaultdict[int, list[tuple[Sample, LastRank]]] = defaultdict(list)
    for sample in run.samples:
        one = last.get((sample.case, sample.repetition, sample.operation))
        if sample.counts and one is not None and not one.times_s:
            groups[sample.case].append((sample, one))
    judged = {
        number: [(sample, one) for sample, one in long_enough(phases) if one.equal_work]
        for number, phases in groups.items()
    }
    several = {n: phases for n, phases in judged.items() if len({one.repetition for _, one in phases}) > 1}
    operations = sum(len({sample.operation for sample, _ in phases}) for phases in several.values())
    found = [
        _straggler(run, number, often)
        for number, phases in several.items()
        for often in often_last(phases, len(several), operations)
    ]
    return sorted(found, key=lambda one: -one.lateness)


def often_last(phases: Sequence[tuple[Sample, LastRank]], cases: int, operations: int) -> list[Often]:
    """Returns the rank of a case that is surely the last too often, and the nodes that are so beside it.

    If no rank is slower, each of N ranks is the last of a phase with probability 1 / N, and each node with
    the share of its ranks. The largest count of all ranks and of all nodes is judged (factors N and 2). For
    nodes, each operation is judged alone, over its repetitions: what disturbs a node for a moment disturbs
    several phases of one repetition. If a rank is named, nodes are judged over the phases in which it was
    not the last: a slow rank would hide a slow node, or make its own node look slow. Its node is named in
    its place if the rank has at most half of its phases, and the node is sure without it, or surer with it.

    Args:
        phases: All phases of the case.
        cases: Number of cases that are judged together.
        operations: Number of their operations.
    """
    rank, times = Counter(one.rank for _, one in phases).most_common(1)[0]
    own = [(sample.operation, one, one.lateness) for sample, one in phases if one.rank == rank]
    ranks = phases[0][1].ranks
    by_chance = 2 * cases * _by_chance(ranks, 1 / ranks, len(phases), times)
    single = Often(rank, own[0][1].node, own, len(phases), by_chance)
    if not single.is_sure:
        return _last_nodes(phases, phases, operations)
    rest = [(sample, one) for sample, one in phases if one.rank != rank]
    nodes = _last_nodes(rest, phases, operations)
    others = [node for node in nodes if node.node != single.node]
    with_rank = [node for node in _last_nodes(phases, phases, operations) if node.node == single.node]
    of_node = sum(one.node_number == own[0][1].node_number for _, one in phases)
    has_most = 2 * times > of_node
    is_surer = len(others) < len(nodes) or any(node.p_value < single.p_value for node in with_rank)
    own_node = with_rank if is_surer and not has_most else []
    return [*(own_node or [single]), *others]


def _last_nodes(
    phases: Sequence[tuple[Sample, LastRank]], every: Sequence[tuple[Sample, LastRank]], operations: int
) -> list[Often]:
    """The nodes that are surely the last too often in an operation.

    Args:
        phases: Those that are judged.
        every: All phases of the case.
        operations: Number of operations that are judged together.
    """
    by_operation: defaultdict[str, list[tuple[Sample, LastRank]]] = defaultdict(list)
    for sample, one in phases:
        by_operation[sample.operation].append((sample, one))
    nodes: dict[str, Often] = {}
    for operation, some in by_operation.items():
        node = _last_node(some, 2 * operations)
        if node is not None and node.is_sure:
            node = replace(node, n=sum(sample.operation == operation for sample, _ in every))
            nodes[node.node] = node.beside(nodes[node.node]) if node.node in nodes else node
    return list(nodes.values())


def _last_node(phases: Sequence[tuple[Sample, LastRank]], tests: int) -> Often | None:
    """The node that has the last rank of an operation most often; None where there is one node."""
    sample, first = phases[0]
    nodes = sample.nodes or 1
    if nodes < 2:
        return None
    node, times = Counter(one.node_number for _, one in phases).most_common(1)[0]
    share = max(1 / nodes, (sample.ranks_per_node_max or 1) / first.ranks)
    own = [
        (each.operation, one, _beside(each, one, share)) for each, one in phases if one.node_number == node
    ]
    return Often(None, own[0][1].node, own, len(phases), tests * _by_chance(nodes, share, len(phases), times))


def _straggler(run: Run, number: int, often: Often) -> Straggler:
    operation, worst, _ = max(often.own, key=lambda phase: phase[2])
    return Straggler(
        case=run.cases[number],
        operation=operation,
        operations=list(dict.fromkeys(name for name, _, _ in often.own)),
        rank=often.rank,
        node=often.node,
        times=sum(factor > LATE for _, _, factor in often.own),
        n=often.n,
        lateness=often.lateness,
        lost=None,
        worst=worst,
        p_value=often.p_value,
        last=len(often.own),
    )


def _beside(sample: Sample, last: LastRank, share: float) -> float:
    """How many times as long the last rank took as the median of the ranks of other nodes.

    If the ranks of its node, a share of all, are the last ones, the median of the others is a lower quantile
    of all.
    """
    end = next(one for one in sample.rank_distributions if one.quantity == "end_s")
    known = [(0.0, end.min), (0.05, end.p05), (0.25, end.p25), (0.5, end.p50)]
    wanted = (1 - share) / 2
    (low, below), (high, above) = next(pair for pair in itertools.pairwise(known) if pair[1][0] >= wanted)
    return last.done_s / (below + (above - below) * (wanted - low) / (high - low))


def _by_chance(choices: int, share: float, phases: int, times: int) -> float:
    """The probability that one of some equal choices has the last rank in so many phases or more.

    Args:
        choices: Number of ranks or nodes.
        share: Probability of each to have the last rank of a phase.
        phases: Number of phases.
        times: In how many of them it has the last rank.
    """
    from scipy.special import bdtrc

    return min(1.0, choices * float(bdtrc(times - 1, phases, share)))
