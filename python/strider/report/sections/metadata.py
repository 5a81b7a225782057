"""Metadata operations: rates, latencies and their distribution."""

from __future__ import annotations

from dataclasses import replace

from strider.report.blocks import Block, Charts, Section, Text
from strider.report.charts.metadata_charts import latency_charts, rate_charts
from strider.report.results.results import Results
from strider.report.sections.rates import latency_fold
from strider.report.tables import condensed
from strider.report.tables.metadata import full_tables, rows, short_table
from strider.report.words.latencies import percentile_line
from strider.report.words.trust import trust_line
from strider.report.words.wording import constants_line


def _page(results: Results) -> list[Block]:
    summaries, facets = results.metadata, results.of_metadata
    constants = constants_line(facets, summaries)
    charts = rate_charts(summaries, facets, results.facets.series_order)
    return [
        Text(f"Common to all metadata cases: {constants}.", "caption"),
        *([Charts(charts)] if charts else []),
        *(
            replace(table, is_open=number == 0 or results.is_small)
            for number, table in enumerate(full_tables(summaries, facets))
        ),
        *latency_fold(latency_charts(summaries, facets)),
    ]


def _terminal(results: Results) -> list[Block]:
    summaries, facets = results.metadata, results.of_metadata
    is_long = len(rows(summaries, facets)) > condensed.MAXIMUM_ROWS
    tables: list[Block] = (
        condensed.of_metadata(summaries, facets) if is_long else [short_table(summaries, facets)]
    )
    captions = [constants_line(facets, summaries), trust_line(summaries), percentile_line(summaries)]
    return [*tables, *(Text(line, "caption") for line in captions if line)]


SECTION = Section("metadata", "Metadata", _page, _terminal, applies=lambda results: bool(results.metadata))
