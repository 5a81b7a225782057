"""Where the time of an operation goes, by interface: a bar for each, in a panel for each kind of cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strider.report.figures.style import LINES, config, wrapped

PANEL_WIDTH, BAR_STEP = 132, 24
#: Characters of a line of the labels of bars, and the height of a line.
_LABEL, _LINE = 26, 13
#: Parts of bars with their shades: of the time of ranks, and of kinds of processes.
_SHADES = {
    "user": "#0072B2",
    "system": "#56B4E9",
    "waiting": "#e3e3e3",
    "ranks": "#0b3d66",
    "mounts": "#D55E00",
    "servers": "#E69F00",
    "others": "#f3dfb3",
    "packets": "#009E73",
}


@dataclass(frozen=True)
class Part:
    """A part of a bar.

    Attributes:
        series: The interface.
        name: The part, a key of the legend; empty if bars have one part.
        value: Its length, in the unit of the panel.
    """

    series: str
    name: str
    value: float


@dataclass(frozen=True)
class Panel:
    """A kind of cost.

    Attributes:
        title: With the unit, in lines.
        parts: Of all bars; a series without any was not counted.
        texts: The number beside each bar, by series.
    """

    title: Sequence[str]
    parts: Sequence[Part]
    texts: dict[str, str]


def figure(panels: Sequence[Panel], series: Sequence[str]) -> dict[str, Any]:
    """Horizontal bars beside each other, one panel for each kind of cost, each with an axis of its own.

    Args:
        panels: The panels, from left to right.
        series: The interfaces, from top to bottom.

    Returns:
        A Vega-Lite specification.
    """
    labels = {name: wrapped(name, _LABEL) for name in series}
    step = max(BAR_STEP, _LINE * max(label.count("\n") + 1 for label in labels.values()) + 4)
    longest = max(len(line) for label in labels.values() for line in label.split("\n"))
    used = [name for name in _SHADES if any(part.name == name for panel in panels for part in panel.parts)]
    return {
        "hconcat": [
            _panel(panel, labels, step, used, is_first=number == 0) for number, panel in enumerate(panels)
        ],
        "spacing": 14,
        "resolve": {"scale": {"x": "independent", "y": "shared", "color": "shared"}},
        "config": config(longest),
    }


def _panel(
    panel: Panel, labels: dict[str, str], step: int, used: Sequence[str], is_first: bool
) -> dict[str, Any]:
    end = max((sum(p.value for p in panel.parts if p.series == name) for name in labels), default=0.0) or 1.0
    axis = {"ticks": False, "domain": True, "labelLimit": 0, "labelExpr": LINES} if is_first else None
    y = {"field": "series", "type": "nominal", "title": None, "sort": list(labels.values()), "axis": axis}
    # Room to the right of the longest bar for its number.
    scale = {"domain": [0, 1.55 * end], "nice": False}
    x_axis = {"format": "~r", "tickCount": 3, "grid": True, "labelFontSize": 10}
    legend = {"orient": "bottom", "title": None, "columns": 7}
    bars = {
        "mark": {"type": "bar", "height": BAR_STEP * 0.62, "stroke": "#222", "strokeWidth": 0.6},
        "encoding": {
            "y": y,
            "x": {
                "field": "begin",
                "type": "quantitative",
                "scale": scale,
                "axis": x_axis,
                "title": list(panel.title),
            },
            "x2": {"field": "end"},
            "color": {
                "field": "part",
                "type": "nominal",
                "scale": {"domain": list(used), "range": [_SHADES[name] for name in used]},
                "legend": legend,
            },
            "description": {"field": "label", "type": "nominal"},
        },
        "data": {"values": _rows(panel, labels)},
    }
    numbers = {
        "mark": {"type": "text", "align": "left", "dx": 4, "fontSize": 10, "aria": False},
        "encoding": {
            "y": y,
            "x": {"field": "end", "type": "quantitative", "scale": scale},
            "text": {"field": "text", "type": "nominal"},
        },
        "data": {"values": _numbers(panel, labels)},
    }
    return {"layer": [bars, numbers], "width": PANEL_WIDTH, "height": {"step": step}}


def _rows(panel: Panel, labels: dict[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    ends = dict.fromkeys(labels, 0.0)
    for part in panel.parts:
        begin, ends[part.series] = ends[part.series], ends[part.series] + part.value
        label = f"{part.series}, {' '.join(panel.title)}, {part.name}: {part.value:.3g}"
        found.append(
            {
                "series": labels[part.series],
                "part": part.name,
                "begin": begin,
                "end": ends[part.series],
                "label": label,
            }
        )
    return found


def _numbers(panel: Panel, labels: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "series": label,
            "end": sum(part.value for part in panel.parts if part.series == name),
            "text": panel.texts.get(name, "–"),
        }
        for name, label in labels.items()
    ]
