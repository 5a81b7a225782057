"""Rate against the number of clients, nodes or servers: one line per interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from strider.report.figures import rate_lines
from strider.report.figures.points import Point
from strider.report.figures.style import Ends, SeriesStyle

Counted = Literal["clients", "nodes", "servers"]


def figure(
    points: Sequence[tuple[int, Point]],
    counted: Counted,
    look: Mapping[str, SeriesStyle],
    ends: Ends,
) -> dict[str, Any]:
    """A line chart with a logarithmic (base 2) axis of numbers and whiskers at each point.

    Args:
        points: Of one operation and transfer size, each with its number of clients, nodes or servers.
        counted: The counted items.
        look: Style of each series.
        ends: Lowest and highest rate of all charts that are to be compared.

    Returns:
        A Vega-Lite specification.
    """
    axis = rate_lines.Axis(f"number of {counted}", "format(datum.value, 'd')")
    return rate_lines.figure(points, axis, look, ends)
