"""Which ranks or nodes were slow in which operation: a field of shades, the darker, the slower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from strider.report.figures.style import config, field_texts

WIDTH, _ROW_HEIGHT, _HIGH_ROW = 420, 16, 26
#: Up to so many rows they are high.
_FEW_ROWS = 6
#: Up to so many columns each field has its number.
_NUMBERED = 8
#: The shades: from here on all are dark, and from 1 on all are light.
DARKEST = 0.5
_SHADES = ("#3d0d02", "#c4572a", "#f2ddcf", "#f6f7f9")
#: Where no rank is slower than the others beyond chance, no field is dark.
_PALE = ("#dfe4ea", "#e9ecf1", "#f3f5f7", "#f6f7f9")
_AT = (DARKEST, 0.75, 0.95, 1.0)
_DARK = 0.78
_MAXIMUM_LABELS = 16

Column = Literal["rank", "node", "nodes"]


@dataclass(frozen=True)
class Field:
    """How fast a rank or node was in an operation.

    Attributes:
        row: The operation; rows differ within a figure.
        column: Position of the rank or node, from 0.
        name: Its name.
        relative: Its rate ÷ that of the median rank.
        label: The text that a reader sees when pointing at the field.
    """

    row: str
    column: int
    name: str
    relative: float
    label: str


def figure(fields: Sequence[Field], columns: Column, is_pale: bool = False) -> dict[str, Any]:
    """A row for each operation, a column for each rank, node, or some neighbouring nodes.

    Args:
        fields: At least one.
        columns: Meaning of a column.
        is_pale: Whether the differences are no larger than chance.

    Returns:
        A Vega-Lite specification.
    """
    rows = list(dict.fromkeys(field.row for field in fields))
    names = {field.column: field.name for field in fields}
    order = [names[column] for column in sorted(names)]
    base = _axes(rows, order, columns)
    rect = {
        "mark": {"type": "rect", "stroke": "#999", "strokeWidth": 0.4 if len(order) < 48 else 0},
        "encoding": {
            **base,
            "color": _shading(is_pale),
            "description": {"field": "label", "type": "nominal"},
        },
    }
    text = field_texts(base)
    height = _HIGH_ROW if len(rows) <= _FEW_ROWS else _ROW_HEIGHT
    return {
        "data": {"values": [_row(field, is_pale) for field in fields]},
        "layer": [rect, text] if len(order) <= _NUMBERED else [rect],
        "width": WIDTH,
        "height": {"step": height},
        "config": {
            **config(),
            "padding": {"left": 12 + 1.3 * max(map(len, rows)), "top": 5, "right": 12, "bottom": 5},
        },
    }


def _axes(rows: Sequence[str], order: Sequence[str], columns: Column) -> dict[str, Any]:
    step = -(-len(order) // _MAXIMUM_LABELS)
    return {
        "x": {
            "field": "name",
            "type": "ordinal",
            "sort": list(order),
            "title": {"rank": "rank", "node": "node", "nodes": "nodes, several in a column"}[columns],
            "axis": {
                "labelAngle": 0 if columns == "rank" else -40,
                "ticks": False,
                "domain": False,
                "values": list(order[::step]),
                "labelOverlap": "greedy",
            },
        },
        "y": {
            "field": "row",
            "type": "ordinal",
            "sort": list(rows),
            "title": None,
            "axis": {"ticks": False, "domain": False, "labelLimit": 300},
        },
    }


def _shading(is_pale: bool) -> dict[str, Any]:
    return {
        "field": "shade",
        "type": "quantitative",
        "title": "rate ÷ that of the median rank",
        "scale": {"domain": list(_AT), "range": list(_PALE if is_pale else _SHADES), "clamp": True},
        "legend": {
            "orient": "top",
            "gradientLength": 180,
            "values": [DARKEST, 0.75, 1.0],
            "labelExpr": f"datum.value <= {DARKEST} ? '≤ {DARKEST:g} (slow)' : datum.value == 1 ? '≥ 1' "
            ": format(datum.value, '~r')",
        },
    }


def _row(field: Field, is_pale: bool) -> dict[str, Any]:
    return {
        "row": field.row,
        "name": field.name,
        "shade": min(max(field.relative, DARKEST), 1.0),
        "text": f"{field.relative:.2f}",
        "label": field.label,
        "dark": field.relative < _DARK and not is_pale,
    }
