"""Ranks and nodes that are slower than the others; from the `rank` events of a run.

One slow phase may be chance, so a rank is named only where it is slow over several phases, and by a test that
holds for all cases of a run together. A single repetition is only called "uneven".
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from strider.statistics.rule import Card
from strider.store.case import Case
from strider.store.model import Run, Sample
from strider.store.tables import query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

#: A rank is late that needs this many times as long as the median of the other ranks in its phase.
LATE = 1.25
#: Operations whose phases are mostly shorter than this, seconds, are ruled by when the ranks were scheduled.
SHORT_S = 0.1
#: A straggler takes at least so many times as long as the other ranks, over all phases.
SLOWER = 1.1
#: At most so many of runs without a straggler name one.
LEVEL = 0.005
#: Ranks whose work differs by more are not compared: more work takes more time.
EQUAL_WORK = 1.1
#: Permutations, and how many values they may move; 199 can still show a probability of 0.5 %.
_PERMUTATIONS, _FEWEST_PERMUTATIONS, _MOST_MOVED, _MOST_AT_ONCE = 1999, 199, 20_000_000, 1_000_000
_SEED = 20030101

STRAGGLER = Card(
    "straggler",
    "time of each rank (or node) in each phase of a case: logarithm of its ratio to the median of the others",
    "2 repetitions, 2 phases of 0.1 s, equal work",
    "permutation of the ranks within each phase, largest mean over the phases, all cases of a run together: "
    "0.5 %",
    "1.1 ×",
    "rank 7 on node02 took 1.4 × as long as the median of the other ranks",
)
UNEVEN = Card(
    "uneven ranks",
    "time of each rank in the phases of a single repetition",
    "1 repetition, 3 ranks, equal work",
    "largest logarithm beside those of the other ranks (Grubbs), all phases of a run together: 0.5 %",
    "1.25 ×",
    "uneven: the last rank took 1.6 × as long as the median of the others",
)

_TIMES = """
WITH times AS (
    SELECT "case", repetition, operation, rank, node, greatest(bytes, requests) AS work,
        end_s - min(start_s) OVER (PARTITION BY "case", repetition, operation) AS done_s
    FROM ranks WHERE requests > 0
)
SELECT "case", repetition, operation, list(rank ORDER BY rank) AS ranks, list(node ORDER BY rank) AS nodes,
    list(done_s ORDER BY rank) AS done_s, min(work) AS least, max(work) AS most
FROM times GROUP BY ALL ORDER BY ALL
"""


@dataclass(frozen=True, kw_only=True)
class LastRank:
    """The last rank to finish in one phase.

    Attributes:
        node: Name of its node, `node_number` its number.
        done_s: When it finished, seconds after the phase's start.
        lateness: When it finished ÷ the median of when the others did, from the phase's start.
        whole_node: Whether the late ranks are all those of one node of several.
        lost: Share of the rate that was lost: the time that the phase would save if the late ranks had
            finished with the others; 0 where none was late; None without rows of ranks.
        times_s: When each rank with work finished, by rank; empty without rows of ranks.
        nodes: Number of the node of each, in the same order.
        equal_work: Whether all had the same work, within a tenth.
        ranks: Number of ranks with work.
    """

    repetition: int
    rank: int
    node: str
    node_number: int
    done_s: float
    lateness: float
    whole_node: bool
    lost: float | None
    times_s: Mapping[int, float] = field(default_factory=dict, repr=False)
    nodes: Sequence[int] = field(default=(), repr=False)
    equal_work: bool = True
    ranks: int = 0


@dataclass(frozen=True)
class Straggler:
    """A rank, or a whole node, that makes others wait.

    Attributes:
        operation: Of `worst`.
        operations: Those in which it was slower by the least reported effect.
        rank: None where it is a whole node.
        times: In how many of `n` phases it was late by `LATE`.
        n: Phases of the case that were judged.
        lateness: How many times as long as the median of the others it took, geometric mean over them; over
            the phases in which it was the last without rows of ranks.
        lost: Mean share of the rate over them; None without rows of ranks.
        worst: The phase in which it cost most, with this rank or node as the last.
        p_value: For all cases of the run together.
        last: In how many phases it was the last; None where all ranks have rows.
    """

    case: Case
    operation: str
    operations: Sequence[str]
    rank: int | None
    node: str
    times: int
    n: int
    lateness: float
    lost: float | None
    worst: LastRank
    p_value: float
    last: int | None = None


@dataclass(frozen=True)
class Uneven:
    """A phase of a single repetition in which a rank took surely longer than the others.

    Attributes:
        lateness: Of the last rank ÷ the median of the others.
    """

    case: Case
    operation: str
    lateness: float


#: Case, repetition and operation.
Phase = tuple[int, int, str]


def last_ranks(run: Run) -> dict[Phase, LastRank]:
    """Returns the last rank to finish in each phase with work for two ranks or more.

    Raises:
        StriderError: The run's events are damaged.
    """
    return {
        (row["case"], row["repetition"], row["operation"]): _last_rank(run, row)
        for row in query([run.directory], _TIMES)
        if len(row["ranks"]) > 1 and min(row["done_s"]) > 0 and _occurs_once(run, row)
    }


def _occurs_once(run: Run, row: dict[str, Any]) -> bool:
    """Whether an operation is in its case only once: the ranks' events do not say which of two it was."""
    case = run.cases.get(row["case"])
    return case is not None and case.operations.count(row["operation"]) == 1


def _last_rank(run: Run, row: dict[str, Any]) -> LastRank:
    import numpy as np

    done_s, nodes = np.array(row["done_s"], dtype=float), row["nodes"]
    beside = np.exp(beside_others(done_s[np.newaxis]))[0]
    last = int(done_s.argmax())
    late = beside > LATE
    late_nodes = {node for node, is_late in zip(nodes, late, strict=True) if is_late}
    whole = len(late_nodes) == 1 < len(set(nodes)) and int(late.sum()) == nodes.count(nodes[last]) > 1
    lost = 1 - float(done_s[~late].max() / done_s[last]) if late.any() and not late.all() else 0.0
    return LastRank(
        repetition=row["repetition"],
        rank=row["ranks"][last],
        node=node_name(run, nodes[last]),
        node_number=nodes[last],
        done_s=float(done_s[last]),
        lateness=float(beside[last]),
        whole_node=whole,
        lost=lost,
        times_s=dict(zip(row["ranks"], row["done_s"], strict=True)),
        nodes=nodes,
        equal_work=row["most"] <= EQUAL_WORK * row["least"],
        ranks=len(row["ranks"]),
    )


def node_name(run: Run, number: int) -> str:
    """Name of a node of a run, its number where it is not known."""
    nodes = run.start.nodes if run.start else []
    return (nodes[number].name if 0 <= number < len(nodes) else "") or f"node {number}"


def beside_others(times: FloatArray) -> FloatArray:
    """Logarithms of times ÷ the median of the others in the same row; of two, each beside the other.

    Args:
        times: Positive, shape (phases, ranks), two ranks at least.
    """
    import numpy as np

    logs = np.log(times)
    count = logs.shape[1]
    order = np.sort(logs, axis=1)
    # Without one value, the middle moves by one place at most: to which side says whether it is left of it.
    places = np.argsort(np.argsort(logs, axis=1, kind="stable"), axis=1, kind="stable")
    low, high = (count - 2) // 2, (count - 1) // 2
    lower = np.take_along_axis(order, np.where(places <= low, low + 1, low), axis=1)
    upper = np.take_along_axis(order, np.where(places <= high, high + 1, high), axis=1)
    middle: FloatArray = (lower + upper) / 2
    return np.asarray(logs - middle)


def slow_places(groups: Sequence[FloatArray]) -> list[list[tuple[int, float, float]]]:
    """The columns of some tables of times whose values are surely higher than those of the others.

    A column's statistic is its mean logarithm beside the others of its row. Its distribution by chance is
    found by exchanging the values within each row, and the largest of all columns and tables is compared
    (Westfall and Young 1993): of all calls without a slow column one in 200 names one.

    Args:
        groups: Times of phases by ranks, shape (phases, ranks), two of each at least.

    Returns:
        For each table the columns, with their effect (a ratio) and the probability of as large a one by
        chance; the largest effect first.
    """
    import numpy as np

    if not groups:
        return []
    values = [beside_others(group) for group in groups]
    moved = sum(one.size for one in values)
    count = int(min(_PERMUTATIONS, max(_FEWEST_PERMUTATIONS, _MOST_MOVED // moved)))
    generator = np.random.default_rng(_SEED)
    largest = np.full(count, -math.inf)
    scales: list[tuple[float, float]] = []
    for one in values:
        by_chance = _largest_by_chance(one, count, generator)
        middle, spread = float(by_chance.mean()), max(float(by_chance.std()), 1e-12)
        scales.append((middle, spread))
        largest = np.maximum(largest, (by_chance - middle) / spread)
    found = []
    for one, (middle, spread) in zip(values, scales, strict=True):
        means = one.mean(axis=0)
        # Sums in another order differ in their last digits.
        beyond = [
            (1 + int((largest >= (mean - middle) / spread - 1e-9).sum())) / (count + 1) for mean in means
        ]
        slow = [
            (place, float(np.exp(mean)), p_value)
            for place, (mean, p_value) in enumerate(zip(means, beyond, strict=True))
            if p_value <= LEVEL and mean >= math.log(SLOWER)
        ]
        found.append(sorted(slow, key=lambda item: -item[1]))
    return found


def _largest_by_chance(values: FloatArray, count: int, generator: np.random.Generator) -> FloatArray:
    """The largest mean of a column, for so many exchanges of the values within each row."""
    import numpy as np

    at_once = max(1, _MOST_AT_ONCE // values.size)
    found = []
    for begin in range(0, count, at_once):
        block = np.broadcast_to(values, (min(at_once, count - begin), *values.shape))
        found.append(generator.permuted(block, axis=2).mean(axis=1).max(axis=1))
    return np.concatenate(found)


def last_by_chance(times: Sequence[float]) -> float:
    """The probability that the longest of some times is as far from the others by chance (Grubbs 1969).

    1 for fewer than three, and where they do not differ.
    """
    import numpy as np

    count = len(times)
    logs = np.log(np.asarray(times, dtype=float))
    spread = float(logs.std(ddof=1)) if count > 2 else 0.0
    if not spread > 1e-12:
        return 1.0
    from scipy.special import stdtr

    score = (float(logs.max()) - float(logs.mean())) / spread
    rest = (count - 1) ** 2 - count * score**2
    if rest <= 1e-9:
        return 0.0
    value = math.sqrt(count * (count - 2) * score**2 / rest)
    return min(1.0, count * float(stdtr(count - 2, -value)))


@dataclass(frozen=True)
class _Group:
    """The phases of a case whose ranks are compared: the same ranks, with the same work."""

    case: Case
    phases: Sequence[tuple[str, LastRank]]
    ranks: Sequence[int]
    repetitions: int
    measured: int  # repetitions of the case, also those that are not compared

    @property
    def times(self) -> FloatArray:
        """Times of the ranks, a row for each phase."""
        import numpy as np

        return np.array([[phase.times_s[rank] for rank in self.ranks] for _, phase in self.phases])

    @property
    def nodes(self) -> list[int]:
        """Number of the node of each rank."""
        return list(self.phases[0][1].nodes)


def stragglers(run: Run, last: dict[Phase, LastRank]) -> list[Straggler]:
    """The ranks and nodes that are slower than the others, those that cost most first.

    All phases of a case are judged together, its repetitions and operations. Operations that mostly take less
    than a tenth of a second, and phases with unequal work, are left out. Nothing is found in a case with a
    single repetition.
    """
    import numpy as np

    groups = [group for group in _groups(run, last) if group.repetitions > 1 and len(group.phases) > 1]
    by_node = [_node_times(group) for group in groups]
    tables = [group.times for group in groups]
    several = [place for place, one in enumerate(by_node) if one is not None]
    slow = slow_places([*tables, *(table for one in by_node if one is not None for table in [one[1]])])
    found: list[Straggler] = []
    for place, group in enumerate(groups):
        nodes: list[tuple[int, float, float]] = []
        if place in several:
            numbers, _ = by_node[place] or ([], np.empty(0))
            nodes = [
                (numbers[column], effect, p_value)
                for column, effect, p_value in slow[len(groups) + several.index(place)]
                if _is_whole(group, numbers[column])
            ]
        taken = {number for number, _, _ in nodes}
        found += [_straggler(run, group, None, number, p_value) for number, _, p_value in nodes]
        found += [
            _straggler(run, group, column, group.nodes[column], p_value)
            for column, _, p_value in slow[place]
            if group.nodes[column] not in taken
        ]
    return sorted(found, key=lambda straggler: -(straggler.lost or 0.0))


def uneven(run: Run, last: dict[Phase, LastRank]) -> list[Uneven]:
    """Phases of single repetitions in which the last rank took surely longer than the others, worst first."""
    groups = [group for group in _groups(run, last) if group.measured == 1]
    phases = [(group.case, operation, phase) for group in groups for operation, phase in group.phases]
    found = [
        Uneven(case, operation, phase.lateness)
        for case, operation, phase in phases
        if phase.lateness >= LATE and last_by_chance(list(phase.times_s.values())) * len(phases) <= LEVEL
    ]
    return sorted(found, key=lambda one: -one.lateness)


def _groups(run: Run, last: dict[Phase, LastRank]) -> Iterator[_Group]:
    samples: defaultdict[int, list[Sample]] = defaultdict(list)
    for sample in run.samples:
        if sample.counts and sample.case in run.cases:
            samples[sample.case].append(sample)
    for number, own in samples.items():
        known = [(s, last[_phase(s)]) for s in own if _phase(s) in last]
        fit = [(s, one) for s, one in long_enough(known) if one.times_s and one.equal_work]
        if not fit:
            continue
        ranks = Counter(tuple(one.times_s) for _, one in fit).most_common(1)[0][0]
        phases = [(s.operation, one) for s, one in fit if tuple(one.times_s) == ranks]
        repetitions = len({one.repetition for _, one in phases})
        yield _Group(run.cases[number], phases, ranks, repetitions, len({s.repetition for s in own}))


def long_enough(phases: Sequence[tuple[Sample, LastRank]]) -> list[tuple[Sample, LastRank]]:
    """Those of the operations of a case whose median phase is long.

    Single phases are not left out for their length: of a short operation there would remain the phase in
    which something disturbed a rank.
    """
    times: defaultdict[str, list[float]] = defaultdict(list)
    for sample, one in phases:
        times[sample.operation].append(one.done_s)
    return [(sample, one) for sample, one in phases if median(times[sample.operation]) >= SHORT_S]


def _phase(sample: Sample) -> Phase:
    return sample.case, sample.repetition, sample.operation


def _node_times(group: _Group) -> tuple[list[int], FloatArray] | None:
    """The nodes, and the median time of each one's ranks; None unless some node of several has several."""
    import numpy as np

    nodes = np.array(group.nodes)
    numbers = sorted(set(group.nodes))
    if len(numbers) < 2 or len(numbers) == len(nodes):
        return None
    times = group.times
    return numbers, np.stack([np.median(times[:, nodes == number], axis=1) for number in numbers], axis=1)


def _is_whole(group: _Group, node: int) -> bool:
    """Whether every rank of a node is slow beside the ranks of the others, and there are several."""
    import numpy as np

    own = np.array(group.nodes) == node
    logs = np.log(group.times)
    beside = (logs[:, own] - np.median(logs[:, ~own], axis=1, keepdims=True)).mean(axis=0)
    return int(own.sum()) > 1 and bool((beside >= math.log(SLOWER)).all())


def _straggler(run: Run, group: _Group, column: int | None, node: int, p_value: float) -> Straggler:
    import numpy as np

    own = np.array(group.nodes) == node
    if column is not None:
        own = np.arange(len(own)) == column
    times = group.times
    others = np.median(times[:, ~own], axis=1)
    factors = np.median(times[:, own], axis=1) / others
    lost = np.maximum(0.0, 1 - times[:, ~own].max(axis=1) / times.max(axis=1))
    worst = int(lost.argmax())
    by_operation: defaultdict[str, list[float]] = defaultdict(list)
    for (operation, _), factor in zip(group.phases, factors, strict=True):
        by_operation[operation].append(math.log(factor))
    slow = [name for name, logs in by_operation.items() if fmean(logs) >= math.log(SLOWER)]
    return Straggler(
        case=group.case,
        operation=group.phases[worst][0],
        operations=slow or list(by_operation),
        rank=None if column is None else group.ranks[column],
        node=node_name(run, node),
        times=int((factors > LATE).sum()),
        n=len(group.phases),
        lateness=math.exp(fmean(map(math.log, factors))),
        lost=float(lost.mean()),
        worst=replace(
            group.phases[worst][1],
            rank=group.ranks[int(own.argmax())],
            node=node_name(run, node),
            node_number=node,
            whole_node=column is None,
        ),
        p_value=p_value,
    )
