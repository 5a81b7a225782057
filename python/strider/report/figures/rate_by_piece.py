"""Rate against the length of the pieces of a list, a line for each method, with the crossover marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strider.report.figures import rate_lines
from strider.report.figures.points import Point
from strider.report.figures.style import SIZE_LABEL, Ends, SeriesStyle


def figure(
    points: Sequence[tuple[int, Point]],
    look: Mapping[str, SeriesStyle],
    ends: Ends,
    crossover_bytes: float | None,
) -> dict[str, Any]:
    """A line chart with a logarithmic (base 2) axis of lengths and whiskers at each point.

    Args:
        points: Of one operation, each with the length of its pieces in bytes.
        look: Style of each series.
        ends: Lowest and highest rate of all charts that are to be compared.
        crossover_bytes: Where a dashed line stands, if anywhere.

    Returns:
        A Vega-Lite specification.
    """
    axis = rate_lines.Axis("length of a piece [bytes]", SIZE_LABEL)
    specification = rate_lines.figure(points, axis, look, ends)
    if crossover_bytes is not None:
        specification["layer"] += _mark(crossover_bytes)
    return specification


def _mark(crossover_bytes: float) -> list[dict[str, Any]]:
    data = {"values": [{"x": crossover_bytes}]}
    place = {"field": "x", "type": "quantitative"}
    rule = {"type": "rule", "strokeDash": [4, 3], "color": "black", "strokeWidth": 1, "aria": False}
    text = {
        "type": "text",
        "text": "gather overtakes pack",
        "angle": 270,
        "align": "right",
        "dy": -5,
        "fontSize": 10,
        "color": "#222",
        "aria": False,
    }
    # Rates grow with the length, so that there is room at the top.
    top = {"value": 4}
    return [
        {"data": data, "mark": rule, "encoding": {"x": place}},
        {"data": data, "mark": text, "encoding": {"x": place, "y": top}},
    ]
