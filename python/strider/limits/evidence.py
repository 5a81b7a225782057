"""Measurements of one operation of one case, for the rules."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean

from strider.statistics import OperationSummary
from strider.statistics.ceilings import MEMORY_COPY, NULL_REQUESTS, Ceilings
from strider.statistics.counters import summarize_counters
from strider.statistics.exceeding import is_in_memory, is_networked, is_through_target
from strider.statistics.rule import FEWEST_REPETITIONS
from strider.statistics.trust import Trust, is_trusted
from strider.store.model import NodeCounters, Sample
from strider.units import MIB

#: From this share of the bytes on, those of a result went over the nodes' networks.
_LEFT_THE_NODE = 0.5


@dataclass(frozen=True)
class Evidence:
    """One operation of one case, with the machine's ceilings. An unknown value is None.

    Attributes:
        summary: The operation; it has at least one sample that counts.
        ceilings: Those of the run.
        file_system: Type of the target's file system; empty where unknown.
        nodes_counted: Counters of the nodes around the operation.
        transport: Of list I/O, the transport of the bytes; empty if unknown.
    """

    summary: OperationSummary
    ceilings: Ceilings
    file_system: str
    nodes_counted: Sequence[NodeCounters] = field(default=(), repr=False)
    transport: str = ""

    @cached_property
    def repetitions(self) -> list[Evidence]:
        """The same of each repetition alone."""
        return [
            replace(
                self,
                summary=replace(
                    self.summary,
                    samples=[sample],
                    counters=summarize_counters([sample], self.nodes_counted),
                ),
            )
            for sample in self.samples
        ]

    def may_be_judged(self, despite: Collection[str] = ()) -> bool:
        """Whether a sentence may rest on the result: grade B or better, and three repetitions.

        Args:
            despite: Reasons for a lower grade that do not matter to the sentence.
        """
        trust = self.trust
        enough = len(self.samples) >= FEWEST_REPETITIONS
        return enough and trust is not None and is_trusted(trust.apart_from(despite))

    @property
    def trust(self) -> Trust | None:
        """Grade of the result; None of the interface `null`."""
        return self.summary.trust

    @property
    def is_over_tcp(self) -> bool:
        """Whether the bytes of the result leave the nodes over TCP, as far as is known."""
        if self.interface == "null":
            return False
        if self.interface == "listio" or self.transport:
            carried = self.transport == "tcp"
        else:
            carried = is_networked(self.file_system) or not is_through_target(self.summary.case)
        moved = fmean(sample.bytes for sample in self.samples)
        outside = [self.counted("outside", name) for name in ("received_bytes", "sent_bytes")]
        known = [value for value in outside if value is not None]
        return carried and bool(known) and max(known) >= _LEFT_THE_NODE * moved

    @property
    def in_flight(self) -> float | None:
        """Requests at a time at the busiest device while it had work; of all clients where nothing counted.

        Time that requests spent at the device ÷ time that it was busy (Little's law).
        """
        busy_s = self.counted("block", "busy_s")
        spent_s = [self.counted("block", name) for name in ("read_s", "write_s")]
        known = [value for value in spent_s if value is not None]
        if busy_s and known:
            return sum(known) / busy_s
        depth = self.summary.case.common_parameters.get("depth") or 1
        return float(depth) * self.clients

    @property
    def interface(self) -> str:
        """Name of the interface."""
        return self.summary.case.interface_name

    @property
    def clients(self) -> int:
        """Ranks that worked."""
        return self.summary.case.clients

    @property
    def nodes(self) -> int:
        """Nodes on which they ran."""
        return max(sample.nodes for sample in self.summary.samples)

    @property
    def in_memory(self) -> bool:
        """Whether the bytes go to a file system in memory."""
        return is_in_memory(self.file_system) and is_through_target(self.summary.case)

    def mean(self, name: str) -> float | None:
        """Mean of a field of the samples over the repetitions in which it is known."""
        values = [
            float(value) for value in (getattr(sample, name) for sample in self.samples) if value is not None
        ]
        finite = [value for value in values if math.isfinite(value)]
        return fmean(finite) if finite else None

    @property
    def samples(self) -> list[Sample]:
        """Those that count."""
        return list(self.summary.samples)

    @property
    def rate_mib_s(self) -> float | None:
        """Rate in MiB/s, the geometric mean of the repetitions; None for metadata."""
        if self.summary.rate_unit != "MiB/s":
            return None
        rates = [sample.rate_mib_s for sample in self.samples]
        known = [rate for rate in rates if math.isfinite(rate) and rate > 0]
        return math.exp(fmean(map(math.log, known))) if known and len(known) == len(rates) else None

    @property
    def requests_s(self) -> float | None:
        """Mean of the requests per second."""
        return self.mean("requests_s")

    def share_of_time(self, *names: str) -> float | None:
        """Share of the elapsed time, 0 to 1, that fields of times in seconds come to together."""
        elapsed_s = self.mean("elapsed_s")
        parts = [self.mean(name) for name in names]
        known = [part for part in parts if part is not None]
        return min(1.0, sum(known) / elapsed_s) if elapsed_s and known else None

    def share_of_ranks(self, *names: str) -> float | None:
        """Share of the time of all ranks together, 0 to 1, that fields summed over the ranks come to.

        Threads of a rank add up, so that processor time may come to more than what passed.
        """
        elapsed_s = self.mean("elapsed_s")
        known = [part for part in map(self.mean, names) if part is not None]
        return min(1.0, sum(known) / (elapsed_s * self.clients)) if elapsed_s and known else None

    @property
    def share_of_memory(self) -> float | None:
        """Rate ÷ memory copy by as many ranks."""
        return ratio(self.rate_mib_s, self.ceilings.of_clients(MEMORY_COPY, self.clients, self.nodes))

    @property
    def share_of_requests(self) -> float | None:
        """Requests per second ÷ those of the interface that moves nothing."""
        return ratio(self.requests_s, self.ceilings.of_clients(NULL_REQUESTS, self.clients, self.nodes))

    @property
    def direction(self) -> str | None:
        """`read` or `write`; None for both, and for metadata."""
        operation = self.summary.operation
        if self.summary.case.is_metadata or operation in ("read-modify-write", "read-write"):
            return None
        return "read" if "read" in operation else "write"

    def share_of_storage(self, kind: str) -> float | None:
        """Rate ÷ that of the sequential stream of each node; `kind` is `device` or `target`.

        None for what does not go through the target's directory.
        """
        if self.direction is None or not is_through_target(self.summary.case):
            return None
        return ratio(self.rate_mib_s, self.ceilings.of_nodes(f"{kind}_{self.direction}", self.nodes))

    def counted(self, source: str, name: str) -> float | None:
        """Node counters, mean per repetition."""
        return self.summary.counters.total(source, name) if self.summary.counters else None

    def counted_per_second(self, source: str, name: str) -> float | None:
        """The same per second."""
        return self.summary.counters.per_second(source, name) if self.summary.counters else None

    @property
    def outside_mib_s(self) -> float | None:
        """What came from other machines or went to them, the larger way, MiB per second."""
        found = [self.counted_per_second("outside", name) for name in ("received_bytes", "sent_bytes")]
        known = [value for value in found if value is not None]
        return max(known) / MIB if known else None

    def processors(self, *names: str) -> float | None:
        """Share of the nodes' processor time that was spent so."""
        return self.summary.counters.processor_share(*names) if self.summary.counters else None


def ratio(part: float | None, whole: float | None) -> float | None:
    """A share; None where one of the two is not known or is 0."""
    if part is None or not whole or not math.isfinite(part):
        return None
    return part / whole
