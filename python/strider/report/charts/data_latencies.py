"""How the latencies of reads and writes are distributed: charts of latency against percentile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from strider.report.blocks import Chart
from strider.report.charts.metadata_charts import latency_chart
from strider.report.charts.rates import drawn
from strider.report.figures.latency_percentiles import Line
from strider.report.figures.style import SeriesStyle, styles
from strider.report.labels.facets import Facets
from strider.report.words.wording import plural
from strider.statistics import OperationSummary
from strider.units import format_bytes


def charts(summaries: Sequence[OperationSummary], facets: Facets) -> list[Chart]:
    """A chart for each group, operation and transfer size, with a line for each interface.

    They are of the largest number of clients that the group has in the operation, where requests meet most
    others, and of the smallest and the largest transfer size: the table has percentiles of all.
    """
    with_latencies = [s for s in drawn(summaries) if s.histogram and s.histogram.count]
    groups: defaultdict[tuple[str, str], list[OperationSummary]] = defaultdict(list)
    for summary in with_latencies:
        groups[facets.group[summary.case.number], summary.operation].append(summary)
    several = len({group for group, _ in groups}) > 1
    look = styles(facets.series_order)
    found = []
    for (group, operation), own in groups.items():
        clients = max(summary.case.clients for summary in own)
        largest = [summary for summary in own if summary.case.clients == clients]
        sizes = sorted({_size(summary) for summary in largest})
        for size in dict.fromkeys((sizes[0], sizes[-1])):
            lines = _lines([summary for summary in largest if _size(summary) == size], facets, look)
            transfer = format_bytes(size) if size else ""
            parts = [group if several else "", operation, transfer, plural(clients, "client")]
            found.append(latency_chart(", ".join(part for part in parts if part), lines, operation))
    return found


def _size(summary: OperationSummary) -> int:
    """The transfer size in bytes, 0 where it is unknown."""
    return summary.case.transfer_bytes or 0


def _lines(
    summaries: Sequence[OperationSummary], facets: Facets, look: Mapping[str, SeriesStyle]
) -> list[Line]:
    """One line for each interface, of its first case."""
    lines: dict[str, Line] = {}
    for summary in summaries:
        series = facets.series[summary.case.number]
        if summary.histogram:
            lines.setdefault(series, Line(series, summary.histogram, look[series]))
    return list(lines.values())
