"""Charts of sweeps other than the transfer size: rate against clients, nodes, servers; heat maps.

Where transfer sizes are swept as well, lines are drawn at a few of them; heat maps show all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from strider.report.blocks import Chart
from strider.report.charts.rates import drawn, points_caption
from strider.report.figures import rate_by_count, rate_heat_map, svg
from strider.report.figures.points import Point, ends_of, point_of
from strider.report.figures.rate_by_count import Counted
from strider.report.figures.rate_heat_map import Cell
from strider.report.figures.style import styles
from strider.report.labels.facets import Facets
from strider.report.results.interface_facts import InterfaceFacts
from strider.report.words.numbers import significant
from strider.report.words.wording import plural
from strider.statistics import OperationSummary
from strider.store.case import Case
from strider.units import format_bytes

#: Fewer numbers are shown by the charts of the other axis.
_MINIMUM_COUNTS = 3
#: Transfer sizes at which rates are drawn against numbers.
_MAXIMUM_TRANSFERS = 3
#: A heat map of fewer fields says less than a table.
_MINIMUM_CELLS = 6

Place = Callable[[OperationSummary], int]


def client_charts(summaries: Sequence[OperationSummary], facets: Facets) -> list[Chart]:
    """Rate against the number of clients, one chart for each operation and for a few transfer sizes."""
    return _count_charts(summaries, facets, "clients", lambda summary: summary.case.clients)


def node_charts(summaries: Sequence[OperationSummary]) -> list[Chart]:
    """Rate against the number of nodes that cases ask for, with as many ranks on each, or in all."""
    own = [summary for summary in drawn(summaries) if _asked(summary.case, "nodes")]
    facets = Facets.of([_without_nodes(summary.case) for summary in own])
    groups = {
        s.case.number: ", ".join(filter(None, [facets.group[s.case.number], _fixed(s.case)])) for s in own
    }
    by_ranks = replace(facets, group=groups)
    return _count_charts(own, by_ranks, "nodes", lambda summary: _asked(summary.case, "nodes"))


def _asked(case: Case, name: str) -> int:
    return int(case.common_parameters.get(name) or 0)


def _fixed(case: Case) -> str:
    """What does not change with the nodes: the ranks of each, or of all."""
    per_node = _asked(case, "per_node")
    return f"{per_node} per node" if per_node else plural(case.clients, "client")


def _without_nodes(case: Case) -> Case:
    return case.model_copy(update={"nodes": 0, "per_node": 0})


def server_charts(summaries: Sequence[OperationSummary], facts: InterfaceFacts) -> list[Chart]:
    """Rate against the number of servers of the list-I/O service, where that was swept."""
    counts = {s.case.number: servers_of(s, facts) for s in summaries}
    own = [summary for summary in drawn(summaries) if counts[summary.case.number]]
    facets = Facets.of([_without_servers(summary.case) for summary in own])
    groups = {
        s.case.number: f"{facets.group[s.case.number]}, {plural(s.case.clients, 'client')}" for s in own
    }
    by_clients = replace(facets, group=groups)
    return _count_charts(own, by_clients, "servers", lambda summary: counts[summary.case.number])


def servers_of(summary: OperationSummary, facts: InterfaceFacts) -> int:
    """Number of servers that the files of a case are spread over; 0 where the run does not record it."""
    chosen = summary.case.interface.get("servers")
    return chosen if isinstance(chosen, int) and chosen else facts.count(summary, "servers") or 0


def _without_servers(case: Case) -> Case:
    interface = {name: value for name, value in case.interface.items() if name != "servers"}
    return case.model_copy(update={"interface": interface})


def _count_charts(
    summaries: Sequence[OperationSummary], facets: Facets, counted: Counted, count_of: Place
) -> list[Chart]:
    points: defaultdict[tuple[str, str, int], list[tuple[int, Point]]] = defaultdict(list)
    for summary in drawn(summaries):
        point = point_of(summary, facets)
        if point is not None:
            key = summary.operation, point.group, point.transfer_bytes or 0
            points[key].append((count_of(summary), point))
    wide = {key: own for key, own in points.items() if len({count for count, _ in own}) >= _MINIMUM_COUNTS}
    chosen = _some(sorted({transfer for _, _, transfer in wide}))
    shown = {key: own for key, own in wide.items() if key[2] in chosen}
    return [_count_chart(key, shown, facets, counted) for key in sorted(shown, key=_in_order(shown))]


def _in_order(
    shown: dict[tuple[str, str, int], list[tuple[int, Point]]],
) -> Callable[[tuple[str, str, int]], tuple[int, int, int]]:
    operations, groups = ([key[part] for key in shown] for part in (0, 1))
    return lambda key: (operations.index(key[0]), groups.index(key[1]), key[2])


def _count_chart(
    key: tuple[str, str, int],
    shown: dict[tuple[str, str, int], list[tuple[int, Point]]],
    facets: Facets,
    counted: Counted,
) -> Chart:
    operation, group, transfer = key
    several = len({other for _, other, _ in shown}) > 1
    what = [operation, group if several else "", format_bytes(transfer) if transfer else ""]
    title = f"{', '.join(part for part in what if part)}: against {counted}"
    placed = sorted(shown[key], key=lambda one: one[0])
    ends = ends_of(point for _, point in placed)
    specification = rate_by_count.figure(placed, counted, styles(facets.series_order), ends)
    description = (
        f"Line chart of rate in MiB/s against the number of {counted}: {title}. A table has its numbers."
    )
    drawing = svg.draw(specification, description)
    caption = points_caption([point for _, point in placed])
    return Chart(title, caption, drawing, "rate", operation)


def _some(sizes: Sequence[int]) -> set[int]:
    """The smallest, the largest and those halfway between."""
    if len(sizes) <= _MAXIMUM_TRANSFERS:
        return set(sizes)
    last = len(sizes) - 1
    return {sizes[round(step * last / (_MAXIMUM_TRANSFERS - 1))] for step in range(_MAXIMUM_TRANSFERS)}


def heat_maps(summaries: Sequence[OperationSummary], facets: Facets) -> list[Chart]:
    """Rate over transfer size and clients, one chart for each operation of one group that swept both."""
    by_operation: defaultdict[str, list[OperationSummary]] = defaultdict(list)
    for summary in drawn(summaries):
        if summary.rate is not None and summary.case.transfer_bytes is not None:
            by_operation[summary.operation].append(summary)
    return [_heat_map(operation, own, facets) for operation, own in by_operation.items() if _is_swept(own)]


def _is_swept(summaries: Sequence[OperationSummary]) -> bool:
    transfers = {summary.case.transfer_bytes for summary in summaries}
    clients = {summary.case.clients for summary in summaries}
    return len(transfers) > 1 and len(clients) > 1 and len(transfers) * len(clients) >= _MINIMUM_CELLS


def _heat_map(operation: str, summaries: Sequence[OperationSummary], facets: Facets) -> Chart:
    order = {name: position for position, name in enumerate(facets.series_order)}
    placed = sorted(summaries, key=lambda summary: order[facets.series[summary.case.number]])
    sizes = sorted({summary.case.transfer_bytes or 0 for summary in summaries})
    cells = [_cell(summary, facets) for summary in placed]
    specification = rate_heat_map.figure(cells, [format_bytes(size) for size in sizes])
    title = f"{operation}: over transfer size and clients"
    description = (
        f"Heat map of the rate in MiB/s: {title}, a block for each interface. A table has its numbers."
    )
    caption = "Rate in MiB/s in each field; the darker, the faster. All interfaces have the same scale."
    return Chart(title, caption, svg.draw(specification, description), "heat map", operation)


def _cell(summary: OperationSummary, facets: Facets) -> Cell:
    case = summary.case
    mean = summary.rate.centre if summary.rate else 0.0
    series, transfer = facets.series[case.number], format_bytes(case.transfer_bytes or 0)
    text = significant(mean) if mean < 10_000 else f"{significant(mean / 1000)}k"
    where = f"{series}, {transfer}, {plural(case.clients, 'client')}"
    label = f"{where}: {significant(mean)} MiB/s (n = {summary.n})"
    return Cell(series, transfer, case.clients, mean, text, label)
