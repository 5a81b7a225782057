"""The condensed table of a large run: operations and clients side by side, median rates only."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from strider.report.facets import Facets
from strider.report.numbers import NOTHING, significant
from strider.report.wording import plural
from strider.statistics import OperationSummary
from strider.units import format_bytes

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_MAXIMUM_ROWS = 60

#: Group, series, transfer size in bytes (0: unknown, or any).
_Row = tuple[str, str, int]
_Column = tuple[str, int]
_Cells = dict[_Row, dict[_Column, str]]


def render(summaries: Sequence[OperationSummary], facets: Facets, console: Console) -> None:
    """Prints median rates: rows by pattern, transfer size and interface, columns by operation and clients."""
    cells = _cells_by_transfer(summaries, facets)
    if len(cells) > _MAXIMUM_ROWS:
        cells = _cells_of_best_transfer(summaries, facets)
        console.print(
            "Median rate in MiB/s @ the transfer size that gave the highest", style="bold", highlight=False
        )
    else:
        console.print("Median rate in MiB/s", style="bold")
    operations = list(dict.fromkeys(summary.operation for summary in summaries))
    clients = sorted({summary.case.clients for summary in summaries})
    used = {column for own in cells.values() for column in own}
    columns = [column for column in itertools.product(operations, clients) if column in used]
    shown = dict(sorted(cells.items(), key=lambda item: _position(item[0], facets))[:_MAXIMUM_ROWS])
    per_table = len(columns)
    while per_table > 1 and natural_width(_table(shown, columns[:per_table]), console) > console.width:
        per_table -= 1
    for first in range(0, len(columns), per_table):
        console.print(_table(shown, columns[first : first + per_table]))
    if len(cells) > _MAXIMUM_ROWS:
        console.print(
            f"… and {len(cells) - _MAXIMUM_ROWS} more rows: see the report", style="dim", highlight=False
        )


def _cells_by_transfer(summaries: Sequence[OperationSummary], facets: Facets) -> _Cells:
    cells: defaultdict[_Row, dict[_Column, str]] = defaultdict(dict)
    for summary in summaries:
        case = summary.case
        row = (facets.group[case.number], facets.series[case.number], case.transfer_bytes or 0)
        cells[row][summary.operation, case.clients] = significant(
            summary.rate.median if summary.rate else None
        )
    return dict(cells)


def _cells_of_best_transfer(summaries: Sequence[OperationSummary], facets: Facets) -> _Cells:
    best: defaultdict[_Row, dict[_Column, OperationSummary]] = defaultdict(dict)
    for summary in summaries:
        row = (facets.group[summary.case.number], facets.series[summary.case.number], 0)
        column = (summary.operation, summary.case.clients)
        if column not in best[row] or _median(summary) > _median(best[row][column]):
            best[row][column] = summary
    return {
        row: {column: _best_cell(summary) for column, summary in own.items()} for row, own in best.items()
    }


def _median(summary: OperationSummary) -> float:
    return summary.rate.median if summary.rate else -1.0


def _best_cell(summary: OperationSummary) -> str:
    transfer = summary.case.transfer_bytes
    if summary.rate is None or transfer is None:
        return significant(summary.rate.median if summary.rate else None)
    return f"{significant(summary.rate.median)} @ {format_bytes(transfer)}"


def _table(cells: _Cells, columns: Sequence[_Column]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows = list(cells.items())
    heads = {"pattern": 0, "transfer": 2, "interface": 1}
    varying = {name: index for name, index in heads.items() if len({row[index] for row, _ in rows}) > 1}
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for name in varying:
        table.add_column(name, justify="right" if name == "transfer" else "left", no_wrap=True)
    for operation, clients in columns:
        table.add_column(f"{operation}\n{plural(clients, 'client')}", justify="right", no_wrap=True)
    for position, (row, own) in enumerate(rows):
        previous = rows[position - 1][0] if position else None
        if previous and previous[0] != row[0]:
            table.add_section()
        texts = [_row_text(row, index, previous) for index in varying.values()]
        table.add_row(*map(Text, texts + [own.get(column, NOTHING) for column in columns]))
    return table


def _row_text(row: _Row, index: int, previous: _Row | None) -> str:
    """The text of a row's own cells; the group is not said again on each row."""
    if index == 0 and previous and previous[0] == row[0]:
        return ""
    value = row[index]
    return format_bytes(value) if isinstance(value, int) else value


def _position(row: _Row, facets: Facets) -> tuple[int, int, int]:
    """Where a row goes: by group, then transfer size, so that interfaces stand together."""
    return list(facets.group.values()).index(row[0]), row[2], facets.series_order.index(row[1])


def natural_width(table: Table, console: Console) -> int:
    """Columns that a table needs so that nothing in it is cut."""
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum
