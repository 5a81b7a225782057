"""The parts of a report on reads and writes: groups of cases with their charts and tables.

A large run has more charts than anybody looks at. They are drawn up to a number, the most telling ones of all
groups first; what is left out is said, and the tables have it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from strider.report import data_latencies
from strider.report.charts import Chart, bar_charts, line_charts, transfer_sizes
from strider.report.facets import Facets
from strider.report.interface_facts import InterfaceFacts
from strider.report.references import Reference
from strider.report.sweep_charts import client_charts, heat_maps, server_charts
from strider.report.tables import HtmlTable, result_tables
from strider.statistics import OperationSummary

#: Charts of all groups; each takes about a tenth of a second and 20 kB.
_MAXIMUM_CHARTS = 120


@dataclass(frozen=True)
class Group:
    """Cases that differ in interface, transfer size and clients alone: their charts and tables.

    Attributes:
        charts: Rates.
        latencies: How latencies are distributed.
        left_out: What is not drawn, in a sentence; empty where all is.
    """

    title: str
    anchor: str
    charts: Sequence[Chart]
    latencies: Sequence[Chart]
    tables: Sequence[HtmlTable]
    left_out: str = ""


@dataclass(frozen=True)
class _Part:
    """A group before it is drawn: `rates` and then `further` make its charts."""

    title: str
    summaries: Sequence[OperationSummary]
    rates: Sequence[Callable[[], list[Chart]]]
    further: Sequence[Callable[[], list[Chart]]]
    latencies: Callable[[], list[Chart]]


def groups_of(
    summaries: Sequence[OperationSummary],
    facets: Facets,
    facts: InterfaceFacts,
    anchor: str,
    reference: Reference | None,
) -> list[Group]:
    """The groups with their charts; all those with one transfer size are one group."""
    parts = _parts(summaries, facets, facts)
    charts: list[list[Chart]] = [[] for _ in parts]
    latencies: list[list[Chart]] = [[] for _ in parts]
    left_out: list[str] = ["" for _ in parts]
    left = _MAXIMUM_CHARTS
    # By round, so that each group has its rates before any has more.
    for makers, kept, what in (
        ([part.rates for part in parts], charts, "Charts"),
        ([part.further for part in parts], charts, "Charts of rate against clients"),
        ([[part.latencies] for part in parts], latencies, "Charts of latency"),
    ):
        for position, own in enumerate(makers):
            if left <= 0:
                left_out[position] = left_out[position] or (
                    f"{what} are left out here, as this report has {_MAXIMUM_CHARTS} already: the tables "
                    "have the numbers, and a report of a smaller run the charts."
                )
                continue
            drawn = [chart for make in own for chart in make()]
            kept[position] += drawn
            left -= len(drawn)
    return [
        Group(
            part.title,
            f"{anchor}-group-{position + 1}",
            charts[position],
            latencies[position],
            result_tables(part.summaries, facets, reference),
            left_out[position],
        )
        for position, part in enumerate(parts)
    ]


def _parts(summaries: Sequence[OperationSummary], facets: Facets, facts: InterfaceFacts) -> list[_Part]:
    by_group: defaultdict[str, list[OperationSummary]] = defaultdict(list)
    for summary in summaries:
        by_group[facets.group[summary.case.number]].append(summary)
    swept = {title: own for title, own in by_group.items() if len(transfer_sizes(own)) > 1}
    single = [summary for title, own in by_group.items() if title not in swept for summary in own]
    parts = [
        _part(title, own, [partial(line_charts, own, facets), partial(heat_maps, own, facets)], facets, facts)
        for title, own in swept.items()
    ]
    if single:
        title = "At one transfer size" if swept else "By interface"
        parts.append(_part(title, single, [partial(bar_charts, single, facets)], facets, facts))
    return parts


def _part(
    title: str,
    summaries: Sequence[OperationSummary],
    rates: Sequence[Callable[[], list[Chart]]],
    facets: Facets,
    facts: InterfaceFacts,
) -> _Part:
    return _Part(
        title,
        summaries,
        rates,
        [partial(client_charts, summaries, facets), partial(server_charts, summaries, facts)],
        partial(data_latencies.charts, summaries, facets),
    )
