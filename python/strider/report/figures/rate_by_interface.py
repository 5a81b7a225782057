"""Rate by interface as bars: for cases of one transfer size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from strider.report.figures.points import Point
from strider.report.figures.style import LINES, Ends, SeriesStyle, config, wrapped

if TYPE_CHECKING:
    import altair as alt

WIDTH, BAR_STEP = 400, 24
#: Characters of a line of the labels of bars and groups, and the height of a line.
_LABEL, _HEADING, _LINE = 44, 80, 13


def figure(points: Sequence[Point], look: Mapping[str, SeriesStyle], ends: Ends) -> dict[str, Any]:
    """Horizontal bars with whiskers, one per interface, in a block for each group.

    Args:
        points: Of one operation and number of clients.
        look: Style of each series.
        ends: Lowest and highest rate of all charts that are to be compared.

    Returns:
        A Vega-Lite specification.
    """
    import altair as alt

    series = [name for name in look if any(point.series == name for point in points)]
    labels = [wrapped(name, _LABEL) for name in series]
    step = max(BAR_STEP, _LINE * max(label.count("\n") + 1 for label in labels) + 4)
    base = alt.Chart().encode(
        y=alt.Y(
            "series:N", title=None, sort=labels, axis=alt.Axis(ticks=False, labelLimit=0, labelExpr=LINES)
        )
    )
    rate = alt.X(
        "mean:Q",
        title=f"rate [MiB/s]{ends.title}",
        scale=alt.Scale(**ends.scale()),
        axis=alt.Axis(**ends.axis(), labelFlush=False),
    )
    bars = base.mark_bar(height=BAR_STEP * 0.62, stroke="#222", strokeWidth=0.8).encode(
        x=rate,
        x2="start:Q",
        fillOpacity=alt.condition("datum.note !== ''", alt.value(0.1), alt.value(0.75)),
        color=alt.Color(
            "series:N",
            legend=None,
            scale=alt.Scale(domain=labels, range=[look[name].colour for name in series]),
        ),
        description="label:N",
    )
    whiskers = base.mark_rule(strokeWidth=1.4, aria=False).encode(x="low:Q", x2="high:Q")
    caps = [
        base.mark_tick(thickness=1.4, height=9, color="black", aria=False).encode(x=f"{end}:Q")
        for end in ("low", "high")
    ]
    layers = alt.layer(bars, whiskers, *caps).properties(width=WIDTH, height=alt.Step(step))
    chart = layers.facet(
        row=_blocks(points), data=alt.InlineData(values=_rows(points, ends)), spacing=10
    ).resolve_scale(y="independent")
    longest = max(len(line) for label in labels for line in label.split("\n"))
    return {**chart.to_dict(), "config": config(longest)}


def _blocks(points: Sequence[Point]) -> alt.Row:
    """A block for each group, with its name where there are several."""
    import altair as alt

    groups = list(dict.fromkeys(wrapped(point.group, _HEADING) for point in points))
    header = alt.Header(
        labelOrient="top",
        labelAnchor="start",
        labelFontWeight="bold",
        labelPadding=2,
        title=None,
        labelExpr=LINES,
    )
    return alt.Row("group:N", sort=groups, title=None, header=header if len(groups) > 1 else None)


def _rows(points: Sequence[Point], ends: Ends) -> list[dict[str, Any]]:
    return [
        {
            "series": wrapped(point.series, _LABEL),
            "group": wrapped(point.group, _HEADING),
            "mean": point.rate_mib_s,
            # A logarithmic axis has no 0: there a whisker that reaches it ends where the axis does.
            "low": max(point.low_mib_s, ends.start),
            "start": ends.start,
            "high": point.high_mib_s,
            "label": point.label,
            "note": point.note,
        }
        for point in points
    ]
