"""Counters of nodes and of observed servers, in a terminal; the page shows them beside the rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strider.report.blocks import Block, Section, Text
from strider.report.results.results import Results
from strider.report.tables import metadata, processes
from strider.report.tables.counters import CAPTION, Cell, columns
from strider.report.tables.metadata import Column, Row
from strider.statistics import OperationSummary, summarize
from strider.store import Observed

_NONE = "This run has no counters: it was measured with --counters none, or by an older version of Strider."
#: Columns omitted in a narrow terminal, first to omit first.
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
    """Returns the counters of a server during each operation."""
    seen = [one for one in summarize(results.run, observed.during(results.run)) if one.counters]
    if seen:
        text = (
            f"Counters of {observed.host} during each operation, matched by time; sampled every "
            f"{observed.interval_s:g} s, an estimate for shorter phases"
        )
        return [*_tables(results, seen), Text(text, "caption")]
    started = results.run.info.started
    return [
        Text(
            f"{observed.host} was not observed during this run: observed {observed.period}, run started "
            f"{started}."
        )
    ]


def _tables(results: Results, summaries: Sequence[OperationSummary]) -> list[Block]:
    found: list[Block] = []
    for of_metadata, facets in ((False, results.of_data), (True, results.of_metadata)):
        own = [summary for summary in summaries if summary.case.is_metadata is of_metadata]
        if own:
            lines = [Row(summary) for summary in metadata.ordered(own)]
            labels = metadata.sized_labels(own, facets)
            numbers = [
                Column(name, unit, _of_row(cell))
                for (name, unit), cell in columns(own, results.reference).items()
            ]
            found.append(metadata.table_of(lines, labels, numbers, CAPTION, _OPTIONAL))
            of_processes = [Column(*name, _of_row(cell)) for name, cell in processes.columns(own).items()]
            if of_processes:
                found.append(metadata.table_of(lines, labels, of_processes, processes.CAPTION))
                found.append(Text(f"{processes.CAPTION}.", "caption"))
    return found


def _of_row(cell: Cell) -> Callable[[Row], str]:
    return lambda row: cell(row.summary)


SECTION = Section("counters", "Counters", terminal=_terminal, option="counters")
