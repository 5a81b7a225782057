"""Node counters during an operation of a case."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strider.store.model import CounterGroup, NodeCounters, Sample

#: Processor time comes in ticks of 1/100 s; shares of fewer than this many say nothing.
FEWEST_TICKS, _TICK_S = 20, 0.01
_PROCESS = "process"
MOUNTS, SERVERS = "mounts", "servers"
PROCESSES = (MOUNTS, SERVERS)
"""Sources of what processes did that take part beside the ranks: their kinds."""
_PROCESSOR = ("user_s", "nice_s", "system_s", "idle_s", "iowait_s", "irq_s", "softirq_s", "steal_s")


def by_operation(counters: Sequence[NodeCounters]) -> defaultdict[tuple[int, str], list[NodeCounters]]:
    """What nodes counted, by number of the case and operation."""
    found: defaultdict[tuple[int, str], list[NodeCounters]] = defaultdict(list)
    for node in counters:
        found[node.case, node.operation].append(node)
    return found


@dataclass(frozen=True)
class CounterSummary:
    """Means over the repetitions that count, summed over nodes and, but for `block`, instances.

    Attributes:
        elapsed_s: Time between two readings, the longest of any node.
        nodes: Nodes that counted.
        totals: By source and name. Of `block` the busiest device of each node: devices may be stacked. The
            source `outside` has what went over networks, but for loopback; `mounts` and `servers` have what
            these processes did, with their number as `instances`.
        memory_bytes: Memory of all nodes.
    """

    elapsed_s: float
    nodes: int
    totals: Mapping[tuple[str, str], float]
    memory_bytes: float

    def total(self, source: str, name: str) -> float | None:
        """Mean of a repetition; None where nothing of that kind was counted."""
        return self.totals.get((source, name))

    def per_second(self, source: str, name: str) -> float | None:
        """The same per second, of all nodes together."""
        total = self.total(source, name)
        return total / self.elapsed_s if total is not None and self.elapsed_s > 0 else None

    @property
    def processor_s(self) -> tuple[float, float]:
        """Processor time of the nodes, and the part of it in which a processor ran something, in seconds."""
        whole = self._processor_s(_PROCESSOR)
        return whole, whole - self._processor_s(("idle_s", "iowait_s"))

    def processor_share(self, *names: str) -> float | None:
        """Share of the processors' time, 0 to 1, as vmstat gives it in percent: of the times named.

        None where the clocks ticked less than `FEWEST_TICKS` times: a tick is the least that is counted.
        """
        whole, _ = self.processor_s
        if whole < FEWEST_TICKS * _TICK_S:
            return None
        return self._processor_s(names) / whole

    def _processor_s(self, names: Sequence[str]) -> float:
        return sum(self.total("cpu", name) or 0.0 for name in names)


def summarize_counters(samples: Sequence[Sample], counters: Sequence[NodeCounters]) -> CounterSummary | None:
    """What nodes counted around some samples; None where they did not.

    Args:
        samples: Those of one operation of one case that count.
        counters: What nodes counted around this operation, also around samples that do not count.
    """
    wanted = {sample.repetition for sample in samples}
    by_repetition: defaultdict[int, list[NodeCounters]] = defaultdict(list)
    for node in counters:
        if node.repetition in wanted:
            by_repetition[node.repetition].append(node)
    if not by_repetition:
        return None
    repetitions = [_total(nodes) for nodes in by_repetition.values()]
    names = dict.fromkeys(name for totals in repetitions for name in totals)
    count = len(repetitions)
    first = next(iter(by_repetition.values()))
    return CounterSummary(
        elapsed_s=math.fsum(max(node.elapsed_s for node in nodes) for nodes in by_repetition.values())
        / count,
        nodes=sum(node.nodes for node in first),
        totals={name: math.fsum(totals.get(name, 0.0) for totals in repetitions) / count for name in names},
        memory_bytes=_total(first).get(("memory", "total_bytes"), 0.0),
    )


def _total(nodes: Sequence[NodeCounters]) -> dict[tuple[str, str], float]:
    totals: defaultdict[tuple[str, str], float] = defaultdict(float)
    for node in nodes:
        groups = node.counters
        for group in [*_whole(groups), *_busiest(groups), *_outside(groups), *_processes(groups)]:
            for name, value in group.values.items():
                totals[group.source, name] += value
    return totals


def _whole(groups: Sequence[CounterGroup]) -> list[CounterGroup]:
    """All but block devices and processes; of Lustre, accesses to storage, not requests."""
    apart = ("block", _PROCESS)
    return [group for group in groups if group.source not in apart and not group.instance.endswith("/llite")]


def _processes(groups: Sequence[CounterGroup]) -> list[CounterGroup]:
    """What processes did, by their kind, which the name of each begins with."""
    return [
        CounterGroup(source=kind, values={**group.values, "instances": 1.0})
        for group in groups
        for kind in PROCESSES
        if group.source == _PROCESS and group.instance.startswith(kind[:-1])
    ]


def _outside(groups: Sequence[CounterGroup]) -> list[CounterGroup]:
    """What went over networks other than the node's own loopback, under a source of its own."""
    leading_out = [
        group
        for group in groups
        if group.source == "infiniband" or (group.source == "network" and group.instance != "lo")
    ]
    names = ("received_bytes", "sent_bytes")
    moved = {name: sum(group.values.get(name, 0.0) for group in leading_out) for name in names}
    return [CounterGroup(source="outside", values=moved)] if leading_out else []


def _busiest(groups: Sequence[CounterGroup]) -> list[CounterGroup]:
    devices = [group for group in groups if group.source == "block"]
    moved = ("read_bytes", "written_bytes")
    return (
        [max(devices, key=lambda group: sum(group.values.get(name, 0.0) for name in moved))]
        if devices
        else []
    )
