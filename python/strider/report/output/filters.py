"""Check boxes of a large report that hide rows and charts: by CSS alone, as a report runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from strider.report.labels.facets import Facets
from strider.statistics import OperationSummary

#: Up to so many summaries there is nothing to filter.
_FEW = 40
#: Beyond so many values a row of boxes is too long to use.
_MAXIMUM_VALUES = 24


@dataclass(frozen=True)
class Box:
    """A check box.

    Attributes:
        text: The value, as a column of that name shows it.
        anchor: Of the box; unique in the page.
        mark: The class of the elements to hide when it is not checked.
    """

    text: str
    anchor: str
    mark: str


@dataclass(frozen=True)
class Filter:
    """The values of one column, `name`, with a box for each."""

    name: str
    boxes: Sequence[Box]


def filters_of(summaries: Sequence[OperationSummary], facets: Facets, anchor: str) -> list[Filter]:
    """Filters by the differences between the rows of a large run; none for a small one."""
    if len(summaries) <= _FEW:
        return []
    clients = sorted({summary.case.clients for summary in summaries})
    values = {
        "operation": list(dict.fromkeys(summary.operation for summary in summaries)),
        "interface": facets.series_order,
        "clients": [str(count) for count in clients],
    }
    return [
        Filter(name, [Box(text, f"{anchor}-{_mark(name, n)}", _mark(name, n)) for n, text in enumerate(own)])
        for name, own in values.items()
        if 1 < len(own) <= _MAXIMUM_VALUES
    ]


def marks_of(filters: Sequence[Filter]) -> dict[tuple[str, str], str]:
    """The class of a row that has a value in a column."""
    return {(one.name, box.text): box.mark for one in filters for box in one.boxes}


def _mark(name: str, number: int) -> str:
    return f"{name[0]}{number}"
