"""Rows and columns of metadata tables, for the terminal and the report.

A row is an operation of a case, or an operation of its mix. The first columns show how the cases differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strider.report.blocks import Table
from strider.report.labels.facets import Facets
from strider.report.tables import placement
from strider.report.tables.data import format_transfer, section_starts
from strider.report.words.numbers import NOTHING, TimeUnit, percent, significant, time_unit
from strider.report.words.trust import trust_cell, trust_letter
from strider.report.words.wording import notes, plural
from strider.statistics import Distribution, OperationSummary
from strider.statistics.latency import LatencySummary
from strider.statistics.summary import PartSummary
from strider.units import format_bytes_rounded, format_seconds, grouped

#: Columns omitted in a narrow terminal, first to omit first: heading and unit.
_OPTIONAL = ("95 % interval", "p99.9", "max op/s", "min op/s", "p50", "p99", "max")
#: Text columns that may wrap there, with their width.
_FOLDING = {"conditions": 28, "notes": 26}


@dataclass(frozen=True)
class Row:
    """An operation of a case, or with `part` an operation of its mix."""

    summary: OperationSummary
    part: PartSummary | None = None

    @property
    def name(self) -> str:
        """Returns the operation; for a mix, with its share of the requests."""
        if self.part is None:
            return self.summary.operation
        return f"· {self.part.operation}, {percent(self.part.share)} %"

    @property
    def rate(self) -> Distribution | None:
        """Returns the operations per second."""
        return self.part.rate if self.part else self.summary.rate

    @property
    def latency(self) -> LatencySummary | None:
        """Returns the latency of its requests."""
        return self.part.latency if self.part else self.summary.latency


Cell = Callable[[Row], str]


@dataclass(frozen=True)
class Column:
    """A column: its heading, the unit below that, the text of a row."""

    name: str
    unit: str
    cell: Cell


def rows(summaries: Sequence[OperationSummary], facets: Facets) -> list[Row]:
    """Returns a row for each operation, sorted by name, and for each operation of a mix."""
    found = []
    for summary in _ordered(summaries, facets):
        found += [Row(summary), *(Row(summary, part) for part in summary.parts)]
    return found


def label_columns(summaries: Sequence[OperationSummary], facets: Facets) -> list[Column]:
    """Returns the columns that name a row: the operation, and how the cases differ."""
    varying = [
        Column("interface", "", lambda row: facets.series[row.summary.case.number]),
        Column("clients", "", lambda row: str(row.summary.case.clients)),
        *(Column(name, "", _of_summary(cell)) for name, cell in placement.columns(summaries).items()),
        Column("conditions", "", lambda row: facets.group[row.summary.case.number]),
    ]
    differing = [c for c in varying if len({c.cell(Row(summary)) for summary in summaries}) > 1]
    names = [(s.operation, *(column.cell(Row(s)) for column in differing)) for s in summaries]
    if len(set(names)) < len(names):  # cases that differ only in their lists of operations
        differing.append(Column("case", "", lambda row: str(row.summary.case.number)))
    return [Column("operation", "", lambda row: row.name), *differing]


def _of_summary(cell: placement.Cell) -> Callable[[Row], str]:
    return lambda row: cell(row.summary)


def sized_labels(summaries: Sequence[OperationSummary], facets: Facets) -> list[Column]:
    """Returns the columns that name a row, with transfer size and case number if needed."""
    labels = label_columns(summaries, facets)
    transfer = Column("transfer", "", lambda row: format_transfer(row.summary))
    if len({transfer.cell(Row(summary)) for summary in summaries}) == 1:
        return labels
    sized = [column for column in labels if column.name != "case"] + [transfer]
    names = {tuple(column.cell(Row(summary)) for column in sized) for summary in summaries}
    return sized if len(names) == len(summaries) else [*labels, transfer]


def case_labels(summaries: Sequence[OperationSummary], facets: Facets) -> dict[int, str]:
    """Returns a distinguishing label for each case number; empty for a single case."""
    columns = label_columns(summaries, facets)[1:]
    labels = {}
    for summary in summaries:
        texts = [(column.name, column.cell(Row(summary))) for column in columns]
        parts = [_label_of(name, text) for name, text in texts]
        labels[summary.case.number] = ", ".join(parts)
    return labels


def _label_of(column: str, text: str) -> str:
    if column == "clients":
        return plural(int(text), "client")
    if column == "nodes":
        return "nodes unknown" if text == NOTHING else plural(int(text), "node")
    if column == "per node":
        return f"{text} per node"
    return f"case {text}" if column == "case" else text


def number_columns(
    summaries: Sequence[OperationSummary], in_words: Callable[[OperationSummary], str] = trust_cell
) -> list[Column]:
    """Returns the columns of rates, latencies, trust and notes."""
    unit = latency_unit(summaries)

    def rate(quantity: str) -> Cell:
        return lambda row: format_operations(getattr(row.rate, quantity, None))

    def latency(quantity: str) -> Cell:
        return lambda row: format_time(unit, getattr(row.latency, quantity, None))

    return [
        Column("rate", "op/s", rate("centre")),
        Column("std. dev.", "%", lambda row: percent(row.rate.variation if row.rate else None)),
        Column("95 % interval", "op/s", _interval),
        Column("min", "op/s", rate("minimum")),
        Column("max", "op/s", rate("maximum")),
        Column("p50", unit.name, latency("p50_s")),
        Column("p99", unit.name, latency("p99_s")),
        Column("p99.9", unit.name, latency("p999_s")),
        Column("max", unit.name, latency("maximum_s")),
        Column("trust", "", lambda row: NOTHING if row.part else in_words(row.summary)),
        *note_columns(summaries),
    ]


def note_columns(summaries: Sequence[OperationSummary]) -> list[Column]:
    """Returns the column of notes; none without notes."""
    if not any(notes(summary) for summary in summaries):
        return []
    return [Column("notes", "", lambda row: "" if row.part else "; ".join(notes(row.summary)))]


def latency_unit(summaries: Sequence[OperationSummary]) -> TimeUnit:
    """Returns the unit for all latencies of a table."""
    return time_unit([summary.latency.p50_s for summary in summaries if summary.latency])


def format_operations(rate: float | None) -> str:
    """Formats operations per second with digit groups."""
    return NOTHING if rate is None or rate != rate else grouped(rate)


def format_time(unit: TimeUnit, value_s: float | None) -> str:
    """Formats a duration in a unit, with digit groups."""
    long = value_s is not None and value_s / unit.seconds >= 1000
    return grouped((value_s or 0.0) / unit.seconds) if long else unit.format(value_s)


def full_tables(summaries: Sequence[OperationSummary], facets: Facets) -> list[Table]:
    """Returns the tables of the report: rates with latencies, ranks and times, and the deadline if any."""
    contents = [
        ("Metadata operations: rate and latency", number_columns(summaries)),
        ("Ranks and time breakdown, mean per repetition", _time_columns(summaries)),
        ("At the deadline (stonewall)", _deadline_columns()),
    ]
    return [
        table
        for caption, columns in contents
        if (table := _full_table(caption, columns, summaries, facets)) and table.rows
    ]


def table_of(
    lines: Sequence[Row],
    labels: Sequence[Column],
    numbers: Sequence[Column],
    caption: str = "",
    optional: Sequence[str] = (),
) -> Table:
    """Returns the rows as a table for a terminal; parts of a mix follow their operation."""
    names = [
        [column.cell(row) if not row.part or column is labels[0] else "" for column in labels]
        for row in lines
    ]
    several = len(labels) > 1
    return Table(
        caption,
        [(column.name, column.unit) for column in (*labels, *numbers)],
        [[*name, *(column.cell(row) for column in numbers)] for name, row in zip(names, lines, strict=True)],
        len(labels),
        section_starts([row.summary.operation if several else "" for row in lines]),
        bad=frozenset(number for number, row in enumerate(lines) if row.summary.voided or row.summary.errors),
        optional=optional,
        folding=_FOLDING,
    )


def short_table(summaries: Sequence[OperationSummary], facets: Facets) -> Table:
    """Returns the columns of rates and latencies for a terminal."""
    lines = rows(summaries, facets)
    labels, numbers = label_columns(summaries, facets), number_columns(summaries, trust_letter)
    return table_of(lines, labels, numbers, "Results", _OPTIONAL)


def _full_table(
    caption: str, columns: Sequence[Column], summaries: Sequence[OperationSummary], facets: Facets
) -> Table:
    labels = label_columns(summaries, facets)
    every = [*labels, *columns]
    texts = [(row, [column.cell(row) for column in every]) for row in rows(summaries, facets)]
    filled = [(row, text) for row, text in texts if set(text[len(labels) :]) - {NOTHING, ""}]
    several = len(labels) > 1
    return Table(
        caption,
        [(column.name, column.unit) for column in every],
        [text for _, text in filled],
        labels=len(labels),
        sections=section_starts([row.summary.operation if several else "" for row, _ in filled]),
    )


def _ordered(summaries: Sequence[OperationSummary], facets: Facets) -> list[OperationSummary]:
    operations = list(dict.fromkeys(summary.operation for summary in summaries))
    groups = list(dict.fromkeys(facets.group.values()))

    def position(summary: OperationSummary) -> tuple[int, ...]:
        case = summary.case
        return (
            operations.index(summary.operation),
            groups.index(facets.group[case.number]),
            case.clients,
            facets.series_order.index(facets.series[case.number]),
        )

    return sorted(summaries, key=position)


def ordered(summaries: Sequence[OperationSummary]) -> list[OperationSummary]:
    """Groups summaries by operation, in the order of the plan."""
    operations = list(dict.fromkeys(summary.operation for summary in summaries))
    return sorted(summaries, key=lambda summary: operations.index(summary.operation))


def _interval(row: Row) -> str:
    found = row.rate.interval if row.rate else None
    return f"{grouped(found.low)} – {grouped(found.high)}" if found else NOTHING


def _time_columns(summaries: Sequence[OperationSummary]) -> list[Column]:
    unit = time_unit([summary.times.elapsed_s for summary in summaries if summary.times])

    def of_whole(cell: Callable[[OperationSummary], str]) -> Cell:
        return lambda row: NOTHING if row.part else cell(row.summary)

    def time(quantity: str) -> Cell:
        return of_whole(lambda s: unit.format(getattr(s.times, quantity, None)))

    def size(summary: OperationSummary) -> str:
        moved = summary.samples[0].bytes if summary.samples else 0
        return format_bytes_rounded(moved) if moved else NOTHING

    return [
        Column("n", "", of_whole(lambda s: str(s.n))),
        Column("median", "op/s", of_whole(lambda s: format_operations(s.rate.median if s.rate else None))),
        Column("total rate", "op/s", of_whole(lambda s: format_operations(s.total_rate))),
        Column(
            "first done, median",
            "op/s",
            of_whole(lambda s: format_operations(s.first_done.median if s.first_done else None)),
        ),
        Column("slowest … fastest rank", "op/s", of_whole(_rank_spread)),
        Column("requests", "", of_whole(lambda s: grouped(s.samples[0].requests) if s.samples else NOTHING)),
        Column("elapsed", unit.name, time("elapsed_s")),
        Column("CPU user", unit.name, time("user_s")),
        Column("CPU system", unit.name, time("system_s")),
        Column("bytes", "", of_whole(size)),
    ]


def _rank_spread(summary: OperationSummary) -> str:
    ranks = summary.ranks
    if ranks is None:
        return NOTHING
    slowest, fastest = format_operations(ranks.slowest), format_operations(ranks.fastest)
    return f"{slowest} (rank {ranks.slowest_rank}) … {fastest}"


def _deadline_columns() -> list[Column]:
    def of_deadline(format_one: Callable[[float], str], quantity: str) -> Cell:
        return lambda row: (
            format_one(getattr(row.summary.deadline, quantity))
            if row.summary.deadline and not row.part
            else NOTHING
        )

    return [
        Column("deadline", "", of_deadline(format_seconds, "deadline_s")),
        Column("rate at the deadline", "op/s", of_deadline(format_operations, "rate")),
        Column("requests until then", "", of_deadline(grouped, "requests")),
        Column("wear-out", "s", of_deadline(significant, "wear_out_s")),
        Column("requests of the slowest rank", "", of_deadline(grouped, "requests_per_rank_min")),
        Column("requests of the fastest rank", "", of_deadline(grouped, "requests_per_rank_max")),
    ]
