"""What changed, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from strider.compare.model import Comparison, Measured, Row, Verdict
from strider.compare.wording import (
    Column,
    Values,
    change_text,
    constants_text,
    interval_text,
    label_columns,
    overall_text,
    result_columns,
    title,
    verdict_text,
)
from strider.report.blocks import Block, Chart, Charts, Fold, Section, Table, Text
from strider.report.figures import change_by_case, svg
from strider.report.tables.data import section_starts
from strider.report.words.numbers import percent

#: With more rows a terminal shows only those that differ, or cannot be compared.
_MAXIMUM_ROWS = 60
#: Columns that may go where it is narrow, first to go first; and those that may take several lines.
_OPTIONAL = ("p", "n", "grade")
_FOLDING = {"pattern": 28, "remarks": 36, "interface": 28, "verdict": 24}
_STYLES: dict[Verdict, str] = {
    "faster": "green",
    "slower": "bold red",
    "no difference shown": "",
    "no verdict": "",
    "not comparable": "yellow",
}
_INTERESTING: tuple[Verdict, ...] = ("slower", "faster", "not comparable")
#: Rows in one figure; more go into further figures.
_MAXIMUM_BARS = 40
#: Rows beyond so many figures are in the tables alone: those that changed least.
_MAXIMUM_FIGURES = 6
#: Up to so many rows all charts and tables are open from the start; beyond, the rows that differ are.
_OPEN_ROWS = 80
_DIFFERENT: tuple[Verdict, ...] = ("slower", "faster")


def _page(comparison: Comparison) -> list[Block]:
    values = Values(comparison.rows)
    labels = label_columns(comparison)
    results = result_columns(comparison, values)
    rows = comparison.rows
    different = sorted((row for row in rows if row.verdict in _DIFFERENT), key=_distance)
    is_small = len(rows) <= _OPEN_ROWS
    charts = _charts(comparison, labels)
    further = charts[1:]
    spread = _table("Results of both sides", labels, _spread_columns(comparison, values), rows)
    return [
        *([_table("Differences", labels, results, different)] if different and not is_small else []),
        *([Charts(charts[:1], wide=True, label="Changes")] if charts else []),
        *([Fold(f"{len(further)} further charts", [Charts(further, wide=True)])] if further else []),
        replace(_table("All comparisons", labels, results, rows), is_open=is_small),
        replace(spread, is_open=False),
    ]


def _terminal(comparison: Comparison) -> list[Block]:
    sides = dict.fromkeys(f"{side.label}: {side.about}" for side in comparison.sides)
    rows = _shown(comparison)
    columns = result_columns(comparison, Values(comparison.rows))
    left_out = len(comparison.rows) - len(rows)
    more = f"… {left_out} more rows: to write a page with all, use -o FILE"
    constants = constants_text(comparison)
    return [
        *(Text(overall_text(one, comparison.threshold), "bold") for one in comparison.overall),
        *(Text(side, is_one_line=True) for side in sides),
        *([_table("Changes", label_columns(comparison), columns, rows, is_ruled=False)] if rows else []),
        *([Text(more, "caption")] if left_out else []),
        *([Text(constants, "caption")] if constants else []),
    ]


def _shown(comparison: Comparison) -> Sequence[Row]:
    if len(comparison.rows) <= _MAXIMUM_ROWS:
        return comparison.rows
    interesting = [row for row in comparison.rows if row.verdict in _INTERESTING]
    ordered = sorted(interesting, key=lambda row: (_INTERESTING.index(row.verdict), _distance(row)))
    return ordered[:_MAXIMUM_ROWS]


def _distance(row: Row) -> float:
    """Rows with large changes come first."""
    return -max(row.change.ratio, 1 / row.change.ratio) if row.change else 0.0


def _table(
    caption: str,
    labels: Sequence[Column],
    columns: Sequence[Column],
    rows: Sequence[Row],
    is_ruled: bool = True,
) -> Table:
    used = [column for column in columns if column.name != "remarks" or any(map(column.cell, rows))]
    every = [*labels, *used]
    cells = [[column.cell(row) for column in every] for row in rows]
    heads = [(column.name, column.unit) for column in every]
    return Table(
        caption,
        heads,
        cells,
        len(labels),
        section_starts([row[0] for row in cells]) if is_ruled else frozenset(),
        optional=_OPTIONAL,
        folding=_FOLDING,
        styles={
            (number, name): _STYLES[row.verdict]
            for number, row in enumerate(rows)
            for name in ("verdict", "change")
        },
    )


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
    order = [*_DIFFERENT, "no difference shown", "no verdict"]
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
            caption += f" {left_out} rows without a large difference appear in the table only."
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
    # Names distinguish the rows of a figure; characters without width do where labels do not.
    name = text + "\u200b" * position
    label = f"{text}: {change_text(change.ratio)} ({interval_text(row)}), {verdict_text(row)}"
    return change_by_case.Bar(name, row.verdict, change.ratio, change.low, change.high, label)


SECTION = Section("changes", "Changes", _page, _terminal)
