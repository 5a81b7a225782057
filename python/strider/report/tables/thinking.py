"""Overlap of think time and transfers, for tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from strider.report.words.numbers import NOTHING, percent
from strider.statistics import OperationSummary, Overlap


def overlap_cell(found: Mapping[tuple[int, str], Overlap]) -> Callable[[OperationSummary], str]:
    """Formats the overlap in percent of the shorter of think time and transfer time."""

    def cell(summary: OperationSummary) -> str:
        overlap = found.get(summary.key)
        return percent(overlap.share) if overlap else NOTHING

    return cell
