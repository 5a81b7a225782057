"""What the nodes counted, as a table for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from strider.report import metadata
from strider.report.counters import CAPTION, Cell, columns
from strider.report.facets import Facets
from strider.report.metadata import Column, Row
from strider.report.metadata_table import print_rows
from strider.report.table import format_transfer
from strider.statistics import OperationSummary, summarize
from strider.store import Observed, load_events
from strider.store.model import NodeCounters, Run

if TYPE_CHECKING:
    from rich.console import Console

#: Columns that may go where the terminal is narrow, first to go first.
_OPTIONAL = (
    "disk written MiB",
    "disk read MiB",
    "page faults /s",
    "retransmits",
    "interrupts /s",
    "context switches /s",
    "I/O wait",
)


def render(run: Run, console: Console) -> None:
    """Prints what the nodes counted around each operation."""
    summaries = summarize(run, load_events(run.directory, NodeCounters))
    if any(summary.counters for summary in summaries):
        _print(summaries, console)
        console.print(f"{CAPTION}.", style="dim", highlight=False)
        return
    text = "This run has no counters: it was made with --counters none, or by an older Strider."
    console.print(text, highlight=False)


def render_observed(run: Run, observed: Observed, console: Console) -> None:
    """Prints what a server counted during each operation."""
    summaries = summarize(run, observed.during(run))
    seen = [summary for summary in summaries if summary.counters]
    if seen:
        _print(seen, console)
        text = (
            f"What {observed.host} counted meanwhile, by the clock; every {observed.interval_s:g} s, so of "
            "shorter phases it is an estimate."
        )
        console.print(text, style="dim", highlight=False, markup=False)
        return
    text = (
        f"{observed.host} was not observed during this run: {observed.period}; the run: {run.info.started}."
    )
    console.print(text, highlight=False, markup=False)


def _print(summaries: Sequence[OperationSummary], console: Console) -> None:
    for of_metadata in (False, True):
        own = [summary for summary in summaries if summary.case.is_metadata is of_metadata]
        if own:
            facets = Facets.of([summary.case for summary in own])
            labels = metadata.label_columns(own, facets) if of_metadata else labels_of_data(own, facets)
            cells = columns(own)
            numbers = [Column(name, unit, _of_row(cell)) for (name, unit), cell in cells.items()]
            print_rows([Row(summary) for summary in ordered(own)], labels, numbers, _OPTIONAL, console)


def labels_of_data(summaries: Sequence[OperationSummary], facets: Facets) -> list[Column]:
    """What names a row, with the transfer size where that differs; the case's number only where needed."""
    labels = metadata.label_columns(summaries, facets)
    transfer = Column("transfer", "", lambda row: format_transfer(row.summary.case.transfer_bytes))
    if len({transfer.cell(Row(summary)) for summary in summaries}) == 1:
        return labels
    sized = [column for column in labels if column.name != "case"] + [transfer]
    names = {tuple(column.cell(Row(summary)) for column in sized) for summary in summaries}
    return sized if len(names) == len(summaries) else [*labels, transfer]


def ordered(summaries: Sequence[OperationSummary]) -> list[OperationSummary]:
    """Those of one operation together, in the order of the plan."""
    operations = list(dict.fromkeys(summary.operation for summary in summaries))
    return sorted(summaries, key=lambda summary: operations.index(summary.operation))


def _of_row(cell: Cell) -> Callable[[Row], str]:
    return lambda row: cell(row.summary)
