"""Ranks that finish long after the others, and what that costs; from the `rank` events of a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from strider.store.case import Case
from strider.store.model import Run, Sample
from strider.store.tables import query

#: A rank is late that needs this many times as long as the median rank of its phase.
LATE = 1.25
#: Phases shorter than this, seconds, are ruled by when the ranks were scheduled.
SHORT_S = 0.1
#: From this share of the rate on, the cost of late ranks is reported.
LOST_SHARE = 0.05

_LAST = """
WITH times AS (
    SELECT ranks."case", ranks.repetition, ranks.operation, rank, node,
        end_s - min(ranks.start_s) OVER phase AS done_s, end_s - ranks.start_s AS own_s
    FROM ranks WHERE ranks.requests > 0
    WINDOW phase AS (PARTITION BY ranks."case", ranks.repetition, ranks.operation)
), judged AS (
    SELECT *, done_s > {late} * quantile_disc(done_s, 0.5) OVER phase AS is_late
    FROM times WINDOW phase AS (PARTITION BY "case", repetition, operation)
)
SELECT "case", repetition, operation, count(*) AS ranks, arg_max(rank, done_s) AS last_rank,
    arg_max(node, done_s) AS last_node, max(done_s) AS last_done_s,
    quantile_disc(done_s, 0.5) AS median_done_s,
    count(*) FILTER (is_late) AS late_ranks, max(done_s) FILTER (NOT is_late) AS others_done_s,
    count(DISTINCT node) AS nodes, count(DISTINCT node) FILTER (is_late) AS late_nodes,
    count(*) FILTER (node = last) AS ranks_of_last_node
FROM (SELECT *, arg_max(node, done_s) OVER (PARTITION BY "case", repetition, operation) AS last FROM judged)
GROUP BY "case", repetition, operation
"""


@dataclass(frozen=True)
class LastRank:
    """Who finished one phase last.

    Attributes:
        node: Name of its node, `node_number` its number.
        done_s: When it finished, seconds after the phase's start.
        lateness: When it finished ÷ when the median rank did, from the phase's start.
        late_ranks: Number of ranks that were late.
        whole_node: Whether the late ranks are all those of one node of several.
        lost: Share of the rate that was lost: what the phase would have been shorter by if the late ranks had
            finished with the others; 0 where none was late.
    """

    repetition: int
    rank: int
    node: str
    node_number: int
    done_s: float
    lateness: float
    late_ranks: int
    whole_node: bool
    lost: float


@dataclass(frozen=True)
class Straggler:
    """A rank, or a whole node, that makes others wait in most repetitions of an operation.

    Attributes:
        rank: None where it is a whole node.
        times: In how many of `n` repetitions it was late.
        lateness: Mean over these, see `LastRank`.
        lost: Mean share of the rate over all n repetitions.
        worst: The repetition in which it cost most.
    """

    case: Case
    operation: str
    rank: int | None
    node: str
    times: int
    n: int
    lateness: float
    lost: float
    worst: LastRank


#: Case, repetition and operation.
Phase = tuple[int, int, str]


def last_ranks(run: Run) -> dict[Phase, LastRank]:
    """Who finished last in each phase with work for two ranks or more.

    Raises:
        StriderError: The run's events are damaged.
    """
    rows = query([run.directory], _LAST.format(late=LATE))
    return {
        (row["case"], row["repetition"], row["operation"]): _last_rank(run, row)
        for row in rows
        if row["ranks"] > 1 and row["median_done_s"] > 0 and _is_told_apart(run, row)
    }


def _is_told_apart(run: Run, row: dict[str, Any]) -> bool:
    """Whether an operation is in its case only once: the ranks' events do not say which of two it was."""
    case = run.cases.get(row["case"])
    return case is not None and case.operations.count(row["operation"]) == 1


def _last_rank(run: Run, row: dict[str, Any]) -> LastRank:
    others_done_s = row["others_done_s"]
    alone = row["late_nodes"] == 1 and row["nodes"] > 1
    return LastRank(
        repetition=row["repetition"],
        rank=row["last_rank"],
        node=node_name(run, row["last_node"]),
        node_number=row["last_node"],
        done_s=row["last_done_s"],
        lateness=row["last_done_s"] / row["median_done_s"],
        late_ranks=row["late_ranks"],
        whole_node=alone and row["late_ranks"] == row["ranks_of_last_node"] > 1,
        lost=1 - others_done_s / row["last_done_s"] if row["late_ranks"] else 0.0,
    )


def node_name(run: Run, number: int) -> str:
    """Name of a node of a run, its number where it is not known."""
    nodes = run.start.nodes if run.start else []
    return nodes[number].name if 0 <= number < len(nodes) else f"node {number}"


def stragglers(run: Run, last: dict[Phase, LastRank]) -> list[Straggler]:
    """The ranks and nodes that cost most, those that cost most first.

    An operation has one where the same rank, or the same whole node, is last and late in at least half of the
    repetitions that count, and at least a twentieth of the rate is lost by it. Phases of less than a tenth of
    a second are not judged.
    """
    samples: defaultdict[tuple[int, str], list[Sample]] = defaultdict(list)
    for sample in run.samples:
        if sample.counts:
            samples[sample.case, sample.operation].append(sample)
    found = [
        straggler
        for (case, operation), own in samples.items()
        if case in run.cases
        and (straggler := _straggler(run.cases[case], operation, [last.get(_phase(s)) for s in own]))
    ]
    return sorted(found, key=lambda straggler: -straggler.lost)


def _phase(sample: Sample) -> Phase:
    return sample.case, sample.repetition, sample.operation


def _straggler(case: Case, operation: str, phases: Sequence[LastRank | None]) -> Straggler | None:
    late = [one for one in phases if one is not None and one.late_ranks and one.done_s >= SHORT_S]
    if not late:
        return None
    culprits = Counter((one.node, None if one.whole_node else one.rank) for one in late)
    ((node, rank), times) = culprits.most_common(1)[0]
    own = [one for one in late if one.node == node and rank in (None, one.rank)]
    lost = sum(one.lost for one in own) / len(phases)
    if 2 * times < len(phases) or lost < LOST_SHARE:
        return None
    lateness = fmean(one.lateness for one in own)
    worst = max(own, key=lambda one: one.lost)
    return Straggler(case, operation, rank, node, times, len(phases), lateness, lost, worst)
