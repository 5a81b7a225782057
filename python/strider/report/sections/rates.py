"""Rates of reads and writes: groups of cases with their charts and tables.

The number of charts is limited. The most significant charts of all groups come first. The report states which
are omitted; the tables contain all results.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from strider.report.blocks import Block, Chart, Charts, Fold, Section, Text
from strider.report.charts import data_latencies
from strider.report.charts.rates import bar_charts, line_charts, transfer_sizes
from strider.report.charts.sweep_charts import client_charts, heat_maps, node_charts, server_charts
from strider.report.labels.facets import Facets
from strider.report.results.interface_facts import InterfaceFacts
from strider.report.results.results import Results
from strider.report.tables import condensed
from strider.report.tables.data import result_tables, short_table
from strider.report.tables.mixed import mixed_tables
from strider.report.words.latencies import percentile_line
from strider.report.words.trust import trust_line
from strider.report.words.wording import constants_line, plural
from strider.statistics import OperationSummary

#: Maximum number of charts; each takes about 0.1 s and 20 kB.
_MAXIMUM_CHARTS = 120
#: Maximum number of groups that are all open initially; above, only the first is.
_OPEN_GROUPS = 6


@dataclass(frozen=True)
class _Part:
    """A group before it is drawn: `rates` and then `further` make its charts."""

    title: str
    summaries: Sequence[OperationSummary]
    rates: Sequence[Callable[[], list[Chart]]]
    further: Sequence[Callable[[], list[Chart]]]
    latencies: Callable[[], list[Chart]]


def _page(results: Results) -> list[Block]:
    """Returns the groups with their charts; groups with a single transfer size are merged.

    Charts against nodes come last: they compare groups.
    """
    parts = _parts(results)
    groups_open = len(parts) if len(parts) <= _OPEN_GROUPS else 1
    return [
        Fold(
            part.title,
            [
                *([Charts(one.charts)] if one.charts else []),
                *latency_fold(one.latencies),
                *([Text(one.left_out, "caption")] if one.left_out else []),
                *(
                    replace(table, is_open=results.is_small)
                    for table in (
                        *result_tables(part.summaries, results.of_data, results.reference),
                        *mixed_tables(part.summaries, results.of_data),
                    )
                ),
            ],
            position < groups_open,
            _anchor(results, position),
        )
        for position, (part, one) in enumerate(zip(parts, _drawn(parts), strict=True))
        if part.summaries or one.charts or one.left_out
    ]


def places_of(results: Results) -> dict[int, str]:
    """Returns the anchor of the figures and tables of each case."""
    parts = _parts(results)
    of_data = {
        summary.case.number: _anchor(results, position)
        for position, part in enumerate(parts)
        for summary in part.summaries
    }
    return of_data | {one.case.number: f"{results.anchor}-metadata" for one in results.metadata}


def _anchor(results: Results, position: int) -> str:
    return f"{results.anchor}-group-{position + 1}"


def latency_fold(charts: Sequence[Chart]) -> list[Block]:
    """Returns the latency charts, closed."""
    return [Fold(f"Latency distribution: {plural(len(charts), 'chart')}", [Charts(charts)])] if charts else []


def _terminal(results: Results) -> list[Block]:
    """Returns one row for each result, up to 60; above, condensed rows."""
    summaries, facets = results.data, results.of_data
    reference = results.reference
    known = reference if reference and reference.knows(summaries) else None
    tables: list[Block] = (
        condensed.of_data(summaries, facets, known)
        if len(summaries) > condensed.MAXIMUM_ROWS
        else [short_table(summaries, facets, known)]
    )
    remark = [Text(reference.remark, "caption")] if reference and reference.applies(summaries) else []
    captions = [constants_line(facets, summaries), trust_line(summaries), percentile_line(summaries)]
    mixed = [
        block for table in mixed_tables(summaries, facets) for block in (Text(f"{table.caption}:"), table)
    ]
    return [*tables, *mixed, *(Text(line, "caption") for line in captions if line), *remark]


@dataclass
class _Drawn:
    """Returns the charts of a group, and a sentence on omitted charts."""

    charts: list[Chart] = field(default_factory=list)
    latencies: list[Chart] = field(default_factory=list)
    left_out: str = ""


def _drawn(parts: Sequence[_Part]) -> list[_Drawn]:
    """Draws charts of all groups up to the limit: first the rates of each group, then the others."""
    drawn = [_Drawn() for _ in parts]
    left = _MAXIMUM_CHARTS
    for makers, kept, what in (
        ([part.rates for part in parts], [one.charts for one in drawn], "Charts"),
        (
            [part.further for part in parts],
            [one.charts for one in drawn],
            "Charts of rate against clients",
        ),
        ([[part.latencies] for part in parts], [one.latencies for one in drawn], "Charts of latency"),
    ):
        for position, own in enumerate(makers):
            if left <= 0:
                drawn[position].left_out = drawn[position].left_out or (
                    f"{what} are omitted: the report has its maximum of {_MAXIMUM_CHARTS} charts. The "
                    "tables contain these results; reports of smaller runs contain the charts."
                )
                continue
            charts = [chart for make in own for chart in make()]
            kept[position] += charts
            left -= len(charts)
    return drawn


def _parts(results: Results) -> list[_Part]:
    summaries, facets, facts = results.data, results.of_data, results.facts
    reference = results.reference
    by_group: defaultdict[str, list[OperationSummary]] = defaultdict(list)
    for summary in summaries:
        by_group[facets.group[summary.case.number]].append(summary)
    swept = {title: own for title, own in by_group.items() if len(transfer_sizes(own)) > 1}
    single = [summary for title, own in by_group.items() if title not in swept for summary in own]
    parts = [
        _part(
            title,
            own,
            [partial(line_charts, own, facets, reference), partial(heat_maps, own, facets)],
            facets,
            facts,
        )
        for title, own in swept.items()
    ]
    if single:
        title = "Single transfer size" if swept else "By interface"
        parts.append(_part(title, single, [partial(bar_charts, single, facets)], facets, facts))
    charts = [partial(node_charts, summaries)]
    return [*parts, _Part("By nodes", [], [], charts, list)] if _nodes_vary(summaries) else parts


def _nodes_vary(summaries: Sequence[OperationSummary]) -> bool:
    return len({summary.case.common_parameters.get("nodes") for summary in summaries}) > 1


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


SECTION = Section(
    "results",
    "Rates",
    _page,
    _terminal,
    applies=lambda results: bool(results.data),
    link="Rates and tables",
)
