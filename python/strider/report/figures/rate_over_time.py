"""Rate over the time of a phase, a line for each repetition: whether it is steady, and where it stalls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strider.report.figures.style import config, styles

WIDTH, HEIGHT = 400, 130
#: Steps of one line; longer timelines are drawn in wider ones.
MAXIMUM_STEPS = 240


@dataclass(frozen=True)
class Timeline:
    """The rate of one repetition: `rates[k]` holds from `start_s` + k · `interval_s` on."""

    name: str
    start_s: float
    interval_s: float
    rates: Sequence[float]


def figure(timelines: Sequence[Timeline], unit: str) -> dict[str, Any]:
    """Steps of rate against time since the phase's start.

    Args:
        timelines: At least one, each with at least one rate.
        unit: Of the rates, `MiB/s` or `op/s`.

    Returns:
        A Vega-Lite specification.
    """
    names = [timeline.name for timeline in timelines]
    look = styles(names)
    legend = {
        "title": None,
        "orient": "top",
        "columns": 4,
        "symbolType": "stroke",
        "symbolStrokeWidth": 2,
        "symbolSize": 400,
    }
    name = {"field": "name", "type": "nominal", "legend": legend if len(names) > 1 else None}
    colours, dashes = ([getattr(look[one], what) for one in names] for what in ("colour", "dash"))
    return {
        "data": {"values": [row for timeline in timelines for row in _rows(timeline)]},
        "width": WIDTH,
        "height": HEIGHT,
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.6, "aria": False},
        "encoding": {
            "x": {
                "field": "t",
                "type": "quantitative",
                "title": "time since the phase began [s]",
                "scale": {"nice": False, "zero": True},
                "axis": {"format": "~r", "tickCount": 6, "grid": False},
            },
            "y": {
                "field": "rate",
                "type": "quantitative",
                "title": f"rate [{unit}]",
                "scale": {"zero": True, "nice": True},
                "axis": {"labelExpr": "format(datum.value, '~s')", "tickCount": 4, "titlePadding": 18},
            },
            "color": {**name, "scale": {"domain": names, "range": colours}},
            "strokeDash": {**name, "scale": {"domain": names, "range": dashes}},
        },
        "config": config(),
    }


def _rows(timeline: Timeline) -> list[dict[str, Any]]:
    """The steps and the end of the last one; several intervals in one step where they are many."""
    width = -(-len(timeline.rates) // MAXIMUM_STEPS)
    starts = range(0, len(timeline.rates), width)
    steps = [timeline.rates[start : start + width] for start in starts]
    means = [sum(step) / len(step) for step in steps]
    times = [timeline.start_s + start * timeline.interval_s for start in starts]
    end_s = timeline.start_s + len(timeline.rates) * timeline.interval_s
    return [
        {"name": timeline.name, "t": time_s, "rate": rate}
        for time_s, rate in zip([*times, end_s], [*means, means[-1]], strict=True)
    ]
