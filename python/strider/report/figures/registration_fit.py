"""Cost of registering memory by pages: T = a · p + b for each domain, with the measured times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strider.report.figures.style import config, styles

WIDTH, HEIGHT = 420, 280
_MOST_PAGES = 1024
_STEPS = 40


@dataclass(frozen=True)
class Fit:
    """The cost of registering in one domain.

    Attributes:
        name: The domain, with its fit in words.
        us_per_page: a.
        us: b.
        samples: Pages and µs that were measured; may be none.
    """

    name: str
    us_per_page: float
    us: float
    samples: Sequence[tuple[int, float]] = ()


def figure(fits: Sequence[Fit]) -> dict[str, Any]:
    """A line for each domain, both axes logarithmic, with a point for each number of pages that was measured.

    Args:
        fits: At least one; names differ.

    Returns:
        A Vega-Lite specification.
    """
    names = [fit.name for fit in fits]
    look = styles(names)
    legend = {"title": None, "orient": "top", "columns": 1, "symbolStrokeWidth": 0, "symbolOpacity": 1}

    def by_name(quality: str, shown: dict[str, Any] | None) -> dict[str, Any]:
        qualities = [getattr(look[name], quality) for name in names]
        return {
            "field": "name",
            "type": "nominal",
            "scale": {"domain": names, "range": qualities},
            "legend": shown,
        }

    shared = {
        "x": {
            "field": "pages",
            "type": "quantitative",
            "title": "pages of 4 KiB",
            "scale": {"type": "log", "base": 2, "domain": [0.9, _MOST_PAGES * 1.1], "nice": False},
            "axis": {"values": [4**power for power in range(6)], "labelExpr": "format(datum.value, 'd')"},
        },
        "y": {
            "field": "us",
            "type": "quantitative",
            "title": "time to register [µs]",
            "scale": {"type": "log", "nice": False, "padding": 8},
            "axis": {
                "values": [step * 10.0**power for power in range(-2, 6) for step in (1, 2, 5)],
                "labelExpr": "format(datum.value, '~r')",
                "titlePadding": 14,
            },
        },
        "color": by_name("colour", legend),
    }
    line = {"type": "line", "strokeWidth": 1.8, "aria": False}
    point = {"type": "point", "filled": True, "size": 55, "opacity": 1}
    # Without points the legend still shows the marks that distinguish the lines.
    ends = [{"name": fit.name, "pages": p, "us": us, "label": ""} for fit in fits for p, us in _marks(fit)]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [
            {
                "data": {"values": [row for fit in fits for row in _line(fit)]},
                "mark": line,
                "encoding": {**shared, "strokeDash": by_name("dash", None)},
            },
            {
                "data": {"values": ends},
                "mark": point,
                "encoding": {**shared, "shape": by_name("shape", legend)},
            },
        ],
        "config": config(),
    }


def _line(fit: Fit) -> list[dict[str, Any]]:
    pages = [_MOST_PAGES ** (step / _STEPS) for step in range(_STEPS + 1)]
    return [{"name": fit.name, "pages": p, "us": fit.us_per_page * p + fit.us} for p in pages]


def _marks(fit: Fit) -> Sequence[tuple[float, float]]:
    """The measured times, otherwise the ends of the line."""
    return fit.samples or [(p, fit.us_per_page * p + fit.us) for p in (1, _MOST_PAGES)]
