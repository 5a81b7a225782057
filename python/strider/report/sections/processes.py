"""Wall, user and system time of each process."""

from __future__ import annotations

from dataclasses import replace

from strider.report.blocks import Block, Section, Text
from strider.report.results.results import Results
from strider.report.tables import rank_times
from strider.statistics.processes import process_times
from strider.store import RankRow, load_events

#: Most rows of a table; with more processes the rows are in the export.
_MOST_ROWS = 64
_MORE = (
    f"The table has the first {_MOST_ROWS} of {{}} rows; strider export --rows ranks has those of all "
    "processes."
)
_NONE = "This run has no times of processes: no operation was completed."
_MANY = (
    "This run has no times of single processes: with more than {} clients they are recorded with --timeline "
    "rank alone. strider export --rows distributions has their distributions."
)
#: Up to so many clients the engine records each rank (docs/formats.md).
_MOST_CLIENTS = 64


def _blocks(results: Results) -> list[Block]:
    times = process_times(results.summaries, load_events(results.run.directory, RankRow))
    if not times:
        return []
    reference = results.reference
    known = reference if reference and reference.knows_process_times(results.summaries) else None
    table = rank_times.table(times[:_MOST_ROWS], results.facets, known)
    more = [Text(_MORE.format(len(times)), "caption")] if len(times) > _MOST_ROWS else []
    return [replace(table, is_open=known is not None), *more]


def _terminal(results: Results) -> list[Block]:
    found = _blocks(results)
    if found:
        return [Text(f"{rank_times.CAPTION}:"), *found]
    return [Text(_MANY.format(_MOST_CLIENTS) if results.summaries else _NONE)]


SECTION = Section("processes", "Processes", _blocks, _terminal, option="processes")
