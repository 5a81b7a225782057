"""Rate against transfer size: one line per interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strider.report.figures import rate_lines
from strider.report.figures.points import Point
from strider.report.figures.style import SIZE_LABEL, Ends, SeriesStyle

_AXIS = rate_lines.Axis("transfer size [bytes]", SIZE_LABEL)


def figure(points: Sequence[Point], look: Mapping[str, SeriesStyle], ends: Ends) -> dict[str, Any]:
    """A line chart with a logarithmic (base 2) axis of transfer sizes and whiskers at each point.

    Args:
        points: Of one operation and number of clients; each has a transfer size.
        look: Style of each series.
        ends: Lowest and highest rate of all charts that are to be compared.

    Returns:
        A Vega-Lite specification.
    """
    placed = [(point.transfer_bytes or 1, point) for point in points]
    return rate_lines.figure(placed, _AXIS, look, ends)
