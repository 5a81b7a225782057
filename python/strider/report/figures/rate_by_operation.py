"""Rate by operation of metadata as bars, in a block for each operation where there are several cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strider.report.figures.style import Ends, SeriesStyle, config

if TYPE_CHECKING:
    import altair as alt

WIDTH, BAR_STEP = 400, 22


@dataclass(frozen=True)
class Bar:
    """A rate in operations per second with the ends of its whiskers.

    Attributes:
        series: The interface, which decides the colour.
        case: What distinguishes the case from others; empty where there is one case.
        text: The rate as written beside the bar.
        label: The text that a reader sees when pointing at the bar.
    """

    operation: str
    series: str
    case: str
    mean: float
    low: float
    high: float
    text: str
    label: str


def figure(bars: Sequence[Bar], look: Mapping[str, SeriesStyle], ends: Ends) -> dict[str, Any]:
    """Horizontal bars with whiskers and their rates in words, so that they can be read without colours.

    Args:
        bars: In the order in which they are drawn.
        look: Style of each interface.
        ends: Lowest mean and highest whisker of all charts that are to be compared.

    Returns:
        A Vega-Lite specification.
    """
    import altair as alt

    operations = list(dict.fromkeys(bar.operation for bar in bars))
    cases = list(dict.fromkeys(bar.case for bar in bars))
    grouped = len(cases) > 1
    row, order = ("case", cases) if grouped else ("operation", operations)
    base = alt.Chart().encode(
        y=alt.Y(f"{row}:N", title=None, sort=order, axis=alt.Axis(ticks=False, labelLimit=420))
    )
    layers = alt.layer(*_layers(base, look, ends))
    # At most, as texts of a browser may be wider than those by which the figure was laid out.
    longest = max(len(name) for name in (cases if grouped else operations))
    marks = layers.properties(width=WIDTH, height=alt.Step(BAR_STEP))
    start = ends.start
    # A logarithmic axis has no 0: there a whisker that reaches it ends where the axis does.
    data = alt.InlineData(values=[{**vars(bar), "low": max(bar.low, start), "start": start} for bar in bars])
    if not grouped:
        return {**marks.properties(data=data).to_dict(), "config": config(longest)}
    header = alt.Header(
        labelOrient="top", labelAnchor="start", labelFontWeight="bold", labelPadding=2, title=None
    )
    facet = alt.Row("operation:N", sort=operations, title=None, header=header)
    chart = marks.facet(row=facet, data=data, spacing=8).resolve_scale(y="independent")
    return {**chart.to_dict(), "config": config(longest)}


def _layers(base: alt.Chart, look: Mapping[str, SeriesStyle], ends: Ends) -> list[alt.Chart]:
    import altair as alt

    axis = alt.Axis(format="~s", tickCount=6, labelFlush=False)
    if ends.is_wide:
        powers = range(round(math.log10(ends.start)), math.ceil(math.log10(ends.high)) + 1)
        axis = alt.Axis(format="~s", values=[10.0**power for power in powers], labelFlush=False)
    scale = _scale(ends)
    rate = alt.X("mean:Q", title=f"operations per second{ends.title}", scale=scale, axis=axis)
    colours = alt.Scale(domain=list(look), range=[style.colour for style in look.values()])
    bar = base.mark_bar(height=BAR_STEP * 0.62, stroke="#222", strokeWidth=0.8, fillOpacity=0.55).encode(
        x=rate,
        x2="start:Q",
        color=alt.Color("series:N", legend=None, scale=colours),
        description="label:N",
    )
    whisker = base.mark_rule(strokeWidth=1.4, aria=False).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    caps = [
        base.mark_tick(thickness=1.4, height=9, color="black", aria=False).encode(x=f"{end}:Q")
        for end in ("low", "high")
    ]
    # Beside the whisker and not the bar, so that neither hides the other.
    text = base.mark_text(align="left", dx=5, fontSize=11, color="#222", aria=False).encode(
        x="high:Q", text="text:N"
    )
    return [bar, whisker, *caps, text]


def _scale(ends: Ends) -> alt.Scale:
    """With room for the text at the end of the longest bar."""
    import altair as alt

    if not ends.is_wide:
        return alt.Scale(domain=[0, ends.high * 1.18], nice=False, zero=True)
    room = (ends.high / ends.start) ** 0.18
    return alt.Scale(type="log", domain=[ends.start, ends.high * room], nice=False)
