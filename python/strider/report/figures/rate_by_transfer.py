"""Rate against transfer size: one line per interface."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from strider.report.figures.points import Point
from strider.report.figures.style import SeriesStyle, config

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 400, 250
_MAXIMUM_TICKS = 8
#: Distance between neighbouring series at one transfer size, so that whiskers stay legible, and between the
#: outermost ones; shares of the axis.
_DODGE = 0.012
_MAXIMUM_SPREAD = 0.04

_SIZE_LABEL = (
    "datum.value < 1024 ? format(datum.value, '~r') + ' B' "
    ": datum.value < 1048576 ? format(datum.value / 1024, '~r') + ' KiB' "
    ": datum.value < 1073741824 ? format(datum.value / 1048576, '~r') + ' MiB' "
    ": format(datum.value / 1073741824, '~r') + ' GiB'"
)


def figure(points: Sequence[Point], look: Mapping[str, SeriesStyle], highest_mib_s: float) -> dict[str, Any]:
    """A line chart with a logarithmic (base 2) axis of transfer sizes and whiskers at each point.

    Args:
        points: Of one operation and number of clients; each has a transfer size.
        look: Style of each series.
        highest_mib_s: Upper end of the rate axis, so that neighbouring charts can be compared.

    Returns:
        A Vega-Lite specification.
    """
    import altair as alt

    drawn = {name: style for name, style in look.items() if any(point.series == name for point in points)}
    sizes = sorted({point.transfer_bytes for point in points if point.transfer_bytes})
    legend = alt.Legend(title=None, orient="top", columns=3, symbolStrokeWidth=0, symbolOpacity=1)
    base = alt.Chart(alt.InlineData(values=_rows(points, list(drawn), sizes))).encode(
        x=_size_axis(sizes),
        color=alt.Color("series:N", scale=_scale(drawn, "colour"), legend=legend),
    )
    rate = alt.Y(
        "mean:Q",
        title="rate [MiB/s]",
        scale=alt.Scale(domain=[0, highest_mib_s], nice=True, zero=True),
        axis=alt.Axis(format="~r", tickCount=6, titlePadding=18),
    )
    lines = base.mark_line(strokeWidth=1.8, aria=False).encode(
        y=rate, strokeDash=alt.StrokeDash("series:N", scale=_scale(drawn, "dash"), legend=None)
    )
    marks = base.mark_point(filled=True, size=55, opacity=1).encode(
        y=rate,
        shape=alt.Shape("series:N", scale=_scale(drawn, "shape"), legend=legend),
        description="label:N",
    )
    chart = alt.layer(lines, *_whiskers(base), marks).properties(width=WIDTH, height=HEIGHT)
    return {**chart.to_dict(), "config": config()}


def _size_axis(sizes: Sequence[int]) -> alt.X:
    import altair as alt

    return alt.X(
        "x:Q",
        title="transfer size",
        scale=alt.Scale(type="log", base=2, domain=_domain(sizes), nice=False),
        axis=alt.Axis(values=_ticks(sizes), labelExpr=_SIZE_LABEL, labelOverlap="greedy", grid=False),
    )


def _whiskers(base: alt.Chart) -> list[alt.Chart]:
    """A rule from `low` to `high`, and a short tick at either end."""
    rule = base.mark_rule(opacity=0.6, aria=False).encode(y="low:Q", y2="high:Q")
    tick = base.mark_tick(orient="horizontal", opacity=0.6, thickness=1.2, width=7, aria=False)
    return [rule, tick.encode(y="low:Q"), tick.encode(y="high:Q")]


def _scale(drawn: Mapping[str, SeriesStyle], quality: str) -> alt.Scale:
    """A scale from series to one quality of their style: colour, shape or dash."""
    import altair as alt

    return alt.Scale(domain=list(drawn), range=[getattr(style, quality) for style in drawn.values()])


def _rows(points: Sequence[Point], series: Sequence[str], sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Points as rows, series at the same size moved slightly apart."""
    octaves = max(1.0, math.log2(sizes[-1] / sizes[0]))
    step = octaves * min(_DODGE, _MAXIMUM_SPREAD / len(series))
    middle = (len(series) - 1) / 2
    return [
        {
            "series": point.series,
            "x": (point.transfer_bytes or 1) * 2 ** (step * (series.index(point.series) - middle)),
            "mean": point.mean_mib_s,
            "low": point.low_mib_s,
            "high": point.high_mib_s,
            "label": point.label,
        }
        for point in points
    ]


def _domain(sizes: Sequence[int]) -> list[float]:
    """The sizes with a little room on both sides."""
    room = (sizes[-1] / sizes[0]) ** 0.05
    return [sizes[0] / room, sizes[-1] * room]


def _ticks(sizes: Sequence[int]) -> list[int]:
    """The sizes themselves, thinned where there are many; the largest is always there."""
    step = math.ceil(len(sizes) / _MAXIMUM_TICKS)
    return list(sizes[::-1][::step][::-1])
