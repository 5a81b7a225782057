"""The two ways of read-write: rates and latencies of its reads and of its writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strider.report.blocks import Table
from strider.report.labels.facets import Facets
from strider.report.tables import placement
from strider.report.tables.data import format_transfer, section_starts
from strider.report.words.numbers import NOTHING, TimeUnit, percent, significant, time_unit
from strider.statistics import OperationSummary
from strider.statistics.summary import PartSummary
from strider.units import MIB

CAPTION = "Reads and writes of read-write"
_Row = tuple[OperationSummary, PartSummary]
_Cell = Callable[[_Row], str]


def mixed_tables(summaries: Sequence[OperationSummary], facets: Facets) -> list[Table]:
    """Returns the table of all phases that read and write; none without such phases.

    Args:
        summaries: Results of data cases.
        facets: Their labels.
    """
    rows = [(summary, part) for summary in summaries for part in summary.parts]
    if not rows:
        return []
    labels = _labels(rows, facets)
    columns = labels | _numbers(rows)
    return [
        Table(
            CAPTION,
            list(columns),
            [[cell(row) for cell in columns.values()] for row in rows],
            len(labels),
            section_starts([summary.key for summary, _ in rows]),
            optional=("max", "p50", "IOPS"),
            folding={"pattern": 30},
        )
    ]


def _labels(rows: Sequence[_Row], facets: Facets) -> dict[tuple[str, str], _Cell]:
    every: dict[tuple[str, str], _Cell] = {
        ("interface", ""): lambda row: facets.series[row[0].case.number],
        ("pattern", ""): lambda row: facets.group[row[0].case.number],
        ("transfer", ""): lambda row: format_transfer(row[0]),
        ("clients", ""): lambda row: str(row[0].case.clients),
        **{
            (name, ""): _of_summary(cell)
            for name, cell in placement.columns([row[0] for row in rows]).items()
        },
    }
    varying = {head: cell for head, cell in every.items() if len(set(map(cell, rows))) > 1}
    return {
        ("interface", ""): every["interface", ""],
        **varying,
        ("operation", ""): lambda row: row[1].operation,
    }


def _of_summary(cell: placement.Cell) -> _Cell:
    return lambda row: cell(row[0])


def _numbers(rows: Sequence[_Row]) -> dict[tuple[str, str], _Cell]:
    unit = time_unit([part.latency.p50_s for _, part in rows if part.latency])
    return {
        ("share", "%"): lambda row: percent(row[1].share),
        ("rate ± 95 %", "MiB/s"): _rate,
        ("IOPS", ""): lambda row: significant(row[1].rate.centre if row[1].rate else None),
        **{(name, unit.name): _latency(name, unit) for name in ("p50", "p99")},
        ("max", unit.name): _latency("maximum", unit),
    }


def _rate(row: _Row) -> str:
    """Formats the rate of one way and how far its interval reaches; its requests have one mean size."""
    part = row[1]
    if part.rate is None or not part.requests:
        return NOTHING
    bytes_each = part.bytes / part.requests
    half_width = part.rate.half_width
    spread = f" ± {percent(half_width)} %" if half_width is not None else ""
    return significant(part.rate.centre * bytes_each / MIB) + spread


def _latency(quantity: str, unit: TimeUnit) -> _Cell:
    return lambda row: unit.format(getattr(row[1].latency, f"{quantity}_s", None))
