"""Costs of an operation for each MiB: time by place, calls, copies, context switches, packets.

Costs of ranks are those that the kernel counts for their processes, and so are those of mounts and servers
that the run watches. Costs of others are those of the nodes without all of these: other servers, the kernel,
and other programs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from strider.statistics.counters import FEWEST_TICKS, CounterSummary
from strider.statistics.summary import OperationSummary
from strider.store.model import Sample

MIB = 1 << 20
#: Sources of what processes did that take part beside the ranks.
_MOUNTS, _SERVERS = "mounts", "servers"
_TICK_S = 0.01
_BUSY = ("user_s", "nice_s", "system_s", "irq_s", "softirq_s")
_TIMES = ("user_s", "system_s")
_SWITCHES = ("voluntary_switches", "involuntary_switches")
_PACKETS = ("received_packets", "sent_packets")


@dataclass(frozen=True)
class Costs:
    """Costs of an operation of a case for each MiB that it moves; None where they were not counted.

    Attributes:
        time_s: Time of the ranks: elapsed time × ranks.
        user_s: Of it, processor time in user mode.
        system_s: Of it, processor time in the kernel.
        mounts_s: Processor time of the mounts.
        servers_s: Processor time of the servers.
        others_s: Processor time of others.
        calls: Read-like and write-like system calls of the ranks.
        copied: Bytes that these calls moved, and that list I/O copied to pack, ÷ bytes of data.
        switches: Context switches of the ranks.
        mounts_switches: Context switches of the mounts.
        servers_switches: Context switches of the servers.
        others_switches: Context switches of others.
        packets: Packets of the servers' TCP connections, both ways; else packets that the nodes sent, with
            those of loopback.
    """

    summary: OperationSummary
    time_s: float
    user_s: float | None = None
    system_s: float | None = None
    mounts_s: float | None = None
    servers_s: float | None = None
    others_s: float | None = None
    calls: float | None = None
    copied: float | None = None
    switches: float | None = None
    mounts_switches: float | None = None
    servers_switches: float | None = None
    others_switches: float | None = None
    packets: float | None = None

    @property
    def waiting_s(self) -> float | None:
        """Time in which the ranks waited for servers, storage, other ranks or a processor."""
        if self.user_s is None or self.system_s is None:
            return None
        return max(0.0, self.time_s - self.user_s - self.system_s)


def costs_of(summary: OperationSummary, packed_bytes: int | None = None) -> Costs | None:
    """Returns the costs of an operation; None if it moved no data.

    Args:
        summary: An operation of a case of data.
        packed_bytes: Bytes that the first client copied to pack its lists, in one repetition.
    """
    mib = fmean(summary.amounts) if summary.amounts and summary.work_unit == "MiB" else 0.0
    if mib <= 0:
        return None
    user, system = _mean(summary, lambda s: s.user_s), _mean(summary, lambda s: s.system_s)
    switches = _mean(summary, _switches)
    counters = summary.counters
    copied = _mean(summary, _copied)
    if copied is not None and packed_bytes:
        copied += packed_bytes / MIB * summary.case.clients
    watched_s = [_total(counters, source, _TIMES) for source in (_MOUNTS, _SERVERS)]
    watched_switches = [_total(counters, source, _SWITCHES) for source in (_MOUNTS, _SERVERS)]

    def each(total: float | None) -> float | None:
        return None if total is None else total / mib

    return Costs(
        summary,
        time_s=fmean(sample.elapsed_s for sample in summary.samples) * summary.case.clients / mib,
        user_s=each(user),
        system_s=each(system),
        mounts_s=each(_total(counters, _MOUNTS, _TIMES)),
        servers_s=each(_total(counters, _SERVERS, _TIMES)),
        others_s=each(_beyond(_processor_s(counters), [user, system], watched_s)),
        calls=each(_mean(summary, _calls)),
        copied=each(copied),
        switches=each(switches),
        mounts_switches=each(_total(counters, _MOUNTS, _SWITCHES)),
        servers_switches=each(_total(counters, _SERVERS, _SWITCHES)),
        others_switches=each(
            _beyond(_total(counters, "kernel", ["context_switches"]), [switches], watched_switches)
        ),
        packets=each(_packets(counters)),
    )


def _mean(summary: OperationSummary, quantity: Callable[[Sample], float | None]) -> float | None:
    """Returns the mean over the repetitions; None where one of them lacks it."""
    values = [quantity(sample) for sample in summary.samples]
    known = [value for value in values if value is not None and math.isfinite(value)]
    return fmean(known) if known and len(known) == len(values) else None


def _switches(sample: Sample) -> float | None:
    if sample.voluntary_switches is None or sample.involuntary_switches is None:
        return None
    return float(sample.voluntary_switches + sample.involuntary_switches)


def _calls(sample: Sample) -> float | None:
    if sample.read_calls is None or sample.write_calls is None:
        return None
    return float(sample.read_calls + sample.write_calls)


def _copied(sample: Sample) -> float | None:
    """Returns MiB that the calls of the ranks moved."""
    if sample.call_read_bytes is None or sample.call_write_bytes is None:
        return None
    return (sample.call_read_bytes + sample.call_write_bytes) / MIB


def _total(counters: CounterSummary | None, source: str, names: Sequence[str]) -> float | None:
    """Returns the sum of some counters; None if none was counted."""
    if counters is None:
        return None
    found = [value for name in names if (value := counters.total(source, name)) is not None]
    return math.fsum(found) if found else None


def _processor_s(counters: CounterSummary | None) -> float | None:
    """Returns the processor time of the nodes; None if their clocks ticked too rarely to measure it."""
    if counters is None or counters.processor_s[1] < FEWEST_TICKS * _TICK_S:
        return None
    return _total(counters, "cpu", _BUSY)


def _beyond(
    whole: float | None, ranks: Sequence[float | None], watched: Sequence[float | None]
) -> float | None:
    """Returns a count of the nodes minus those of the ranks and the watched processes."""
    if whole is None:
        return None
    own = [part for part in ranks if part is not None]
    if len(own) < len(ranks):
        return None
    return max(0.0, whole - math.fsum(own) - math.fsum(part for part in watched if part is not None))


def _packets(counters: CounterSummary | None) -> float | None:
    of_servers = _total(counters, _SERVERS, _PACKETS)
    if of_servers is not None:
        return of_servers
    found = [_total(counters, source, ["sent_packets"]) for source in ("network", "infiniband")]
    known = [count for count in found if count is not None]
    return math.fsum(known) if known else None
