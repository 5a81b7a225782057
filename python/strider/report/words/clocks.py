"""Sentences on phases whose times are inexact because of the clocks of several nodes."""

from __future__ import annotations

from collections.abc import Sequence

from strider.report.words.numbers import significant
from strider.statistics import OperationSummary
from strider.store import Sample

#: The engine's flag of a sample.
FLAG = "clock"


def clock_notes(summary: OperationSummary) -> list[str]:
    """Returns the note of a row about clocks; empty if they are exact enough."""
    return ["clocks inexact"] if _inexact([summary]) else []


def clock_remark(summaries: Sequence[OperationSummary]) -> str:
    """Returns a sentence on phases too short for the clock synchronisation; empty if none."""
    inexact = _inexact(summaries)
    if not inexact:
        return ""
    worst = max((sample.clock_error_s or 0.0) / sample.elapsed_s for sample in inexact)
    phases = sum(len(summary.samples) for summary in summaries)
    return (
        f"Clock synchronisation between nodes is too inexact for {len(inexact)} of {phases} phases: "
        f"their times and rates may be wrong by more than 1 % (at most {significant(100 * worst, 2)} %). "
        "Use longer phases."
    )


def _inexact(summaries: Sequence[OperationSummary]) -> list[Sample]:
    return [sample for summary in summaries for sample in summary.samples if FLAG in sample.flags]
