"""Where the time of each operation goes, for interfaces that do the same work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from strider.report.blocks import Block, Charts, Section, Table, Text
from strider.report.charts.costs import Comparison, charts, comparisons, difference
from strider.report.results.results import Results
from strider.report.tables.data import section_starts
from strider.report.words.numbers import TimeUnit, significant, time_unit
from strider.statistics.costs import Costs, costs_of
from strider.units import format_bytes

_WHAT = (
    "Costs for each MiB. The time of the ranks is elapsed time × ranks: processor time in user mode and in "
    "the kernel, and waiting for servers, storage, other ranks or a processor. Mounts and servers are the "
    "processes of the list-I/O service on these nodes; others are all other programs, other servers and "
    "the kernel. Bytes copied: by read and write calls of the ranks, and to pack lists. Packets: of the "
    "TCP connections of these servers, else sent by the nodes."
)
_NONE = "No two interfaces of this run did the same work."
#: Tables with at most this many rows are open initially, and shown whole in a terminal.
_FEW_ROWS = 24

Value = Callable[[Costs], float | None]


def _compared(results: Results) -> list[Comparison]:
    found = [
        costs
        for summary in results.data
        if (costs := costs_of(summary, results.facts.count(summary, "packed_bytes"))) is not None
    ]
    return comparisons(found, results.of_data)


def _page(results: Results) -> list[Block]:
    compared = _compared(results)
    if not compared:
        return []
    drawn = charts(compared)
    table = _table(compared)
    return [
        Text(_WHAT),
        *(Charts([chart], wide=True, label=f"Costs of {chart.operation} by interface") for chart in drawn),
        replace(table, is_open=len(table.rows) <= _FEW_ROWS),
    ]


def _terminal(results: Results) -> list[Block]:
    compared = _compared(results)
    if not compared:
        return [Text(_NONE)]
    table = _table(compared)
    sentences = [f"{one.title}: {difference(one)}" for one in compared[:_FEW_ROWS]]
    return [Text(f"{table.caption}:"), table, Text(_WHAT, "caption"), *map(Text, sentences)]


def _table(compared: Sequence[Comparison]) -> Table:
    every = [costs for one in compared for costs in one.costs.values()]
    unit = time_unit([costs.time_s for costs in every])
    numbers: dict[tuple[str, str], Callable[[Costs], str]] = {
        ("time", unit.name): _time(unit, lambda one: one.time_s),
        ("user", unit.name): _time(unit, lambda one: one.user_s),
        ("system", unit.name): _time(unit, lambda one: one.system_s),
        ("waiting", unit.name): _time(unit, lambda one: one.waiting_s),
        ("mounts", unit.name): _time(unit, lambda one: one.mounts_s),
        ("servers", unit.name): _time(unit, lambda one: one.servers_s),
        ("others", unit.name): _time(unit, lambda one: one.others_s),
        ("calls", ""): lambda one: significant(one.calls),
        ("bytes copied", "÷ bytes"): lambda one: significant(one.copied),
        ("switches", ""): lambda one: significant(one.switches),
        ("switches, mounts", ""): lambda one: significant(one.mounts_switches),
        ("switches, servers", ""): lambda one: significant(one.servers_switches),
        ("switches, others", ""): lambda one: significant(one.others_switches),
        ("packets", ""): lambda one: significant(one.packets),
    }
    rows = [
        [
            one.group,
            "" if one.transfer_bytes is None else format_bytes(one.transfer_bytes),
            str(one.clients),
            one.operation,
            series,
            *(cell(costs) for cell in numbers.values()),
        ]
        for one in compared
        for series, costs in one.costs.items()
    ]
    labels = [(name, "") for name in ("pattern", "transfer", "clients", "operation", "interface")]
    sections = section_starts([tuple(row[:4]) for row in rows])
    table = Table("Costs for each MiB", [*labels, *numbers], rows, len(labels), sections, splits=True)
    varying = [number for number in range(3) if len({row[number] for row in rows}) > 1]
    kept = [*varying, *range(3, len(table.columns))]
    return replace(table.with_columns(kept), labels=len(varying) + 2).without_empty()


def _time(unit: TimeUnit, value: Value) -> Callable[[Costs], str]:
    return lambda one: unit.format(value(one))


SECTION = Section("costs", "Where the time goes", _page, _terminal, option="costs")
