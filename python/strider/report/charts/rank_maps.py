"""The map of ranks: how fast each rank or node was in each operation, beside the median rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from strider.report.blocks import Chart
from strider.report.figures import rank_map, svg
from strider.report.figures.rank_map import Column, Field
from strider.report.labels.facets import Facets
from strider.report.words.numbers import significant
from strider.report.words.wording import plural
from strider.statistics.last_in_phases import last_ranks, stragglers
from strider.statistics.relative_rates import RelativeRate, relative_rates
from strider.statistics.stragglers import SHORT_S, Straggler, node_name
from strider.store.model import Run
from strider.units import format_bytes

#: Up to so many ranks each has a column; more are shown by node, and many nodes by groups of neighbours.
_MAXIMUM_COLUMNS = 128
#: Rows of the map: the operations with the slowest ranks.
_MAXIMUM_ROWS = 30


@dataclass(frozen=True)
class RankMap:
    """The map of a run, and its summary in words; `is_alarming` if a test finds a slow rank."""

    words: str
    is_alarming: bool
    chart: Chart


def rank_map_of(run: Run, facets: Facets) -> RankMap | None:
    """The map of a run; None where all ranks worked alone, or every phase was too short.

    Raises:
        StriderError: The run's events are damaged.
    """
    if not any(sample.clients > 1 and sample.elapsed_s >= SHORT_S for sample in run.samples):
        return None
    ranks = max(case.clients for case in run.cases.values())
    nodes = len(run.start.nodes) if run.start else 1
    by_node = ranks > _MAXIMUM_COLUMNS and nodes > 1
    width = -(-(nodes if by_node else ranks) // _MAXIMUM_COLUMNS)
    found = relative_rates(run, "node" if by_node else "rank", width)
    if not found:
        return None
    slowest: dict[tuple[int, str], float] = {}
    for one in found:
        key = one.case, one.operation
        slowest[key] = min(slowest.get(key, one.relative), one.relative)
    chosen = sorted(slowest, key=lambda key: slowest[key])[:_MAXIMUM_ROWS]
    fields = [
        _field(one, run, facets, by_node, width) for one in found if (one.case, one.operation) in chosen
    ]
    columns: Column = "rank" if not by_node else "node" if width == 1 else "nodes"
    title = f"Rate of each {'node' if by_node else 'rank'} relative to the median"
    description = f"{title}, one row for each operation; darker fields are slower."
    caption = _caption(run, len(slowest) - len(chosen), by_node, width)
    found_slow = stragglers(run, last_ranks(run))
    drawing = svg.draw(rank_map.figure(fields, columns, is_pale=not found_slow), description)
    return RankMap(
        f"{title}: {_words(run, found_slow)}", bool(found_slow), Chart(title, caption, drawing, "map")
    )


def _words(run: Run, found: Sequence[Straggler]) -> str:
    if found:
        slowest = max(found, key=lambda one: one.lateness)
        who = f"all ranks of {slowest.node}" if slowest.rank is None else f"rank {slowest.rank}"
        if slowest.lost is None:  # known only of phases in which it was the last one
            return (
                f"{who} finished last in {slowest.last} of {slowest.n} phases of case {slowest.case.number}"
            )
        return f"{who} took {significant(slowest.lateness, 2)} times as long as the others"
    counted = {(sample.case, sample.repetition) for sample in run.samples if sample.counts}
    if len(counted) == len({case for case, _ in counted}):
        return "one repetition shows no slow rank"
    return "no rank is slower than the others beyond chance"


def _caption(run: Run, left_out: int, by_node: bool, width: int) -> str:
    parts = ["Rate of a rank ÷ rate of the median rank of the phase; median over the repetitions"]
    if by_node:
        parts.append(". A node has the value of its median rank")
    if width > 1:
        parts.append(
            f". A column shows the slowest of {width} neighbouring {'nodes' if by_node else 'ranks'}"
        )
    parts.append(". Phases of less than 0.1 s are excluded. Without a straggler all shades are pale.")
    if left_out:
        parts.append(f" Not shown: {plural(left_out, 'operation')} with smaller differences.")
    return "".join(parts)


def _field(one: RelativeRate, run: Run, facets: Facets, by_node: bool, width: int) -> Field:
    case = run.cases[one.case]
    transfer = f", {format_bytes(case.transfer_bytes)}" if case.transfer_bytes else ""
    row = f"{one.case} {one.operation}, {facets.series[one.case]}{transfer}, {plural(case.clients, 'client')}"
    place = node_name(run, one.place) if by_node else str(one.place)
    who = place if by_node else f"rank {one.slowest_rank} on {node_name(run, one.slowest_node)}"
    if by_node and width > 1:
        who = node_name(run, one.slowest_node)
    label = f"{row}: {who} {significant(one.relative)} × the median"
    return Field(row, one.place, place, one.relative, label)
