"""How much each row of a comparison changed: a point with its interval for each, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strider.report.figures.style import config

if TYPE_CHECKING:
    import altair as alt

WIDTH, ROW_STEP = 380, 18
#: Intervals that reach farther are cut at the edge of the axis.
WIDEST = 10.0
_NICE = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0)
_LABEL = (
    "datum.value == 1 ? 'same' : datum.value >= 2 ? '× ' + format(datum.value, '~r') "
    ": format(datum.value - 1, '+.0%')"
)
#: Shape, colour and whether it is filled, by verdict: distinguishable without colours.
_LOOK = {
    "slower": ("triangle-left", "#D55E00"),
    "faster": ("triangle-right", "#0072B2"),
    "no difference shown": ("circle", "#777777"),
    "no verdict": ("square", "#BBBBBB"),
}


@dataclass(frozen=True)
class Bar:
    """A change with its interval, as ratios.

    Attributes:
        name: The text beside it; names differ within a figure.
        label: The text that a reader sees when pointing at it.
    """

    name: str
    verdict: str
    ratio: float
    low: float
    high: float
    label: str


def figure(bars: Sequence[Bar], reach: float, threshold: float) -> dict[str, Any]:
    """Points with whiskers, one for each row, around a line where nothing changes.

    Args:
        bars: In the order in which they are drawn.
        reach: The axis goes from 1 ÷ this ratio to it, so that neighbouring charts can be compared.
        threshold: A share; above 0, lines show the range of no difference.

    Returns:
        A Vega-Lite specification.
    """
    import altair as alt

    reach = min(max(reach, 1.02), WIDEST)
    names = [bar.name for bar in bars]
    scale = alt.Scale(type="log", domain=[1 / reach, reach], nice=False, clamp=True)
    axis = alt.Axis(labelExpr=_LABEL, values=_ticks(reach), labelFlush=False, grid=True)
    base = alt.Chart(alt.InlineData(values=[vars(bar) for bar in bars])).encode(
        y=alt.Y("name:N", title=None, sort=names, axis=alt.Axis(ticks=False, labelLimit=420))
    )
    ratio = alt.X("ratio:Q", title="change, logarithmic", scale=scale, axis=axis)
    verdicts = list(_LOOK)
    points = base.mark_point(size=55, filled=True, opacity=1, stroke="black", strokeWidth=0.7).encode(
        x=ratio,
        shape=alt.Shape(
            "verdict:N",
            scale=alt.Scale(domain=verdicts, range=[_LOOK[one][0] for one in verdicts]),
            legend=alt.Legend(title=None, orient="top"),
        ),
        color=alt.Color(
            "verdict:N",
            scale=alt.Scale(domain=verdicts, range=[_LOOK[one][1] for one in verdicts]),
            legend=alt.Legend(title=None, orient="top"),
        ),
        description="label:N",
    )
    whiskers = base.mark_rule(strokeWidth=1.3, aria=False).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    layers = [*_lines(scale, threshold), whiskers, *_caps(base, scale), points]
    chart = alt.layer(*layers).properties(width=WIDTH, height=alt.Step(ROW_STEP))
    return {**chart.to_dict(), "config": config()}


def _caps(base: alt.Chart, scale: alt.Scale) -> list[alt.Chart]:
    import altair as alt

    return [
        base.mark_tick(thickness=1.3, height=8, color="black", aria=False).encode(
            x=alt.X(f"{end}:Q", scale=scale)
        )
        for end in ("low", "high")
    ]


def _lines(scale: alt.Scale, threshold: float) -> list[alt.Chart]:
    """Where nothing changes, and dashed where a change begins to be a difference."""
    import altair as alt

    ends = [1 / (1 + threshold), 1 + threshold] if threshold else []

    def line(values: Sequence[float], dash: Sequence[int]) -> alt.Chart:
        data = alt.InlineData(values=[{"at": value} for value in values])
        chart: alt.Chart = alt.Chart(data).mark_rule(
            strokeWidth=1, strokeDash=list(dash), color="black", aria=False
        )
        return chart.encode(x=alt.X("at:Q", scale=scale))

    return [line([1.0], (1, 0)), *([line(ends, (4, 3))] if ends else [])]


def _ticks(reach: float) -> list[float]:
    """Ratios that are easily read, both ways, at most three a side and never close together."""
    inside = [nice for nice in _NICE if nice <= reach * 1.0001]
    chosen: list[float] = []
    for nice in reversed(inside):
        apart = not chosen or math.log(chosen[-1]) - math.log(nice) > math.log(reach) / 4
        if len(chosen) < 3 and apart and math.log(nice) > math.log(reach) / 6:
            chosen.append(nice)
    below = [2 - nice if nice <= 1.2 else 1 / nice for nice in chosen]
    return sorted([*(value for value in below if value >= 1 / reach), 1.0, *chosen])
