"""Slow ranks of all cases: from the rows of ranks, and from distributions over ranks where there are no rows.

A distribution shows the last rank of a phase and the median, not the times of the other ranks. It suffices to
name a rank that finishes last far more often than chance allows.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from statistics import fmean

from strider.statistics import stragglers as by_rows
from strider.statistics.stragglers import (
    EQUAL_WORK,
    LATE,
    LEVEL,
    SHORT_S,
    SLOWER,
    LastRank,
    Phase,
    Straggler,
    node_name,
)
from strider.store.model import RankDistribution, Run, Sample


def last_ranks(run: Run) -> dict[Phase, LastRank]:
    """Returns who finished last in each phase with work for two ranks or more.

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
        late_ranks=None,
        whole_node=False,
        lost=None,
        ranks=end.ranks,
        equal_work=_is_equal(quantities),
    )


def _is_equal(quantities: Mapping[str, RankDistribution]) -> bool:
    work = [quantities[name] for name in ("bytes", "requests") if name in quantities]
    moved = next((one for one in work if one.max > 0), None)
    return moved is not None and moved.max <= EQUAL_WORK * moved.min


def _often_last(run: Run, last: dict[Phase, LastRank]) -> list[Straggler]:
    """Ranks that finish last surely more often than by chance, in cases without rows of ranks.

    If no rank is slower, each of N ranks is the last of a phase with probability 1 / N. The largest count of
    all ranks is judged (factor N), and all cases of the run together.
    """
    groups: defaultdict[int, list[tuple[str, LastRank]]] = defaultdict(list)
    for sample in run.samples:
        one = last.get((sample.case, sample.repetition, sample.operation))
        if sample.counts and one is not None and _is_judged(one):
            groups[sample.case].append((sample.operation, one))
    found = []
    for number, phases in groups.items():
        if len({one.repetition for _, one in phases}) < 2:
            continue
        rank, times = Counter(one.rank for _, one in phases).most_common(1)[0]
        own = [(operation, one) for operation, one in phases if one.rank == rank]
        lateness = math.exp(fmean(math.log(one.lateness) for _, one in own))
        p_value = min(1.0, len(groups) * _by_chance(phases[0][1].ranks, len(phases), times))
        if p_value > LEVEL or lateness < SLOWER:
            continue
        operation, worst = max(own, key=lambda pair: pair[1].lateness)
        found.append(
            Straggler(
                case=run.cases[number],
                operation=operation,
                operations=list(dict.fromkeys(name for name, _ in own)),
                rank=rank,
                node=worst.node,
                times=sum(one.lateness > LATE for _, one in own),
                n=len(phases),
                lateness=lateness,
                lost=None,
                worst=worst,
                p_value=p_value,
                last=times,
            )
        )
    return sorted(found, key=lambda one: -one.lateness)


def _is_judged(one: LastRank) -> bool:
    return not one.times_s and one.equal_work and one.done_s >= SHORT_S


def _by_chance(ranks: int, phases: int, times: int) -> float:
    """The probability that one of some equal ranks is the last in so many phases or more; at most 1."""
    from scipy.special import bdtrc

    return min(1.0, ranks * float(bdtrc(times - 1, phases, 1 / ranks)))
