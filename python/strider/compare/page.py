"""A comparison as a page: one self-contained HTML file in the manner of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from strider.compare.model import Comparison, Measured, Row, Verdict
from strider.compare.wording import (
    MARKS,
    Column,
    Values,
    change_text,
    counts_text,
    interval_text,
    label_columns,
    result_columns,
    title,
    verdict_text,
)
from strider.report.charts import Chart
from strider.report.figures import change_by_case, svg
from strider.report.numbers import percent
from strider.report.page import write_page
from strider.report.tables import HtmlTable, section_starts

if TYPE_CHECKING:
    from jinja2 import Environment

#: Rows in one figure; more go into further figures.
_MAXIMUM_BARS = 40
#: Rows beyond so many figures are in the tables alone: those that changed least.
_MAXIMUM_FIGURES = 6
#: Up to so many rows all charts and tables are open from the start; beyond, the rows that differ are.
_OPEN_ROWS = 80
_DIFFERENT: tuple[Verdict, ...] = ("slower", "faster")


@dataclass(frozen=True)
class PageView:
    """Everything that the template says, as texts."""

    title: str
    sides: Sequence[tuple[str, str]]
    counts: Sequence[tuple[str, str]]
    summary: str
    remarks: Sequence[str]
    constants: str
    different: HtmlTable | None
    charts: Sequence[Chart]
    table: HtmlTable
    spread: HtmlTable
    is_open: bool


def write_html(comparison: Comparison, out: Path) -> Path:
    """Writes a comparison as a page.

    Args:
        comparison: What was found.
        out: The HTML file; an existing one is replaced as a whole.

    Returns:
        `out`.

    Raises:
        StriderError: The file cannot be written.
    """
    return write_page(as_html(comparison), out)


def as_html(comparison: Comparison) -> str:
    """The page's text."""
    return _templates().get_template("compare.html.j2").render(view=_view(comparison))


def _templates() -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    own = [PackageLoader(package, "templates") for package in ("strider.compare", "strider.report")]
    return Environment(
        loader=ChoiceLoader(own),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _view(comparison: Comparison) -> PageView:
    values = Values(comparison.rows)
    labels = label_columns(comparison)
    results = result_columns(comparison, values)
    different = sorted((row for row in comparison.rows if row.verdict in _DIFFERENT), key=_distance)
    small = len(comparison.rows) <= _OPEN_ROWS
    return PageView(
        title=title(comparison),
        sides=list(dict.fromkeys((side.label, side.about) for side in comparison.sides)),
        counts=[
            (f"{MARKS[verdict]} {verdict}", str(count))
            for verdict, count in comparison.counts.items()
            if count
        ],
        summary=counts_text(comparison),
        remarks=comparison.remarks,
        constants=" · ".join(f"{name} {value}" for name, value in comparison.constants),
        different=_table("What differs", labels, results, different) if different and not small else None,
        charts=_charts(comparison, labels),
        table=_table("All comparisons", labels, results, comparison.rows),
        spread=_table(
            "What was measured on both sides", labels, _spread_columns(comparison, values), comparison.rows
        ),
        is_open=small,
    )


def _distance(row: Row) -> float:
    """Rows with large changes come first."""
    return -max(row.change.ratio, 1 / row.change.ratio) if row.change else 0.0


def _table(
    caption: str, labels: Sequence[Column], columns: Sequence[Column], rows: Sequence[Row]
) -> HtmlTable:
    used = [column for column in columns if column.name != "remarks" or any(map(column.cell, rows))]
    every = [*labels, *used]
    cells = [[column.cell(row) for column in every] for row in rows]
    heads = [(column.name, column.unit) for column in every]
    sections = section_starts([row[0] for row in cells])
    return HtmlTable(caption, heads, cells, len(labels), sections)


_QUANTITIES = (("median", "median"), ("mean", "mean"), ("min", "minimum"), ("max", "maximum"))

SideOf = Callable[[Row], Measured | None]


def _spread_columns(comparison: Comparison, values: Values) -> list[Column]:
    """Median, extremes and spread of both sides."""
    other = comparison.sides[1].label if len(comparison.sides) == 2 else "other"
    return [
        *_columns_of_side(comparison.sides[0].label, lambda row: row.base, values),
        *_columns_of_side(other, lambda row: row.other, values),
    ]


def _columns_of_side(label: str, side: SideOf, values: Values) -> list[Column]:
    def quantity(row: Row, field: str) -> float | None:
        measured = side(row)
        return getattr(measured.distribution, field) if measured and measured.distribution else None

    def cell(field: str) -> Callable[[Row], str]:
        return lambda row: values.value(row, quantity(row, field))

    return [
        Column(f"{label}: n", "", lambda row: f"{quantity(row, 'n') or 0:.0f}"),
        *(Column(f"{label}: {name}", values.common_unit, cell(field)) for name, field in _QUANTITIES),
        Column(f"{label}: CV", "%", lambda row: percent(quantity(row, "variation"))),
    ]


def _charts(comparison: Comparison, labels: Sequence[Column]) -> list[Chart]:
    """The changes of all rows, those that differ first and the largest of them at the top, in portions."""
    rows = [row for row in comparison.rows if row.change is not None]
    order = [*_DIFFERENT, "no difference shown"]
    rows.sort(
        key=lambda row: (order.index(row.verdict), _distance(row)) if len(rows) > _MAXIMUM_BARS else (0, 0.0)
    )
    reach = max((max(1 / row.change.low, row.change.high) for row in rows if row.change), default=1.0)
    charts = []
    left_out = max(0, len(rows) - _MAXIMUM_FIGURES * _MAXIMUM_BARS)
    for part, portion in enumerate(_portions(rows[: len(rows) - left_out])):
        bars = [_bar(row, labels, position) for position, row in enumerate(portion)]
        specification = change_by_case.figure(bars, reach * 1.02, comparison.threshold)
        name = f"Change, {title(comparison)}" + (f" ({part + 1})" if len(rows) > _MAXIMUM_BARS else "")
        said = f"Chart of changes with their 95 % intervals: {name}. The table below has its numbers."
        caption = "Ratio of typical values (geometric means); whiskers: 95 % interval of each alone."
        if reach > change_by_case.WIDEST:
            caption += f" Cut at a factor of {change_by_case.WIDEST:g}."
        if left_out:
            caption += f" {left_out} rows without a large difference are in the table alone."
        charts.append(Chart(name, caption, svg.draw(specification, said)))
    return charts


def _portions(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Rows in portions of about equal length."""
    count = -(-len(rows) // _MAXIMUM_BARS)
    for part in range(count):
        yield rows[part * len(rows) // count : (part + 1) * len(rows) // count]


def _bar(row: Row, labels: Sequence[Column], position: int) -> change_by_case.Bar:
    change = row.change
    if change is None:
        raise ValueError("a row without a change is not drawn")
    text = ", ".join(column.cell(row) for column in labels)
    # Names tell the rows of a figure apart; characters without width do where labels do not.
    name = text + "\u200b" * position
    label = f"{text}: {change_text(change.ratio)} ({interval_text(row)}), {verdict_text(row)}"
    return change_by_case.Bar(name, row.verdict, change.ratio, change.low, change.high, label)
