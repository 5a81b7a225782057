"""A comparison as a table in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from strider.compare.model import Comparison, Row, Verdict
from strider.compare.wording import Column, Values, counts_text, label_columns, result_columns
from strider.report.pivot import natural_width

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

#: With more rows only those that differ, or cannot be compared, are printed.
MAXIMUM_ROWS = 60
_LEFT = frozenset({"pattern", "operation", "interface", "metric", "verdict", "remarks"})
#: Columns that may go where the terminal is narrow, first to go first.
_OPTIONAL = ("p", "n")
_FOLDING = {"pattern": 28, "remarks": 36, "interface": 28}
_STYLES: dict[Verdict, str] = {
    "faster": "green",
    "slower": "bold red",
    "no difference shown": "",
    "not comparable": "yellow",
}
_INTERESTING: tuple[Verdict, ...] = ("slower", "faster", "not comparable")


def render(comparison: Comparison, console: Console) -> None:
    """Prints what is compared, the rows, how many there are of each verdict, and what to know about them."""
    for side in dict.fromkeys(f"{side.label}: {side.about}" for side in comparison.sides):
        console.print(side, highlight=False, markup=False, soft_wrap=True)
    rows = _shown(comparison)
    if rows:
        console.print(_fit(comparison, rows, console))
    if len(rows) < len(comparison.rows):
        console.print(
            f"… and {len(comparison.rows) - len(rows)} more rows: -o FILE writes a page with all",
            style="dim",
            highlight=False,
        )
    shared = " · ".join(f"{name} {value}" for name, value in comparison.constants)
    if shared:
        console.print(shared, style="dim", highlight=False, markup=False)
    console.print(counts_text(comparison), style="bold", highlight=False, markup=False)
    for remark in comparison.remarks:
        console.print(remark, style="yellow", highlight=False, markup=False)


def _shown(comparison: Comparison) -> Sequence[Row]:
    if len(comparison.rows) <= MAXIMUM_ROWS:
        return comparison.rows
    interesting = [row for row in comparison.rows if row.verdict in _INTERESTING]
    ordered = sorted(interesting, key=lambda row: (_INTERESTING.index(row.verdict), -_size(row)))
    return ordered[:MAXIMUM_ROWS]


def _size(row: Row) -> float:
    """How large a change is, whichever way."""
    return max(row.change.ratio, 1 / row.change.ratio) if row.change else 0.0


def _fit(comparison: Comparison, rows: Sequence[Row], console: Console) -> Table:
    """The widest version of the table that fits the console."""
    values = Values(comparison.rows)
    labels, results = label_columns(comparison), result_columns(comparison, values)
    results = [column for column in results if column.name != "remarks" or any(map(column.cell, rows))]
    dropped: set[str] = set()
    table = _build(labels, results, rows)
    for name in _OPTIONAL:
        if natural_width(table, console) <= console.width:
            break
        dropped.add(name)
        table = _build(labels, [column for column in results if column.name not in dropped], rows)
    return table


def _build(labels: Sequence[Column], results: Sequence[Column], rows: Sequence[Row]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    columns = [*labels, *results]
    for column in columns:
        table.add_column(
            f"{column.name}\n{column.unit}" if column.unit else column.name,
            justify="left" if column.name in _LEFT else "right",
            no_wrap=column.name not in _FOLDING,
            max_width=_FOLDING.get(column.name),
        )
    for row in rows:
        style = _STYLES[row.verdict]
        cells = [
            Text(column.cell(row), style=style if column.name in ("verdict", "change") else "")
            for column in columns
        ]
        table.add_row(*cells)
    return table
