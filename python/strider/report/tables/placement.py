"""Columns of the nodes of a case and of its ranks on each, where they differ between results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strider.report.words.numbers import NOTHING
from strider.statistics import OperationSummary

Cell = Callable[[OperationSummary], str]


def columns(summaries: Sequence[OperationSummary]) -> dict[str, Cell]:
    """Returns the columns by name: `nodes` and `per node` where they differ, and nothing on a single node."""
    if len({nodes(summary) for summary in summaries} - {NOTHING}) > 1:
        return {"nodes": nodes, "per node": per_node}
    several = any(sample.nodes > 1 for summary in summaries for sample in summary.samples[:1])
    differs = len({per_node(summary) for summary in summaries} - {NOTHING}) > 1
    return {"per node": per_node} if several and differs else {}


def nodes(summary: OperationSummary) -> str:
    """Formats the number of nodes on which the ranks of a case were."""
    return str(summary.samples[0].nodes) if summary.samples else NOTHING


def per_node(summary: OperationSummary) -> str:
    """Formats the number of ranks of a case on each of its nodes: `4`, or fewest and most: `3–4`."""
    if not summary.samples:
        return NOTHING
    fewest, most = summary.samples[0].ranks_per_node_min, summary.samples[0].ranks_per_node_max
    if fewest is None or most is None:
        return NOTHING
    return str(most) if fewest == most else f"{fewest}–{most}"
