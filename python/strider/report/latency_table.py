"""How latencies are distributed, as a table of percentiles for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from strider.report import metadata
from strider.report.facets import Facets
from strider.report.metadata import Column, Row
from strider.report.metadata_table import print_rows
from strider.report.numbers import NOTHING
from strider.report.table import format_transfer
from strider.statistics import OperationSummary, summarize
from strider.statistics.histogram import LatencyDistribution
from strider.store.model import Run
from strider.units import grouped

if TYPE_CHECKING:
    from rich.console import Console

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
#: Columns that may go where the terminal is narrow, first to go first.
_OPTIONAL = ("p10", "p95", "p25", "p75", "p90", "min", "requests")


def render(run: Run, console: Console) -> None:
    """Prints percentiles of the latencies of all requests, over all ranks and repetitions."""
    summaries = summarize(run)
    for of_metadata in (False, True):
        own = [summary for summary in summaries if summary.case.is_metadata is of_metadata]
        if own:
            facets = Facets.of([summary.case for summary in own])
            labels = metadata.label_columns(own, facets) if of_metadata else _labels_of_data(own, facets)
            lines = metadata.rows(own, facets)
            print_rows(lines, labels, _percentile_columns(own), _OPTIONAL, console)
    console.print("Latency of single requests, over all ranks and repetitions.", style="dim", highlight=False)


def _labels_of_data(summaries: Sequence[OperationSummary], facets: Facets) -> list[Column]:
    labels = metadata.label_columns(summaries, facets)
    transfer = Column("transfer", "", lambda row: format_transfer(row.summary.case.transfer_bytes))
    differs = len({transfer.cell(Row(summary)) for summary in summaries}) > 1
    return [*labels, transfer] if differs else labels


def _percentile_columns(summaries: Sequence[OperationSummary]) -> list[Column]:
    unit = metadata.latency_unit(summaries)

    def of_latency(quantity: str) -> metadata.Cell:
        return lambda row: metadata.format_time(unit, getattr(row.latency, quantity, None))

    def percentile(share: float) -> metadata.Cell:
        def cell(row: Row) -> str:
            found, latency = _distribution(row), row.latency
            if found is None or latency is None:
                return NOTHING
            # A bucket's midpoint may lie outside of what was seen; the exact extremes are known.
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
