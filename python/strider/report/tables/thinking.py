"""Think time beside the transfers that went on meanwhile, as tables show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from strider.report.words.numbers import NOTHING, percent
from strider.statistics import OperationSummary, Overlap


def overlap_cell(found: Mapping[tuple[int, str], Overlap]) -> Callable[[OperationSummary], str]:
    """Text of a row's overlap: percent of the shorter of think and transfer time that the other hid."""

    def cell(summary: OperationSummary) -> str:
        overlap = found.get(summary.key)
        return percent(overlap.share) if overlap else NOTHING

    return cell
