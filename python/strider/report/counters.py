"""What the nodes counted beside the rates: processors, context switches, interrupts, packets, devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from strider.report import metadata
from strider.report.caches import format_served
from strider.report.facets import Facets
from strider.report.metadata import Column, Row
from strider.report.metadata_table import print_rows
from strider.report.numbers import NOTHING, percent, significant
from strider.report.table import format_transfer
from strider.statistics import CounterSummary, OperationSummary, summarize
from strider.store import load_counters
from strider.store.model import Run
from strider.units import MIB

if TYPE_CHECKING:
    from rich.console import Console

CAPTION = "What the nodes counted, all programs on them, mean of a repetition"

Cell = Callable[[OperationSummary], str]
#: Columns that may go where the terminal is narrow, first to go first.
_OPTIONAL = (
    "disk written MiB",
    "disk read MiB",
    "page faults /s",
    "retransmits",
    "interrupts /s",
    "context switches /s",
    "I/O wait",
)


def render(run: Run, console: Console) -> None:
    """Prints what the nodes counted around each operation."""
    summaries = summarize(run, load_counters(run.directory))
    if not any(summary.counters for summary in summaries):
        console.print(
            "This run has no counters: it was made with --counters none, or by an older Strider.",
            highlight=False,
        )
        return
    for of_metadata in (False, True):
        own = [summary for summary in summaries if summary.case.is_metadata is of_metadata]
        if own:
            facets = Facets.of([summary.case for summary in own])
            labels = metadata.label_columns(own, facets) + ([] if of_metadata else _sizes(own))
            cells = columns(own)
            numbers = [Column(name, unit, _of_row(cell)) for (name, unit), cell in cells.items()]
            print_rows([Row(summary) for summary in _ordered(own)], labels, numbers, _OPTIONAL, console)
    console.print(f"{CAPTION}.", style="dim", highlight=False)


def columns(summaries: Sequence[OperationSummary]) -> dict[tuple[str, str], Cell]:
    """Heading and unit of the columns, and the text of a summary; those that are empty everywhere left out."""
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
        ("from storage", "%"): format_served,
    }
    return {
        heading: cell
        for heading, cell in found.items()
        if any(cell(summary) not in (NOTHING, "", "0") for summary in summaries)
    }


def _per_work(summaries: Sequence[OperationSummary]) -> tuple[str, str]:
    of_metadata = bool(summaries) and all(summary.case.is_metadata for summary in summaries)
    return ("context switches", "/op" if of_metadata else "/MiB")


def _sizes(summaries: Sequence[OperationSummary]) -> list[Column]:
    transfer = Column("transfer", "", lambda row: format_transfer(row.summary.case.transfer_bytes))
    return [transfer] if len({transfer.cell(Row(summary)) for summary in summaries}) > 1 else []


def _ordered(summaries: Sequence[OperationSummary]) -> list[OperationSummary]:
    """Those of one operation together, in the order of the plan."""
    operations = list(dict.fromkeys(summary.operation for summary in summaries))
    return sorted(summaries, key=lambda summary: operations.index(summary.operation))


def _of_row(cell: Cell) -> Callable[[Row], str]:
    return lambda row: cell(row.summary)


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
    """Per MiB moved, or per operation of metadata."""

    def cell(summary: OperationSummary) -> str:
        total = summary.counters.total(source, name) if summary.counters else None
        samples = summary.samples
        if total is None or not samples:
            return NOTHING
        amounts = [s.requests if summary.case.is_metadata else s.bytes / MIB for s in samples]
        mean = sum(amounts) / len(amounts)
        return significant(total / mean) if mean else NOTHING

    return cell
