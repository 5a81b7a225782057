"""Wall, user and system time of each process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from strider.statistics.summary import OperationSummary
from strider.store.model import RankRow


@dataclass(frozen=True)
class ProcessTimes:
    """Times of a rank in an operation of a case: means over the valid repetitions, seconds.

    Attributes:
        n: Number of these repetitions.
        wall_s: From its start to its end, with opening and closing the file.
        user_s: Processor time in user mode.
        system_s: Processor time in the kernel.
    """

    summary: OperationSummary
    rank: int
    n: int
    wall_s: float
    user_s: float
    system_s: float


def process_times(summaries: Sequence[OperationSummary], ranks: Sequence[RankRow]) -> list[ProcessTimes]:
    """Returns the times of each rank, in the order of the summaries.

    Args:
        summaries: The results.
        ranks: What each rank did in each phase; those of warm-ups and void samples do not count.
    """
    rows: defaultdict[tuple[int, str], defaultdict[int, list[RankRow]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in ranks:
        if not row.warmup:
            rows[row.case, row.operation][row.rank].append(row)
    return [
        _mean(summary, rank, own)
        for summary in summaries
        for rank, all_rows in sorted(rows[summary.key].items())
        if (own := _counted(summary, all_rows))
    ]


def _counted(summary: OperationSummary, rows: Sequence[RankRow]) -> list[RankRow]:
    counted = {sample.repetition for sample in summary.samples}
    return [row for row in rows if row.repetition in counted]


def _mean(summary: OperationSummary, rank: int, rows: Sequence[RankRow]) -> ProcessTimes:
    return ProcessTimes(
        summary,
        rank,
        len(rows),
        fmean(row.end_s - row.start_s for row in rows),
        fmean(row.user_s for row in rows),
        fmean(row.system_s for row in rows),
    )
