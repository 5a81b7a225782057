"""The terminal's table of metadata: a row per operation and case, and per part of a mix.

Beyond 60 rows it is condensed: one row per operation, one column per case, with the mean rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from strider.report.facets import Facets
from strider.report.metadata import (
    Column,
    Row,
    case_labels,
    format_operations,
    label_columns,
    number_columns,
    rows,
)
from strider.report.numbers import NOTHING
from strider.report.pivot import natural_width
from strider.statistics import OperationSummary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MAXIMUM_ROWS = 60
#: Columns that may go where the terminal is narrow, first to go first: heading and unit.
_OPTIONAL = ("95 % interval of the mean", "p99.9", "max op/s", "min op/s", "p50", "p99", "max")
#: Columns of text that may take several lines, and their width.
_FOLDING = {"conditions": 28, "notes": 26}


def render(summaries: Sequence[OperationSummary], facets: Facets, console: Console) -> None:
    """Prints the results of operations of metadata."""
    lines = rows(summaries, facets)
    if len(lines) > MAXIMUM_ROWS:
        _render_condensed(summaries, facets, console)
        return
    print_rows(lines, label_columns(summaries, facets), number_columns(summaries), _OPTIONAL, console)


def print_rows(
    lines: Sequence[Row],
    labels: Sequence[Column],
    numbers: Sequence[Column],
    optional: Sequence[str],
    console: Console,
) -> None:
    """Prints rows as a table, with as many columns as the console takes.

    Args:
        lines: The rows.
        labels: Columns that name a row.
        numbers: Columns that may go, if they are optional.
        optional: Names of columns in the order in which they go, with the unit where two have one name.
        console: Where to print.
    """
    table = _table(lines, labels, numbers)
    for name in optional:
        if natural_width(table, console) <= console.width:
            break
        numbers = [column for column in numbers if name not in (column.name, _key(column))]
        table = _table(lines, labels, numbers)
    console.print(table)


def _key(column: Column) -> str:
    """What tells a column from another of the same name: the largest rate from the largest latency."""
    return f"{column.name} {column.unit}"


def _table(lines: Sequence[Row], labels: Sequence[Column], numbers: Sequence[Column]) -> Table:
    from rich.text import Text

    table = _empty_table()
    for column in [*labels, *numbers]:
        text = column in labels or column.name == "notes"
        table.add_column(
            f"{_short(column.name)}\n{column.unit}" if column.unit else column.name,
            justify="right" if not text or column.name in ("clients", "transfer") else "left",
            no_wrap=column.name not in _FOLDING,
            max_width=_FOLDING.get(column.name),
        )
    several = len(labels) > 1
    for position, row in enumerate(lines):
        if several and position and lines[position - 1].summary.operation != row.summary.operation:
            table.add_section()
        texts = [column.cell(row) for column in numbers]
        # What a part belongs to is said in the row above it.
        names = [column.cell(row) for column in (labels[:1] if row.part else labels)]
        names += [""] * (len(labels) - len(names))
        bad = row.summary.voided or row.summary.errors
        table.add_row(*map(Text, names + texts), style="red" if bad else None)
    return table


def _short(name: str) -> str:
    return "95 % interval" if name.startswith("95 %") else name


def _empty_table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)


def _render_condensed(summaries: Sequence[OperationSummary], facets: Facets, console: Console) -> None:
    """Prints mean rates: rows by operation, columns by case, in as many tables as the width asks for."""
    console.print("Mean rate in operations per second", style="bold", highlight=False)
    numbers = list(dict.fromkeys(summary.case.number for summary in summaries))
    per_table = len(numbers)
    labels = case_labels(summaries, facets)
    while per_table > 1 and natural_width(_pivot(summaries, labels, numbers[:per_table]), console) > (
        console.width
    ):
        per_table -= 1
    for first in range(0, len(numbers), per_table):
        console.print(_pivot(summaries, labels, numbers[first : first + per_table]))


def _pivot(summaries: Sequence[OperationSummary], labels: dict[int, str], cases: Sequence[int]) -> Table:
    from rich.text import Text

    rates = {(s.operation, s.case.number): s.rate.mean if s.rate else None for s in summaries}
    table = _empty_table()
    table.add_column("operation", no_wrap=True)
    for number in cases:
        heading = "\n".join([f"case {number}", *labels[number].split(", ")])
        table.add_column(heading, justify="right", no_wrap=True)
    for operation in dict.fromkeys(summary.operation for summary in summaries):
        cells = [
            format_operations(rates[operation, number]) if (operation, number) in rates else NOTHING
            for number in cases
        ]
        table.add_row(*map(Text, [operation, *cells]))
    return table
