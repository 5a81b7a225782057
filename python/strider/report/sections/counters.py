"""What the nodes counted, and servers meanwhile, in a terminal; on the page it is beside the rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strider.report.blocks import Block, Section, Text
from strider.report.results.results import Results
from strider.report.tables import metadata
from strider.report.tables.counters import CAPTION, Cell, columns
from strider.report.tables.metadata import Column, Row
from strider.statistics import OperationSummary, summarize
from strider.store import Observed

_NONE = "This run has no counters: it was made with --counters none, or by an older Strider."
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


def _terminal(results: Results) -> list[Block]:
    observed = [block for one in results.observed for block in _observed(results, one)]
    if not any(summary.counters for summary in results.summaries):
        return [Text(_NONE), *observed]
    return [*_tables(results, results.summaries), Text(f"{CAPTION}.", "caption"), *observed]


def _observed(results: Results, observed: Observed) -> list[Block]:
    """What a server counted during each operation."""
    seen = [one for one in summarize(results.run, observed.during(results.run)) if one.counters]
    if seen:
        text = (
            f"What {observed.host} counted meanwhile, by the clock; every {observed.interval_s:g} s, so of "
            "shorter phases it is an estimate."
        )
        return [*_tables(results, seen), Text(text, "caption")]
    started = results.run.info.started
    return [Text(f"{observed.host} was not observed during this run: {observed.period}; the run: {started}.")]


def _tables(results: Results, summaries: Sequence[OperationSummary]) -> list[Block]:
    found: list[Block] = []
    for of_metadata, facets in ((False, results.of_data), (True, results.of_metadata)):
        own = [summary for summary in summaries if summary.case.is_metadata is of_metadata]
        if own:
            lines = [Row(summary) for summary in metadata.ordered(own)]
            labels = metadata.sized_labels(own, facets)
            numbers = [Column(name, unit, _of_row(cell)) for (name, unit), cell in columns(own).items()]
            found.append(metadata.table_of(lines, labels, numbers, CAPTION, _OPTIONAL))
    return found


def _of_row(cell: Cell) -> Callable[[Row], str]:
    return lambda row: cell(row.summary)


SECTION = Section("counters", "Counters", terminal=_terminal, option="counters")
