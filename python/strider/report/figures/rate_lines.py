"""Rate against a size or a number, with a line for each interface; what its figures have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strider.report.figures.points import Point
from strider.report.figures.style import Ends, SeriesStyle, config, legend_columns

WIDTH, HEIGHT = 400, 250
_MAXIMUM_TICKS = 8
#: Distance between neighbouring series at one place, so that whiskers stay legible, and between the outermost
#: ones; shares of the axis.
_DODGE = 0.012
_MAXIMUM_SPREAD = 0.04


@dataclass(frozen=True)
class Axis:
    """The lower axis: its title with the unit, and a Vega expression for the label of a value."""

    title: str
    label: str


def figure(
    points: Sequence[tuple[int, Point]],
    axis: Axis,
    look: Mapping[str, SeriesStyle],
    ends: Ends,
) -> dict[str, Any]:
    """A line chart with a logarithmic (base 2) lower axis and whiskers at each point; hollow with a note.

    Args:
        points: Each with its place on the lower axis, from 1.
        axis: The lower axis.
        look: Style of each series.
        ends: Lowest and highest rate of all charts that are to be compared.

    Returns:
        A Vega-Lite specification.
    """
    drawn = {name: style for name, style in look.items() if any(p.series == name for _, p in points)}
    places = sorted({place for place, _ in points})
    legend = {
        "title": None,
        "orient": "top",
        "columns": legend_columns(list(drawn)),
        "symbolStrokeWidth": 0,
        "symbolOpacity": 1,
    }
    shared = {
        "x": _place_axis(places, axis),
        "color": {
            "field": "series",
            "type": "nominal",
            "scale": _scale(drawn, "colour"),
            "legend": legend,
        },
    }
    rate = {
        "field": "mean",
        "type": "quantitative",
        "title": f"rate [MiB/s]{ends.title}",
        "scale": ends.scale(),
        "axis": {**ends.axis(), "titlePadding": 18},
    }
    dash = {"field": "series", "type": "nominal", "scale": _scale(drawn, "dash"), "legend": None}
    shape = {"field": "series", "type": "nominal", "scale": _scale(drawn, "shape"), "legend": legend}
    line = {
        "mark": {"type": "line", "strokeWidth": 1.8, "aria": False},
        "encoding": {**shared, "y": rate, "strokeDash": dash},
    }
    marks = {
        "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
        "encoding": {
            **shared,
            "y": rate,
            "shape": shape,
            "description": {"field": "label", "type": "nominal"},
        },
    }
    published = [_published(shared, rate)] if any(p.published_mib_s is not None for _, p in points) else []
    hollow = [_inside(shared["x"], rate, shape)] if any(point.note for _, point in points) else []
    return {
        "data": {"values": _rows(points, list(drawn), places, ends)},
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [*published, line, *_whiskers(shared), marks, *hollow],
        "config": config(),
    }


def _published(shared: dict[str, Any], rate: dict[str, Any]) -> dict[str, Any]:
    """Short bars at what others published."""
    return {
        "transform": [{"filter": "datum.published !== null"}],
        "mark": {"type": "tick", "orient": "horizontal", "thickness": 3, "width": 13, "opacity": 0.75},
        "encoding": {
            **shared,
            "y": {**rate, "field": "published"},
            "description": {"field": "publishedLabel", "type": "nominal"},
        },
    }


def _inside(x: dict[str, Any], y: dict[str, Any], shape: dict[str, Any]) -> dict[str, Any]:
    """White inside the marks of points with a note."""
    return {
        "transform": [{"filter": "datum.note !== ''"}],
        "mark": {"type": "point", "filled": True, "size": 20, "opacity": 1, "color": "white", "aria": False},
        "encoding": {"x": x, "y": y, "shape": shape},
    }


def _place_axis(places: Sequence[int], axis: Axis) -> dict[str, Any]:
    return {
        "field": "x",
        "type": "quantitative",
        "title": axis.title,
        "scale": {"type": "log", "base": 2, "domain": _domain(places), "nice": False},
        "axis": {
            "values": _ticks(places),
            "labelExpr": axis.label,
            "labelOverlap": "greedy",
            "grid": False,
        },
    }


def _whiskers(shared: dict[str, Any]) -> list[dict[str, Any]]:
    """A rule from `low` to `high`, and a short tick at either end."""
    low, high = ({"field": end, "type": "quantitative"} for end in ("low", "high"))
    rule = {"type": "rule", "opacity": 0.6, "aria": False}
    tick = {
        "type": "tick",
        "orient": "horizontal",
        "opacity": 0.6,
        "thickness": 1.2,
        "width": 7,
        "aria": False,
    }
    ends = [{"mark": tick, "encoding": {**shared, "y": end}} for end in (low, high)]
    return [{"mark": rule, "encoding": {**shared, "y": low, "y2": {"field": "high"}}}, *ends]


def _scale(drawn: Mapping[str, SeriesStyle], quality: str) -> dict[str, Any]:
    """A scale from series to one quality of their style: colour, shape or dash."""
    return {"domain": list(drawn), "range": [getattr(style, quality) for style in drawn.values()]}


def _rows(
    points: Sequence[tuple[int, Point]], series: Sequence[str], places: Sequence[int], ends: Ends
) -> list[dict[str, Any]]:
    """Points as rows, series at the same place moved slightly apart."""
    octaves = max(1.0, math.log2(places[-1] / places[0]))
    step = octaves * min(_DODGE, _MAXIMUM_SPREAD / len(series))
    middle = (len(series) - 1) / 2
    return [
        {
            "series": point.series,
            "x": place * 2 ** (step * (series.index(point.series) - middle)),
            "mean": point.rate_mib_s,
            "low": max(point.low_mib_s, ends.start),
            "high": point.high_mib_s,
            "label": point.label,
            "note": point.note,
            "published": point.published_mib_s,
            "publishedLabel": f"{point.series}, published",
        }
        for place, point in points
    ]


def _domain(places: Sequence[int]) -> list[float]:
    """The places with a little room on both sides."""
    room = max((places[-1] / places[0]) ** 0.05, 1.02)
    return [places[0] / room, places[-1] * room]


def _ticks(places: Sequence[int]) -> list[int]:
    """The places themselves, thinned where there are many; the largest is always there."""
    step = math.ceil(len(places) / _MAXIMUM_TICKS)
    return list(places[::-1][::step][::-1])
