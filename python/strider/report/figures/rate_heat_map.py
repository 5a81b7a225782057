"""Rate over transfer size and clients: a field of numbers on shades of grey-blue, for each interface.

The shades go from light to dark with the rate, so that they are the same order without colours, and each
field has its number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strider.report.figures.style import config, field_texts

#: Fields are as wide as fills a chart, within bounds.
_WIDTH, _NARROWEST, _WIDEST, _CELL_HEIGHT = 400, 46, 133, 20
_SHADES = ("#f4f7fb", "#c3d6ea", "#7fa9d1", "#3b74ad", "#0b3a66")
#: From this ratio of the highest to the lowest rate on, shades are logarithmic: small rates would be alike.
_WIDE = 30.0
#: From this share of the shades on, numbers are white.
_DARK = 0.55


@dataclass(frozen=True)
class Cell:
    """A rate in MiB/s at a transfer size and number of clients.

    Attributes:
        series: The interface.
        transfer: The transfer size as text.
        text: The rate as written into the field.
        label: The text that a reader sees when pointing at the field.
    """

    series: str
    transfer: str
    clients: int
    rate_mib_s: float
    text: str
    label: str


def figure(cells: Sequence[Cell], transfers: Sequence[str]) -> dict[str, Any]:
    """Fields by transfer size (across) and clients (up), one block for each interface, one scale for all.

    Args:
        cells: Of one operation.
        transfers: The transfer sizes in the order of the axis.

    Returns:
        A Vega-Lite specification.
    """
    series = list(dict.fromkeys(cell.series for cell in cells))
    clients = sorted({cell.clients for cell in cells}, reverse=True)
    rates = [cell.rate_mib_s for cell in cells]
    low, high = min(rates), max(rates)
    logarithmic = low > 0 and high / low >= _WIDE
    domain = [low if logarithmic else 0.0, high]
    colour = {
        "field": "mean",
        "type": "quantitative",
        "title": "rate [MiB/s]" + (", logarithmic" if logarithmic else ""),
        "scale": {"type": "log" if logarithmic else "linear", "domain": domain, "range": list(_SHADES)},
        "legend": {
            "orient": "top",
            "gradientLength": 180,
            "format": ".2~s",
            "values": _ticks(domain, logarithmic),
        },
    }
    base = _axes(transfers, clients)
    rect = {
        "mark": {"type": "rect", "stroke": "white", "strokeWidth": 1},
        "encoding": {**base, "color": colour, "description": {"field": "label", "type": "nominal"}},
    }
    text = field_texts(base)
    header = {"labelOrient": "top", "labelAnchor": "start", "labelFontWeight": "bold", "labelPadding": 3}
    return {
        "data": {"values": [_row(cell, domain, logarithmic) for cell in cells]},
        "facet": {"row": {"field": "series", "sort": series, "title": None, "header": header}},
        "spec": {
            "layer": [rect, text],
            "width": {"step": max(_NARROWEST, min(_WIDEST, _WIDTH // len(transfers)))},
            "height": {"step": _CELL_HEIGHT},
        },
        "spacing": 10,
        "config": config(),
    }


def _axes(transfers: Sequence[str], clients: Sequence[int]) -> dict[str, Any]:
    return {
        "x": {
            "field": "transfer",
            "type": "ordinal",
            "sort": list(transfers),
            "title": "transfer size [bytes]",
            "axis": {
                "labelAngle": 0,
                "ticks": False,
                "domain": False,
                "labelOverlap": "greedy",
                "labelFontSize": 10,
            },
        },
        "y": {
            "field": "clients",
            "type": "ordinal",
            "sort": list(clients),
            "title": "clients",
            "axis": {"ticks": False, "domain": False},
        },
    }


def _ticks(domain: Sequence[float], logarithmic: bool) -> list[float]:
    """The ends of the shades and their middle."""
    low, high = domain
    return [low, math.sqrt(low * high) if logarithmic else high / 2, high]


def _row(cell: Cell, domain: Sequence[float], logarithmic: bool) -> dict[str, Any]:
    low, high = map(math.log, domain) if logarithmic else domain
    value = math.log(cell.rate_mib_s) if logarithmic else cell.rate_mib_s
    share = (value - low) / (high - low) if high > low else 1.0
    return {
        "series": cell.series,
        "transfer": cell.transfer,
        "clients": cell.clients,
        "mean": cell.rate_mib_s,
        "text": cell.text,
        "label": cell.label,
        "dark": share > _DARK,
    }
