"""Node counters beside the rates: CPU, context switches, interrupts, packets, devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strider.report.results.references import Quantity, Reference
from strider.report.words.caches import format_served
from strider.report.words.numbers import NOTHING, percent, significant
from strider.statistics import CounterSummary, OperationSummary
from strider.statistics.counters import FEWEST_TICKS
from strider.units import MIB

CAPTION = (
    "Node counters (all processes), mean per repetition; CPU and I/O wait in % of all processors (–: "
    f"fewer than {FEWEST_TICKS} clock ticks of 10 ms)"
)

Cell = Callable[[OperationSummary], str]


def columns(
    summaries: Sequence[OperationSummary], reference: Reference | None = None
) -> dict[tuple[str, str], Cell]:
    """Returns heading, unit and text function of each column, without empty columns.

    Args:
        summaries: The results.
        reference: Published counts, which get columns beside the measured ones.
    """
    found: dict[tuple[str, str], Cell] = {
        ("CPU user", "%"): _processor("user_s", "nice_s"),
        ("CPU system", "%"): _processor("system_s", "irq_s", "softirq_s"),
        ("I/O wait", "%"): _processor("iowait_s"),
        ("context switches", ""): _total("kernel", "context_switches"),
        ("context switches", "/s"): _rate("kernel", "context_switches"),
        _per_work(summaries): _per_unit("kernel", "context_switches"),
        ("interrupts", "/s"): _rate("kernel", "interrupts"),
        ("page faults", "/s"): _rate("kernel", "page_faults"),
        ("packets in", ""): _total("network", "received_packets"),
        ("packets out", ""): _total("network", "sent_packets"),
        ("retransmits", ""): _total("tcp", "retransmitted_segments"),
        ("InfiniBand in", "packets"): _total("infiniband", "received_packets"),
        ("InfiniBand out", "packets"): _total("infiniband", "sent_packets"),
        ("disk read", "MiB"): _total("block", "read_bytes", MIB),
        ("disk written", "MiB"): _total("block", "written_bytes", MIB),
    }
    found |= _published(reference) if reference else {}
    shown = {
        heading: cell
        for heading, cell in found.items()
        if any(cell(summary) not in (NOTHING, "", "0", "0.0") for summary in summaries)
    }
    # Shown even if all values are 0.
    is_served = any(summary.served for summary in summaries)
    return shown | ({("from storage", "%"): format_served} if is_served else {})


def _published(reference: Reference) -> dict[tuple[str, str], Cell]:
    def cell(quantity: Quantity) -> Cell:
        def text(summary: OperationSummary) -> str:
            figure = reference.count(summary.case, summary.operation, quantity)
            return NOTHING if figure is None else f"{figure:.0f}"

        return text

    where = f"published: {reference.machine}, {reference.year}"
    return {
        (f"context switches,\n{where}", ""): cell("context_switches"),
        (f"CPU user,\n{where}", "%"): cell("user_percent"),
        (f"CPU system,\n{where}", "%"): cell("system_percent"),
        (f"packets,\n{where}", ""): cell("packets"),
    }


def _per_work(summaries: Sequence[OperationSummary]) -> tuple[str, str]:
    of_metadata = bool(summaries) and all(summary.case.is_metadata for summary in summaries)
    return ("context switches", "/op" if of_metadata else "/MiB")


def _counted(format_one: Callable[[CounterSummary], str]) -> Cell:
    return lambda summary: format_one(summary.counters) if summary.counters else NOTHING


def _processor(*names: str) -> Cell:
    return _counted(lambda counters: percent(counters.processor_share(*names)))


def _total(source: str, name: str, unit: float = 1.0) -> Cell:
    def text(counters: CounterSummary) -> str:
        total = counters.total(source, name)
        return NOTHING if total is None else significant(total / unit) if unit != 1.0 else f"{total:.0f}"

    return _counted(text)


def _rate(source: str, name: str) -> Cell:
    return _counted(lambda counters: significant(counters.per_second(source, name)))


def _per_unit(source: str, name: str) -> Cell:
    """Formats a count per MiB transferred, or per metadata operation."""

    def cell(summary: OperationSummary) -> str:
        total = summary.counters.total(source, name) if summary.counters else None
        if total is None or not summary.n:
            return NOTHING
        mean = sum(summary.amounts) / summary.n
        return significant(total / mean) if mean else NOTHING

    return cell
