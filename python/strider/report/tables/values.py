"""Values that requests of ranks read: whether interfaces agree, and the values themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from strider.report.blocks import Table
from strider.report.labels.facets import Facets
from strider.report.tables.data import compared_cells, section_starts
from strider.statistics import ValueComparison
from strider.store.model import RequestValues
from strider.units import grouped

#: Requests of a rank in the table of values.
SHOWN_REQUESTS = 4


def comparison_table(comparisons: Sequence[ValueComparison], facets: Facets) -> Table:
    """Returns the cases that differ only in the interface, and whether they read the same values."""
    rows = [
        [
            *compared_cells(one, facets),
            grouped(one.requests),
            grouped(one.different),
            {"same data": "equal values", "different data": "DIFFERENT VALUES"}.get(one.verdict, one.verdict),
        ]
        for one in comparisons
    ]
    names = (
        "pattern",
        "operation",
        "clients",
        "transfer",
        "interfaces",
        "repetitions",
        "requests compared",
        "different",
        "verdict",
    )
    caption = "First, middle and last value of each request, compared between interfaces"
    sections = section_starts([row[:2] for row in rows])
    return Table(caption, [(name, "") for name in names], rows, labels=4, sections=sections)


def values_table(values: Sequence[RequestValues], facets: Facets) -> Table:
    """Returns the first requests of each rank, of the first repetition of each case and operation."""
    first: dict[tuple[int, str], int] = {}
    for row in values:
        key = row.case, row.operation
        if not row.warmup:
            first[key] = min(first.get(key, row.repetition), row.repetition)
    shown = [
        row for row in values if first.get((row.case, row.operation)) == row.repetition and not row.warmup
    ]
    shown.sort(key=lambda row: (facets.group[row.case], row.operation, row.rank, row.case))
    rows = [
        [
            facets.group[row.case],
            row.operation,
            f"{row.rank} of {count}",
            facets.series[row.case],
            str(request),
            str(row.offset[request]),
            *(f"{value[request]:08x}" for value in (row.first, row.middle, row.last)),
        ]
        for row, count in zip(shown, _ranks(shown), strict=True)
        for request in range(min(SHOWN_REQUESTS, len(row.offset)))
    ]
    names = ("pattern", "operation", "rank", "interface", "request", "offset", "first", "middle", "last")
    caption = (
        f"Values of the first {SHOWN_REQUESTS} requests of each rank in the first repetition, in "
        "hexadecimal; all are in strider export --rows requests"
    )
    sections = section_starts([row[:3] for row in rows])
    return Table(caption, [(name, "") for name in names], rows, labels=4, sections=sections, is_open=False)


def _ranks(rows: Sequence[RequestValues]) -> list[int]:
    """Returns for each row the number of ranks of its phase."""
    counts: defaultdict[tuple[int, str], set[int]] = defaultdict(set)
    for row in rows:
        counts[row.case, row.operation].add(row.rank)
    return [len(counts[row.case, row.operation]) for row in rows]
