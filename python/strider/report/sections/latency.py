"""Latency percentiles in a terminal; the page has charts."""

from __future__ import annotations

from collections.abc import Sequence

from strider.report.blocks import Block, Section, Text
from strider.report.results.results import Results
from strider.report.tables import metadata
from strider.report.tables.metadata import Column, Row
from strider.report.words.latencies import percentile_line
from strider.report.words.numbers import NOTHING
from strider.statistics import OperationSummary
from strider.statistics.histogram import LatencyDistribution
from strider.statistics.latency import is_known
from strider.units import grouped

_CAPTION = "Latency of requests, over all ranks and repetitions"
_SHARES = {
    "p10": 0.1,
    "p25": 0.25,
    "p50": 0.5,
    "p75": 0.75,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p99.9": 0.999,
    "p99.99": 0.9999,
}
#: Columns omitted in a narrow terminal, first to omit first.
_OPTIONAL = ("p10", "p95", "p25", "p75", "p90", "min", "requests")


def _terminal(results: Results) -> list[Block]:
    """Returns latency percentiles of all requests, over all ranks and repetitions."""
    blocks: list[Block] = []
    for own, facets in ((results.data, results.of_data), (results.metadata, results.of_metadata)):
        if own:
            labels = metadata.sized_labels(own, facets)
            lines = metadata.rows(own, facets)
            blocks.append(metadata.table_of(lines, labels, _percentile_columns(own), _CAPTION, _OPTIONAL))
    captions = [f"{_CAPTION}.", percentile_line(results.summaries)]
    return [*blocks, *(Text(line, "caption") for line in captions if line)]


def _percentile_columns(summaries: Sequence[OperationSummary]) -> list[Column]:
    unit = metadata.latency_unit(summaries)

    def of_latency(quantity: str) -> metadata.Cell:
        return lambda row: metadata.format_time(unit, getattr(row.latency, quantity, None))

    def percentile(share: float) -> metadata.Cell:
        def cell(row: Row) -> str:
            found, latency = _distribution(row), row.latency
            if found is None or latency is None or not is_known(share, latency.requests_min):
                return NOTHING
            # A bucket's midpoint may lie outside the observed range; the exact extremes are known.
            inside = min(max(found.percentile_s(share), latency.minimum_s), latency.maximum_s)
            return metadata.format_time(unit, inside)

        return cell

    return [
        Column("requests", "", lambda row: grouped(row.latency.count) if row.latency else NOTHING),
        Column("min", unit.name, of_latency("minimum_s")),
        *(Column(name, unit.name, percentile(share)) for name, share in _SHARES.items()),
        Column("max", unit.name, of_latency("maximum_s")),
    ]


def _distribution(row: Row) -> LatencyDistribution | None:
    return row.part.histogram if row.part else row.summary.histogram


SECTION = Section("latency", "Latency", terminal=_terminal, option="latency")
