"""Rate by operation of metadata as bars, in a block for each operation where there are several cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strider.report.figures.style import SeriesStyle, config

if TYPE_CHECKING:
    import altair as alt

WIDTH, BAR_STEP = 400, 22
#: From this ratio of the highest to the lowest rate on, the axis is logarithmic: small bars would vanish.
_WIDE = 30.0


@dataclass(frozen=True)
class Bar:
    """A rate in operations per second with the ends of its whiskers.

    Attributes:
        case: What distinguishes the case from others; empty where there is one case.
        text: The rate as written beside the bar.
        label: What a reader gets who points at the bar.
    """

    operation: str
    case: str
    mean: float
    low: float
    high: float
    text: str
    label: str


def figure(bars: Sequence[Bar], look: Mapping[str, SeriesStyle], ends: tuple[float, float]) -> dict[str, Any]:
    """Horizontal bars with whiskers and their rates in words, so that they can be read without colours.

    Args:
        bars: In the order in which they are drawn.
        look: Style of each case.
        ends: Lowest mean and highest whisker of all charts that are to be compared.

    Returns:
        A Vega-Lite specification.
    """
    import altair as alt

    operations = list(dict.fromkeys(bar.operation for bar in bars))
    cases = [name for name in look if any(bar.case == name for bar in bars)]
    grouped = len(cases) > 1
    row, order = ("case", cases) if grouped else ("operation", operations)
    base = alt.Chart().encode(
        y=alt.Y(f"{row}:N", title=None, sort=order, axis=alt.Axis(ticks=False, labelLimit=420))
    )
    layers = alt.layer(*_layers(base, cases, look, ends))
    marks = layers.properties(width=WIDTH, height=alt.Step(BAR_STEP))
    start = _start(ends)
    # A logarithmic axis has no 0: there a whisker that reaches it ends where the axis does.
    data = alt.InlineData(values=[{**vars(bar), "low": max(bar.low, start), "start": start} for bar in bars])
    if not grouped:
        return {**marks.properties(data=data).to_dict(), "config": config()}
    header = alt.Header(
        labelOrient="top", labelAnchor="start", labelFontWeight="bold", labelPadding=2, title=None
    )
    facet = alt.Row("operation:N", sort=operations, title=None, header=header)
    chart = marks.facet(row=facet, data=data, spacing=8).resolve_scale(y="independent")
    return {**chart.to_dict(), "config": config()}


def _layers(
    base: alt.Chart, cases: Sequence[str], look: Mapping[str, SeriesStyle], ends: tuple[float, float]
) -> list[alt.Chart]:
    import altair as alt

    axis = alt.Axis(format="~s", tickCount=6, labelFlush=False)
    title = "operations per second"
    if ends[1] / ends[0] >= _WIDE:
        powers = range(round(math.log10(_start(ends))), math.ceil(math.log10(ends[1])) + 1)
        axis = alt.Axis(format="~s", values=[10.0**power for power in powers], labelFlush=False)
        title += ", logarithmic"
    scale = _scale(ends)
    rate = alt.X("mean:Q", title=title, scale=scale, axis=axis)
    colours = alt.Scale(domain=list(cases), range=[look[name].colour for name in cases])
    bar = base.mark_bar(height=BAR_STEP * 0.62, stroke="#222", strokeWidth=0.8, fillOpacity=0.55).encode(
        x=rate,
        x2="start:Q",
        color=alt.Color("case:N", legend=None, scale=colours),
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


def _scale(ends: tuple[float, float]) -> alt.Scale:
    import altair as alt

    low, high = ends
    if high / low < _WIDE:
        # Room for the text at the end of the longest bar.
        return alt.Scale(domain=[0, high * 1.18], nice=False, zero=True)
    return alt.Scale(type="log", domain=[_start(ends), high * (high / _start(ends)) ** 0.18], nice=False)


def _start(ends: tuple[float, float]) -> float:
    """Where bars begin: at 0, or on a logarithmic axis at the power of ten below the lowest."""
    low, high = ends
    return 0.0 if high / low < _WIDE else 10.0 ** math.floor(math.log10(low * 0.999))
