"""Phases whose times the clocks of several nodes do not tell exactly, in words."""

from __future__ import annotations

from collections.abc import Sequence

from strider.report.words.numbers import significant
from strider.statistics import OperationSummary
from strider.store import Sample

#: The engine's word in the flags of a sample.
FLAG = "clock"


def clock_notes(summary: OperationSummary) -> list[str]:
    """What a reader of one row must know about clocks; nothing where they agree well enough."""
    return ["clocks inexact"] if _inexact([summary]) else []


def clock_remark(summaries: Sequence[OperationSummary]) -> str:
    """How many phases were too short for what is known of the nodes' clocks; empty where none was."""
    inexact = _inexact(summaries)
    if not inexact:
        return ""
    worst = max((sample.clock_error_s or 0.0) / sample.elapsed_s for sample in inexact)
    phases = sum(len(summary.samples) for summary in summaries)
    return (
        f"The clocks of the nodes could not be compared exactly enough for {len(inexact)} of "
        f"{phases} phases: their times and rates may be wrong by more than 1 % "
        f"(at worst {significant(100 * worst, 2)} %). Longer phases make this smaller."
    )


def _inexact(summaries: Sequence[OperationSummary]) -> list[Sample]:
    return [sample for summary in summaries for sample in summary.samples if FLAG in sample.flags]
