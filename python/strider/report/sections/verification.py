"""Comparison of the data that interfaces read."""

from __future__ import annotations

from dataclasses import replace

from strider.report.blocks import Block, Section, Text
from strider.report.results.results import Results
from strider.report.tables.data import digest_table
from strider.report.tables.values import comparison_table, values_table
from strider.report.words.wording import problems

_WHY = (
    "Each rank computes a digest of the data that it reads. Cases that differ only in the interface must "
    "read the same data."
)
_VALUES = (
    "Each rank records the first, middle and last value that its requests read, also without "
    "verification. Cases that differ only in the interface must read the same values."
)
#: Tables with at most this many rows are open initially.
_OPEN_ROWS = 12


def _page(results: Results) -> list[Block]:
    wrong = problems(results.run, results.summaries, results.comparisons, results.value_comparisons)
    found: list[Block] = []
    if results.comparisons:
        table = digest_table(results.comparisons, results.facets)
        found += [Text(_WHY), replace(table, is_open=len(table.rows) <= _OPEN_ROWS or bool(wrong))]
    if results.values:
        found.append(Text(_VALUES))
        if results.value_comparisons:
            table = comparison_table(results.value_comparisons, results.facets)
            found.append(replace(table, is_open=len(table.rows) <= _OPEN_ROWS or bool(wrong)))
        found.append(values_table(results.values, results.facets))
    return found


SECTION = Section(
    "digests",
    "Verification",
    _page,
    applies=lambda results: bool(results.comparisons or results.values),
)
