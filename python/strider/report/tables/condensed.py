"""Condensed tables of a large run: only a rate for each case."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence

from strider.report.blocks import Block, Table, Text
from strider.report.labels.facets import Facets
from strider.report.results.references import Reference
from strider.report.tables import placement
from strider.report.tables.data import section_starts
from strider.report.tables.metadata import case_labels, format_operations
from strider.report.words.numbers import NOTHING, significant
from strider.report.words.wording import plural
from strider.statistics import OperationSummary
from strider.units import format_bytes

#: Row limit above which a table is condensed, and a condensed table is truncated.
MAXIMUM_ROWS = 60

#: Group, series, transfer size in bytes (0: unknown, or any).
_Row = tuple[str, str, int]
#: Content of a column: the rate; the rate of the same time as a published one; the published one.
_RATE, _COMPARABLE, _PUBLISHED = range(3)
#: Operation, clients, content of the column.
_Column = tuple[str, int, int]
_Cells = dict[_Row, dict[_Column, str]]


def of_metadata(summaries: Sequence[OperationSummary], facets: Facets) -> list[Block]:
    """Returns rates: rows by operation, columns by case."""
    labels = case_labels(summaries, facets)
    rates = {(s.operation, s.case.number): s.rate.centre if s.rate else None for s in summaries}
    cases = list(dict.fromkeys(summary.case.number for summary in summaries))
    heads = ["\n".join([f"case {number}", *labels[number].split(", ")]) for number in cases]
    rows = [
        [
            operation,
            *(
                format_operations(rates[operation, number]) if (operation, number) in rates else NOTHING
                for number in cases
            ),
        ]
        for operation in dict.fromkeys(summary.operation for summary in summaries)
    ]
    caption = "Rate in operations per second"
    columns = [("operation", ""), *((head, "") for head in heads)]
    return [Text(caption, "bold"), Table(caption, columns, rows, 1, splits=True)]


def of_data(
    summaries: Sequence[OperationSummary], facets: Facets, reference: Reference | None = None
) -> list[Block]:
    """Returns rates: rows by pattern, transfer size and interface, columns by operation and clients.

    Above the row limit, only the best transfer size of each is shown.

    Args:
        summaries: Results of data.
        facets: Their labels.
        reference: Published figures, which get columns of their own.
    """
    cells = _cells_by_transfer(summaries, facets, reference)
    caption = f"Rate in MiB/s{'; published figures in MB/s' if reference else ''}"
    if len(cells) > MAXIMUM_ROWS:
        cells = _cells_of_best_transfer(summaries, facets, reference)
        caption += " @ transfer size of the highest rate"
    operations = list(dict.fromkeys(summary.operation for summary in summaries))
    clients = sorted({summary.case.clients for summary in summaries})
    used = {column for own in cells.values() for column in own}
    columns = [column for column in itertools.product(operations, clients, range(3)) if column in used]
    shown = dict(sorted(cells.items(), key=lambda item: _position(item[0], facets))[:MAXIMUM_ROWS])
    left_out = len(cells) - MAXIMUM_ROWS
    more = [Text(f"… {left_out} more rows: see the report", "caption")] if left_out > 0 else []
    return [Text(caption, "bold"), _table(caption, shown, columns, _nodes_of_clients(summaries)), *more]


def _cells_by_transfer(
    summaries: Sequence[OperationSummary], facets: Facets, reference: Reference | None
) -> _Cells:
    cells: defaultdict[_Row, dict[_Column, str]] = defaultdict(dict)
    for summary in summaries:
        case = summary.case
        row = (facets.group[case.number], facets.series[case.number], case.transfer_bytes or 0)
        cells[row][summary.operation, case.clients, _RATE] = significant(
            summary.rate.centre if summary.rate else None
        )
        cells[row].update(_published(summary, reference))
    return dict(cells)


def _published(summary: OperationSummary, reference: Reference | None) -> dict[_Column, str]:
    """Returns the published figure in its column; nothing without one.

    Where it leaves out a part of the time that the rate has, the rate without that is beside it.
    """
    figure = reference.figure_mb_s(summary.case, summary.operation) if reference else None
    if reference is None or figure is None:
        return {}
    place = summary.operation, summary.case.clients
    beside = {(*place, _COMPARABLE): significant(reference.comparable_mb_s(summary))}
    return {**(beside if reference.excludes_open else {}), (*place, _PUBLISHED): significant(figure)}


def _cells_of_best_transfer(
    summaries: Sequence[OperationSummary], facets: Facets, reference: Reference | None
) -> _Cells:
    best: defaultdict[_Row, dict[_Column, OperationSummary]] = defaultdict(dict)
    for summary in summaries:
        row = (facets.group[summary.case.number], facets.series[summary.case.number], 0)
        column = (summary.operation, summary.case.clients, _RATE)
        if column not in best[row] or _rate_of(summary) > _rate_of(best[row][column]):
            best[row][column] = summary
    return {
        row: {
            key: text
            for column, summary in own.items()
            for key, text in {column: _best_cell(summary), **_published(summary, reference)}.items()
        }
        for row, own in best.items()
    }


def _rate_of(summary: OperationSummary) -> float:
    return summary.rate.centre if summary.rate else -1.0


def _best_cell(summary: OperationSummary) -> str:
    transfer = summary.case.transfer_bytes
    if summary.rate is None or transfer is None:
        return significant(summary.rate.centre if summary.rate else None)
    return f"{significant(summary.rate.centre)} @ {format_bytes(transfer)}"


def _table(caption: str, cells: _Cells, columns: Sequence[_Column], nodes: Mapping[int, str]) -> Table:
    rows = list(cells)
    heads = {"pattern": 0, "transfer": 2, "interface": 1}
    varying = {name: index for name, index in heads.items() if len({row[index] for row in rows}) > 1}
    return Table(
        caption,
        [
            *((name, "") for name in varying),
            *(_head(column, nodes) for column in columns),
        ],
        [
            [
                *(_row_text(row, index, previous) for index in varying.values()),
                *(cells[row].get(column, NOTHING) for column in columns),
            ]
            for previous, row in zip([None, *rows], rows, strict=False)
        ],
        len(varying),
        section_starts([row[0] for row in rows]),
        splits=True,
    )


def _nodes_of_clients(summaries: Sequence[OperationSummary]) -> dict[int, str]:
    """Returns the nodes of each number of clients, for headings; empty where they do not follow from it."""
    if "nodes" not in placement.columns(summaries):
        return {}
    found = {(summary.case.clients, placement.nodes(summary)) for summary in summaries if summary.samples}
    words = {clients: f"\non {plural(int(nodes), 'node')}" for clients, nodes in found}
    return words if len(words) == len(found) else {}


def _head(column: _Column, nodes: Mapping[int, str]) -> tuple[str, str]:
    operation, clients, kind = column
    further = {_COMPARABLE: ", MB/s\nwithout open", _PUBLISHED: ",\npublished"}
    return operation + further.get(kind, ""), plural(clients, "client") + nodes.get(clients, "")


def _row_text(row: _Row, index: int, previous: _Row | None) -> str:
    """Returns the texts of a row's own cells; the group is not repeated."""
    if index == 0 and previous and previous[0] == row[0]:
        return ""
    value = row[index]
    return format_bytes(value) if isinstance(value, int) else value


def _position(row: _Row, facets: Facets) -> tuple[int, int, int]:
    """Returns the sort key of a row: group, then transfer size, so that interfaces are adjacent."""
    return list(facets.group.values()).index(row[0]), row[2], facets.series_order.index(row[1])
