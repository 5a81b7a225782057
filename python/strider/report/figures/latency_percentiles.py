"""Latency against percentile, with the axis stretched towards the slowest requests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strider.report.figures.style import TIME_LABEL, SeriesStyle, config, legend_columns
from strider.statistics.histogram import LatencyDistribution
from strider.statistics.latency import BEYOND

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 400, 240
#: Where half of the requests are slower.
_HALF = math.log10(2)
#: Points of a line for each factor of ten in the share of slower requests.
_POINTS_PER_DECADE = 12
#: Beyond, the axis would show single requests alone.
_MOST_DECADES = 6

_PERCENT_LABEL = (
    "datum.value == 0 ? '0' : datum.value < 1 ? '50 %' : datum.value == 1 ? '90 %' "
    ": datum.value == 2 ? '99 %' : '99.' + replace(format(pow(10, datum.value - 2) - 1, 'd'), ',', '') + ' %'"
)


@dataclass(frozen=True)
class Line:
    """The latencies of one operation of one case; `name` is its word in the legend."""

    name: str
    latencies: LatencyDistribution
    style: SeriesStyle


def figure(lines: Sequence[Line]) -> dict[str, Any]:
    """A line for each distribution; both axes are logarithmic, the lower one in the share of slower requests.

    Args:
        lines: At least one, each with at least one request.

    Returns:
        A Vega-Lite specification.
    """
    import altair as alt

    names = [line.name for line in lines]
    legend = alt.Legend(
        title=None,
        orient="top",
        columns=legend_columns(names),
        symbolStrokeWidth=2,
        symbolType="stroke",
        symbolSize=600,
    )
    points = [point for line in lines for point in _points(line)]
    base = alt.Chart(alt.InlineData(values=points)).encode(
        x=_percentile_axis(max(line.latencies.count for line in lines) // BEYOND),
        y=alt.Y(
            "latency:Q",
            title="latency",
            scale=alt.Scale(type="log", nice=False, padding=8),
            axis=alt.Axis(
                labelExpr=TIME_LABEL,
                values=_ticks([point["latency"] for point in points]),
                titlePadding=16,
            ),
        ),
        color=alt.Color(
            "name:N",
            scale=alt.Scale(domain=names, range=[line.style.colour for line in lines]),
            legend=legend,
        ),
        strokeDash=alt.StrokeDash(
            "name:N", scale=alt.Scale(domain=names, range=[line.style.dash for line in lines]), legend=legend
        ),
    )
    chart = base.mark_line(strokeWidth=1.8, interpolate="step-after", aria=False).properties(
        width=WIDTH, height=HEIGHT
    )
    return {**chart.to_dict(), "config": config()}


def _percentile_axis(count: int) -> alt.X:
    import altair as alt

    decades = min(_MOST_DECADES, max(1, math.ceil(math.log10(max(count, 2)))))
    return alt.X(
        "nines:Q",
        title="share of requests that are not slower",
        scale=alt.Scale(domain=[0, decades], nice=False),
        axis=alt.Axis(values=[0, _HALF, *range(1, decades + 1)], labelExpr=_PERCENT_LABEL, grid=True),
    )


def _ticks(latencies_s: Sequence[float]) -> list[float]:
    """Powers of ten, and 2 and 5 times these where they are few."""
    low, high = math.log10(min(latencies_s)), math.log10(max(latencies_s))
    steps = (1.0, 2.0, 5.0) if high - low < 2.5 else (1.0,)
    return [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]


def _points(line: Line) -> list[dict[str, Any]]:
    """Latencies at shares 1 - 10^-x, as far as ten requests are slower."""
    decades = min(float(_MOST_DECADES), math.log10(max(line.latencies.count / BEYOND, 2)))
    steps = max(1, math.ceil(decades * _POINTS_PER_DECADE))
    positions = [decades * step / steps for step in range(steps + 1)]
    latencies = line.latencies.percentiles_s([1 - 10**-nines for nines in positions])
    return [
        {"name": line.name, "nines": nines, "latency": max(latency, 1e-9)}
        for nines, latency in zip(positions, latencies, strict=True)
    ]
