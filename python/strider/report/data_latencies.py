"""How the latencies of reads and writes are distributed: charts of latency against percentile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from strider.report.charts import Chart, drawn
from strider.report.facets import Facets
from strider.report.figures.latency_percentiles import Line
from strider.report.figures.style import styles
from strider.report.metadata_charts import latency_chart
from strider.report.wording import plural
from strider.statistics import OperationSummary
from strider.units import format_bytes

#: Group, operation, transfer size in bytes (0: unknown).
_Key = tuple[str, str, int]


def charts(summaries: Sequence[OperationSummary], facets: Facets) -> list[Chart]:
    """A chart for each group, operation and transfer size, with a line for each interface.

    They are of the largest number of clients, where requests meet most others, and of the smallest and the
    largest transfer size: the table has percentiles of all.
    """
    told = [s for s in drawn(summaries) if s.histogram and s.histogram.count]
    if not told:
        return []
    clients = max(summary.case.clients for summary in told)
    sizes = sorted({summary.case.transfer_bytes or 0 for summary in told})
    look = styles(facets.series_order)
    lines: defaultdict[_Key, list[Line]] = defaultdict(list)
    for summary in told:
        size, series = summary.case.transfer_bytes or 0, facets.series[summary.case.number]
        if summary.case.clients == clients and size in (sizes[0], sizes[-1]) and summary.histogram:
            own = lines[facets.group[summary.case.number], summary.operation, size]
            if series not in {line.name for line in own}:
                own.append(Line(series, summary.histogram, look[series]))
    several = len({group for group, _, _ in lines}) > 1
    return [_chart(key, own, clients, several) for key, own in lines.items()]


def _chart(key: _Key, lines: Sequence[Line], clients: int, several_groups: bool) -> Chart:
    group, operation, size = key
    transfer = format_bytes(size) if size else ""
    parts = [group if several_groups else "", operation, transfer, plural(clients, "client")]
    return latency_chart(", ".join(part for part in parts if part), lines, operation)
