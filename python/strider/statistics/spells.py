"""When in a phase a straggler was slow; from the `timeline` events of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

from strider.statistics.stragglers import LastRank
from strider.store.model import Run
from strider.store.sql import quote
from strider.store.tables import query

#: A straggler's slow time is the shortest time with this share of its delay.
_MOST = 0.8
#: If that takes this share of the time in which the others worked, it was slow all along.
_ALL_ALONG = 0.7
#: Fewer intervals than this are not judged.
_FEWEST_INTERVALS = 5


@dataclass(frozen=True)
class Spell:
    """When a rank or node fell behind the others.

    Attributes:
        begin_s: Seconds after the phase's start.
        end_s: Likewise; as exact as the timeline's intervals are.
        all_along: Whether that is most of the time in which the others worked.
    """

    begin_s: float
    end_s: float
    all_along: bool


def slow_spell(run: Run, operation: str, case: int, last: LastRank) -> Spell | None:
    """When the rank (or whole node) that finished a phase last was slow; None without a timeline.

    Raises:
        StriderError: The run's events are damaged.
    """
    rows = query(
        [run.directory],
        "SELECT rank, node, interval, interval_s, requests FROM timelines "  # noqa: S608 - quoted
        f'WHERE "case" = {case} AND repetition = {last.repetition} AND operation = {quote(operation)}',
    )
    if not rows or (rows[0]["rank"] is None and not last.whole_node):
        return None
    key, own = ("node", last.node_number) if last.whole_node else ("rank", last.rank)
    counts: defaultdict[int, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        if row["node"] is None:  # several nodes together
            continue
        counts[row[key]][row["interval"]] += row["requests"]
    length = 1 + max(row["interval"] for row in rows)
    workers = [one for who, one in counts.items() if who != own and any(one.values())]
    if own not in counts or not workers:
        return None
    others = [median(one[k] for one in workers) for k in range(length)]
    return spell_of([counts[own][k] for k in range(length)], others, rows[0]["interval_s"])


def spell_of(own: Sequence[float], others: Sequence[float], interval_s: float) -> Spell | None:
    """When `own` requests of each interval fell behind what `others` did (the median one).

    Args:
        own: Of the straggler.
        others: As many.
        interval_s: Length of an interval, seconds.
    """
    worked = sum(count > 0 for count in others)
    behind = [max(0.0, other - mine) for mine, other in zip(own, others, strict=True)]
    if worked < _FEWEST_INTERVALS or not any(behind):
        return None
    begin, end = _shortest(behind, _MOST * sum(behind))
    return Spell(begin * interval_s, end * interval_s, end - begin >= _ALL_ALONG * worked)


def _shortest(amounts: Sequence[float], wanted: float) -> tuple[int, int]:
    """The shortest range of indices (its end is not in it) whose amounts come to `wanted`."""
    sums = [0.0, *accumulate(amounts)]
    best = (0, len(amounts))
    begin = 0
    for end in range(1, len(sums)):
        while sums[end] - sums[begin + 1] >= wanted:
            begin += 1
        if sums[end] - sums[begin] >= wanted and end - begin < best[1] - best[0]:
            best = (begin, end)
    return best
