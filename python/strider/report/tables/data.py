"""Tables of reads and writes: short for a terminal, complete for a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strider.report.blocks import Table
from strider.report.labels.facets import Facets
from strider.report.results.references import Reference
from strider.report.tables import calls, counters, placement, processes
from strider.report.tables.thinking import overlap_cell
from strider.report.words.latencies import percentile_interval
from strider.report.words.numbers import NOTHING, TimeUnit, percent, significant, time_unit
from strider.report.words.trust import trust_cell, trust_letter
from strider.report.words.wording import notes
from strider.statistics import DigestComparison, OperationSummary, ValueComparison, overlaps
from strider.units import format_bytes, format_bytes_rounded, format_seconds

Cell = Callable[[OperationSummary], str]
Columns = dict[tuple[str, str], Cell]
"""Heading and unit of each column, and the text of a summary."""

#: Columns omitted in a narrow terminal, first to omit first.
_OPTIONAL = ("first\ndone", "median", "max", "min", "p50", "IOPS", "p99", "requests")
_FOLDING = {"pattern": 38, "notes": 26}


def result_tables(
    summaries: Sequence[OperationSummary], facets: Facets, reference: Reference | None = None
) -> list[Table]:
    """Returns the tables of some summaries: rates, calls, latencies, times, counters, times.

    Published figures are shown beside the rates, if there are any.
    """
    ordered = _ordered(summaries, facets)
    caption, rates = _rates(ordered)
    contents = [
        (caption, _with_reference(rates, ordered, reference)),
        *(make(ordered) for make in (_calls, _latencies, _times)),
        _counters(ordered, reference),
        (processes.CAPTION, processes.columns(ordered)),
        _deadlines(ordered),
        _runtimes(ordered),
    ]
    tables = [_table(caption, columns, ordered, facets) for caption, columns in contents]
    return [table for table in tables if len(table.without_empty().columns) > table.labels]


def short_table(
    summaries: Sequence[OperationSummary], facets: Facets, reference: Reference | None = None
) -> Table:
    """Returns a table with the main values of each summary, without constant columns."""
    ordered = _ordered(summaries, facets)
    labels: Columns = {
        ("interface", ""): lambda s: facets.series[s.case.number],
        ("pattern", ""): lambda s: facets.group[s.case.number],
        ("transfer", ""): format_transfer,
        ("clients", ""): lambda s: str(s.case.clients),
        **_placement_columns(ordered),
        ("operation", ""): lambda s: s.operation,
    }
    kept = {
        head: cell
        for head, cell in labels.items()
        if head[0] in ("interface", "operation") or len(set(map(cell, ordered))) > 1
    }
    every = kept | _short_columns(ordered, reference)
    keys = [[labels[name, ""](s) for name in ("pattern", "operation", "clients")] for s in ordered]
    return Table(
        "Results",
        list(every),
        [[cell(summary) for cell in every.values()] for summary in ordered],
        len(kept),
        section_starts(keys),
        bad=frozenset(row for row, s in enumerate(ordered) if s.voided or s.errors),
        optional=_OPTIONAL,
        folding=_FOLDING,
    )


def _short_columns(summaries: Sequence[OperationSummary], reference: Reference | None) -> Columns:
    _, rates = _rates(summaries)
    _, latencies = _latencies(summaries)
    found = overlaps(summaries)
    columns: Columns = {
        ("rate ± 95 %", "MiB/s"): _rate,
        ("IOPS", ""): _iops,
        ("median", "MiB/s"): rates["median", "MiB/s"],
        **(_published(reference, "published", f"{reference.year}, MB/s") if reference else {}),
        ("min", "MiB/s"): rates["min", "MiB/s"],
        ("max", "MiB/s"): rates["max", "MiB/s"],
        ("first\ndone", ""): rates["first done, median", "MiB/s"],
        **{head: cell for head, cell in latencies.items() if head[0] in ("p50", "p99")},
        **(_CALL_COLUMNS if calls.differ(summaries) else {}),
        **({("overlap", "%"): overlap_cell(found)} if found else {}),
        ("trust", ""): trust_letter,
        **{head: cell for head, cell in rates.items() if head == ("notes", "")},
    }
    if all(summary.n <= 1 for summary in summaries):
        for name in ("median", "min", "max"):  # repeats the rate
            del columns[name, "MiB/s"]
    return columns


_CALL_COLUMNS: Columns = {
    ("requests", ""): calls.count_cell("requests"),
    ("read\ncalls", ""): calls.count_cell("read_calls"),
    ("write\ncalls", ""): calls.count_cell("write_calls"),
}


def _rate(summary: OperationSummary) -> str:
    """Formats a rate and how far its interval reaches: 1234 ± 5 %."""
    if summary.rate is None:
        return NOTHING
    half_width = summary.rate.half_width
    spread = f" ± {percent(half_width)} %" if half_width is not None else ""
    return significant(summary.rate.centre) + spread


def _iops(summary: OperationSummary) -> str:
    """Formats the requests per second."""
    return significant(summary.iops)


def format_transfer(summary: OperationSummary) -> str:
    """Formats the transfer size of a case."""
    size = summary.case.transfer_bytes
    return NOTHING if size is None else format_bytes(size)


def section_starts(keys: Sequence[object]) -> frozenset[int]:
    """Returns the rows whose key differs from that of the row before."""
    return frozenset(row for row in range(1, len(keys)) if keys[row] != keys[row - 1])


def _ordered(summaries: Sequence[OperationSummary], facets: Facets) -> list[OperationSummary]:
    """Sorts by group, operation, clients, transfer size and interface, so that interfaces are adjacent."""
    groups = list(dict.fromkeys(facets.group.values()))
    operations = list(dict.fromkeys(summary.operation for summary in summaries))
    series = facets.series_order

    def position(summary: OperationSummary) -> tuple[int, ...]:
        case = summary.case
        return (
            groups.index(facets.group[case.number]),
            operations.index(summary.operation),
            case.clients,
            case.transfer_bytes or 0,
            series.index(facets.series[case.number]),
        )

    return sorted(summaries, key=position)


def _table(caption: str, columns: Columns, summaries: Sequence[OperationSummary], facets: Facets) -> Table:
    several = len({facets.group[summary.case.number] for summary in summaries}) > 1
    pattern: Columns = {("pattern", ""): lambda s: facets.group[s.case.number]} if several else {}
    labels: Columns = {
        **pattern,
        ("operation", ""): lambda s: s.operation,
        ("clients", ""): lambda s: str(s.case.clients),
        **_placement_columns(summaries),
        ("transfer", ""): format_transfer,
        ("interface", ""): lambda s: facets.series[s.case.number],
    }
    every = labels | columns
    rows = [[cell(summary) for cell in every.values()] for summary in summaries]
    sections = section_starts([row[: len(labels) - 2] for row in rows])
    return Table(caption, list(every), rows, len(labels), sections)


def _placement_columns(summaries: Sequence[OperationSummary]) -> Columns:
    return {(name, ""): cell for name, cell in placement.columns(summaries).items()}


def _rates(summaries: Sequence[OperationSummary]) -> tuple[str, Columns]:
    def of_rate(quantity: str) -> Cell:
        return lambda s: significant(getattr(s.rate, quantity, None))

    def interval(summary: OperationSummary) -> str:
        found = summary.rate.interval if summary.rate else None
        return f"{significant(found.low)} – {significant(found.high)}" if found else NOTHING

    columns: Columns = {
        ("n", ""): lambda s: str(s.n),
        ("trust", ""): trust_cell,
        ("notes", ""): lambda s: "; ".join(notes(s)),
        ("rate", "MiB/s"): of_rate("centre"),
        ("IOPS", ""): _iops,
        ("95 % interval", "MiB/s"): interval,
        ("median", "MiB/s"): of_rate("median"),
        ("mean", "MiB/s"): of_rate("mean"),
        ("min", "MiB/s"): of_rate("minimum"),
        ("max", "MiB/s"): of_rate("maximum"),
        ("std. dev.", "MiB/s"): of_rate("deviation"),
        ("CV", "%"): lambda s: percent(s.rate.variation if s.rate else None),
        ("total rate", "MiB/s"): lambda s: significant(s.total_rate),
        ("first done, median", "MiB/s"): lambda s: significant(s.first_done.median if s.first_done else None),
        ("slowest … fastest rank", "MiB/s"): _rank_spread,
    }
    if not any(notes(summary) for summary in summaries):
        del columns["notes", ""]
    if all(summary.case.clients == 1 for summary in summaries):
        del columns["slowest … fastest rank", "MiB/s"]
    return "Rates", columns


def _with_reference(
    columns: Columns,
    summaries: Sequence[OperationSummary],
    reference: Reference | None,
) -> Columns:
    """Inserts the published figures, and the rate in their unit, after the rate."""
    if reference is None or not reference.knows(summaries):
        return columns
    further = _published(reference, f"published: {reference.machine}, {reference.year}", "MB/s")
    names = list(columns)
    position = names.index(("rate", "MiB/s")) + 1
    return {
        **{name: columns[name] for name in names[:position]},
        **further,
        **{name: columns[name] for name in names[position:]},
    }


def _published(reference: Reference, name: str, unit: str) -> Columns:
    """Returns the columns of published figures and of the rate in their unit."""
    return {
        ("rate", "MB/s"): lambda s: significant(reference.comparable_mb_s(s)),
        (name, unit): lambda s: significant(reference.figure_mb_s(s.case, s.operation)),
    }


def _rank_spread(summary: OperationSummary) -> str:
    ranks = summary.ranks
    if ranks is None or summary.case.clients == 1:
        return NOTHING
    return f"{significant(ranks.slowest)} (rank {ranks.slowest_rank}) … {significant(ranks.fastest)}"


def _latencies(summaries: Sequence[OperationSummary]) -> tuple[str, Columns]:
    unit = time_unit([summary.latency.p50_s for summary in summaries if summary.latency])

    def of_latency(quantity: str) -> Cell:
        return lambda s: unit.format(getattr(s.latency, quantity, None))

    columns: Columns = {
        ("requests", ""): lambda s: str(s.latency.count) if s.latency else NOTHING,
        ("min", unit.name): of_latency("minimum_s"),
        ("mean", unit.name): of_latency("mean_s"),
        ("p50", unit.name): of_latency("p50_s"),
        ("p50, 95 % interval", unit.name): lambda s: percentile_interval(s.latency, "p50", unit),
        ("p90", unit.name): of_latency("p90_s"),
        ("p99", unit.name): of_latency("p99_s"),
        ("p99, 95 % interval", unit.name): lambda s: percentile_interval(s.latency, "p99", unit),
        ("p99.9", unit.name): of_latency("p999_s"),
        ("max", unit.name): of_latency("maximum_s"),
    }
    return "Latency of requests, over all ranks and repetitions", columns


def _calls(summaries: Sequence[OperationSummary]) -> tuple[str, Columns]:
    unit = time_unit([summary.times.elapsed_s for summary in summaries if summary.times])
    columns: Columns = {
        ("elapsed", unit.name): lambda s: unit.format(s.times.elapsed_s if s.times else None),
        ("requests", ""): calls.count_cell("requests"),
        ("read calls", ""): calls.count_cell("read_calls"),
        ("write calls", ""): calls.count_cell("write_calls"),
        ("calls per request", ""): calls.per_request,
    }
    shown = columns if calls.differ(summaries) else {}
    return "Requests and file system calls, mean per repetition", shown


def _times(summaries: Sequence[OperationSummary]) -> tuple[str, Columns]:
    unit = time_unit([summary.times.elapsed_s for summary in summaries if summary.times])

    def of_times(quantity: str, shown: TimeUnit = unit) -> Cell:
        return lambda s: shown.format(getattr(s.times, quantity, None))

    columns: Columns = {
        ("elapsed", unit.name): of_times("elapsed_s"),
        ("open", unit.name): of_times("open_s"),
        ("transfer", unit.name): of_times("transfer_s"),
        ("sync", unit.name): of_times("sync_s"),
        ("close", unit.name): of_times("close_s"),
        ("sync share", "%"): lambda s: percent(s.times.sync_share if s.times else None),
        ("data generation, verification", unit.name): of_times("prepare_s"),
        **_thinking(summaries, unit),
        ("CPU user", unit.name): of_times("user_s"),
        ("CPU system", unit.name): of_times("system_s"),
        ("bytes", ""): lambda s: format_bytes_rounded(s.samples[0].bytes) if s.samples else NOTHING,
    }
    return "Time breakdown, mean per repetition", columns


def _counters(summaries: Sequence[OperationSummary], reference: Reference | None) -> tuple[str, Columns]:
    found = counters.columns(summaries, reference) if any(s.counters for s in summaries) else {}
    return counters.CAPTION, found


def _thinking(summaries: Sequence[OperationSummary], unit: TimeUnit) -> Columns:
    """Returns the columns of think time and its overlap with transfers; empty without think time."""
    if not any(summary.times and summary.times.compute_s > 0 for summary in summaries):
        return {}
    found = overlaps(summaries)
    columns: Columns = {
        ("think", unit.name): lambda s: unit.format(s.times.compute_s if s.times else None),
    }
    if found:
        columns["overlap", "%"] = overlap_cell(found)
    return columns


def _deadlines(summaries: Sequence[OperationSummary]) -> tuple[str, Columns]:
    def of_deadline(format_one: Callable[[float], str], quantity: str) -> Cell:
        return lambda s: format_one(getattr(s.deadline, quantity)) if s.deadline else NOTHING

    columns: Columns = {
        ("deadline", ""): of_deadline(format_seconds, "deadline_s"),
        ("rate at the deadline", "MiB/s"): of_deadline(significant, "rate"),
        ("transferred until then", ""): of_deadline(format_bytes_rounded, "bytes"),
        ("wear-out", "s"): of_deadline(significant, "wear_out_s"),
        ("requests of the slowest rank", ""): of_deadline(
            lambda value: str(int(value)), "requests_per_rank_min"
        ),
        ("requests of the fastest rank", ""): of_deadline(
            lambda value: str(int(value)), "requests_per_rank_max"
        ),
    }
    return "At the deadline (stonewall)", columns


def _runtimes(summaries: Sequence[OperationSummary]) -> tuple[str, Columns]:
    def of_runtime(format_one: Callable[[float], str], quantity: str) -> Cell:
        return lambda s: format_one(getattr(s.runtime, quantity)) if s.runtime else NOTHING

    def of_ramp(format_one: Callable[[float], str], quantity: str) -> Cell:
        return lambda s: (
            format_one(getattr(s.runtime, quantity)) if s.runtime and s.runtime.ramp_s else NOTHING
        )

    columns: Columns = {
        ("runtime", ""): of_runtime(format_seconds, "runtime_s"),
        ("passes of the slowest rank", ""): of_runtime(significant, "passes_min"),
        ("passes of the fastest rank", ""): of_runtime(significant, "passes_max"),
        ("requests of the slowest rank", ""): of_runtime(
            lambda value: str(int(value)), "requests_per_rank_min"
        ),
        ("requests of the fastest rank", ""): of_runtime(
            lambda value: str(int(value)), "requests_per_rank_max"
        ),
        ("ramp", ""): of_ramp(format_seconds, "ramp_s"),
        ("rate in the ramp", "MiB/s"): of_ramp(significant, "ramp_mib_s"),
    }
    return "Phases by time (runtime)", columns


def compared_cells(one: DigestComparison | ValueComparison, facets: Facets) -> list[str]:
    """Returns the cells of a row that names cases which differ only in the interface."""
    first = one.cases[0]
    return [
        facets.group[first.number],
        one.operation,
        str(first.clients),
        NOTHING if first.transfer_bytes is None else format_bytes(first.transfer_bytes),
        ", ".join(facets.series[case.number] for case in one.cases),
        str(one.repetitions),
    ]


def digest_table(comparisons: Sequence[DigestComparison], facets: Facets) -> Table:
    """Returns the cases that differ only in the interface, and whether they read the same data."""
    rows = [
        [
            *compared_cells(one, facets),
            one.verdict,
        ]
        for one in comparisons
    ]
    columns = [
        (name, "")
        for name in ("pattern", "operation", "clients", "transfer", "interfaces", "repetitions", "verdict")
    ]
    caption = "Digests of read data, compared between interfaces"
    sections = section_starts([row[:2] for row in rows])
    return Table(caption, columns, rows, labels=4, sections=sections)
