"""Processes that work: the clients (ranks), the mounts that work for them, and the servers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from strider.report.words.numbers import NOTHING, significant
from strider.statistics import OperationSummary
from strider.statistics.counters import PROCESSES, SERVERS

CAPTION = (
    "Clients, mounts and servers, mean per repetition: processor time, context switches, and packets of the "
    "servers' TCP connections; a mount works for the clients"
)

Cell = Callable[[OperationSummary], str]


def columns(summaries: Sequence[OperationSummary]) -> dict[tuple[str, str], Cell]:
    """Returns heading, unit and text function of each column; none if no processes were watched."""
    if not any(
        _total(summary, source, "user_s") is not None for summary in summaries for source in PROCESSES
    ):
        return {}
    found: dict[tuple[str, str], Cell] = {
        ("clients: CPU user", "s"): lambda s: significant(s.times.user_s if s.times else None),
        ("clients: CPU system", "s"): lambda s: significant(s.times.system_s if s.times else None),
        ("clients: context switches", ""): _client_switches,
    }
    for source in PROCESSES:
        found[f"{source}: CPU user", "s"] = _cell(source, "user_s")
        found[f"{source}: CPU system", "s"] = _cell(source, "system_s")
        found[f"{source}: context switches", ""] = _cell(source, "voluntary_switches", "involuntary_switches")
    found["packets of all servers", ""] = _cell(SERVERS, "received_packets", "sent_packets")
    found["packets per server", ""] = _per_server
    return found


def _total(summary: OperationSummary, source: str, *names: str) -> float | None:
    """The sum of some counters; None if none was counted."""
    if summary.counters is None:
        return None
    found = [value for name in names if (value := summary.counters.total(source, name)) is not None]
    return sum(found) if found else None


def _cell(source: str, *names: str) -> Cell:
    def text(summary: OperationSummary) -> str:
        total = _total(summary, source, *names)
        if total is None:
            return NOTHING
        return significant(total) if names[0].endswith("_s") else f"{total:.0f}"

    return text


def _client_switches(summary: OperationSummary) -> str:
    counted = [
        sample.voluntary_switches + sample.involuntary_switches
        for sample in summary.samples
        if sample.voluntary_switches is not None and sample.involuntary_switches is not None
    ]
    return f"{fmean(counted):.0f}" if counted else NOTHING


def _per_server(summary: OperationSummary) -> str:
    packets = _total(summary, SERVERS, "received_packets", "sent_packets")
    servers = _total(summary, SERVERS, "instances")
    return NOTHING if packets is None or not servers else f"{packets / servers:.0f}"
