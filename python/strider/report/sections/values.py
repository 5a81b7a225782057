"""Values that requests of ranks read, in a terminal; the page shows them with the verification."""

from __future__ import annotations

from strider.report.blocks import Block, Section, Text
from strider.report.results.results import Results
from strider.report.tables.values import comparison_table, values_table

_NONE = "This run has no values: no case sets values to a number of requests."


def _terminal(results: Results) -> list[Block]:
    if not results.values:
        return [Text(_NONE)]
    compared = results.value_comparisons
    tables = [
        *([comparison_table(compared, results.facets)] if compared else []),
        values_table(results.values, results.facets),
    ]
    return [block for table in tables for block in (Text(f"{table.caption}:"), table)]


SECTION = Section("values", "Values", terminal=_terminal, option="values")
