"""Comparison of the data that interfaces read."""

from __future__ import annotations

from dataclasses import replace

from strider.report.blocks import Block, Section, Text
from strider.report.results.results import Results
from strider.report.tables.data import digest_table
from strider.report.words.wording import problems

_WHY = (
    "Each rank computes a digest of the data that it reads. Cases that differ only in the interface must "
    "read the same data."
)
#: Tables with at most this many rows are open initially.
_OPEN_ROWS = 12


def _page(results: Results) -> list[Block]:
    table = digest_table(results.comparisons, results.facets)
    wrong = problems(results.run, results.summaries, results.comparisons)
    return [Text(_WHY), replace(table, is_open=len(table.rows) <= _OPEN_ROWS or bool(wrong))]


SECTION = Section("digests", "Verification", _page, applies=lambda results: bool(results.comparisons))
