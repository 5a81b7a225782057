"""Overlap of think time and transfers, for tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from strider.report.words.numbers import NOTHING, percent
from strider.statistics import OperationSummary, Overlap


def overlap_cell(found: Mapping[tuple[int, str], Overlap]) -> Callable[[OperationSummary], str]:
    """Formats the overlap in percent of the shorter of think time and transfer time, with its interval."""

    def cell(summary: OperationSummary) -> str:
        overlap = found.get(summary.key)
        if overlap is None or overlap.interval is None:
            return NOTHING
        if not overlap.is_shown:
            return "none shown"
        low, high = overlap.interval
        return f"{percent(overlap.share)} ({percent(low)}–{percent(high)})"

    return cell
