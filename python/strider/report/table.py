"""The tables at the end of a run, and the same numbers as plain rows.

Metadata has a table of its own (`metadata_table`). That of data has, up to 60 rows, one row per case and
operation. Beyond that it is condensed: one row per interface, pattern and transfer size, one column per
operation and number of clients, with the median rate; where even that is long, the best transfer size of
each stands for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from strider.limits import Analysis
from strider.report import calls, metadata_table, pivot
from strider.report.facets import Facets
from strider.report.numbers import NOTHING, TimeUnit, percent, significant, time_unit
from strider.report.references import Reference, reference_of
from strider.report.remarks import result_remarks
from strider.report.thinking import overlap_cell
from strider.report.wording import (
    constants_line,
    digest_line,
    metadata_check_line,
    notes,
    problems,
    verification_line,
)
from strider.statistics import (
    Distribution,
    OperationSummary,
    Overlap,
    compare_digests,
    outliers,
    overlaps,
    summarize,
)
from strider.statistics.summary import CallSummary, LatencySummary, LoadSummary, PartSummary
from strider.store.case import Case, Parameters
from strider.store.model import Run
from strider.units import MB, MIB, format_bytes

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MAXIMUM_ROWS = 60
#: Columns that may go where the terminal is narrow, first to go first.
_OPTIONAL = ("first done", "maximum", "minimum", "p50", "p99", "requests")
#: Columns of text that may take several lines, and their width.
_FOLDING = {"pattern": 38, "notes": 26}
_TIMES = (
    "elapsed_s",
    "open_s",
    "transfer_s",
    "sync_s",
    "close_s",
    "prepare_s",
    "user_s",
    "system_s",
)
_CALL_COLUMNS: dict[str, Any] = {
    "requests": ("requests", "right", calls.count_cell("requests")),
    "read calls": ("read\ncalls", "right", calls.count_cell("read_calls")),
    "write calls": ("write\ncalls", "right", calls.count_cell("write_calls")),
}


def render(run: Run, console: Console, analysis: Analysis | None = None, most: int | None = None) -> None:
    """Prints the results of a run as tables, what their rows have in common, and what went wrong.

    Args:
        run: The run.
        console: Where to print.
        analysis: What limits the results, if that is to be told as well.
        most: Remarks at most; the rest is counted.
    """
    summaries = summarize(run)
    data = [summary for summary in summaries if not summary.case.is_metadata]
    metadata = [summary for summary in summaries if summary.case.is_metadata]
    if not summaries:
        console.print("No phase of this run was finished: there is nothing to tabulate.", highlight=False)
    if data:
        _render_data(data, reference_of(run.plan.suite.name), console)
    if metadata:
        facets = Facets.of([summary.case for summary in metadata])
        metadata_table.render(metadata, facets, console)
        console.print(constants_line(facets, metadata), style="dim", highlight=False, markup=False)
    comparisons = compare_digests(run)
    for sentence in (
        verification_line(run, summaries),
        metadata_check_line(summaries),
        digest_line(comparisons),
    ):
        if sentence:
            console.print(sentence, highlight=False, markup=False)
    found = result_remarks(run, summaries, analysis)
    for sentence, style in found[:most]:
        console.print(sentence, style=style, highlight=False, markup=False)
    if most is not None and len(found) > most:
        text = f"… and {len(found) - most} more: strider show, strider show --limits"
        console.print(text, highlight=False)
    for problem in problems(run, summaries, comparisons):
        console.print(problem, style="bold red", highlight=False, markup=False)


def _render_data(
    summaries: Sequence[OperationSummary], reference: Reference | None, console: Console
) -> None:
    facets = Facets.of([summary.case for summary in summaries])
    reference = reference if reference and reference.knows(summaries) else None
    if len(summaries) > MAXIMUM_ROWS:
        pivot.render(summaries, facets, console)
    else:
        console.print(_fit(summaries, facets, reference, console))
    console.print(constants_line(facets, summaries), style="dim", highlight=False, markup=False)
    if reference:
        console.print(reference.remark, style="dim", highlight=False, markup=False)


def as_rows(run: Run) -> list[dict[str, Any]]:
    """The summaries of a run as one dictionary per case and operation.

    Units are in the keys; None stands for what is unknown. `rate_mean_mib_s` is the mean of
    the repetitions' rates, `rate_total_mib_s` total work ÷ total time. Rows of metadata have `tree` in the
    place of `pattern`, `requests_s` (operations per second) in that of `mib_s`, and the operations of a mix
    in `parts`.
    """
    reference = reference_of(run.plan.suite.name)
    summaries = summarize(run)
    found = overlaps(summaries)
    return [_as_row(run.id, summary, reference, found.get(summary.key)) for summary in summaries]


def _as_row(
    run_id: str, summary: OperationSummary, reference: Reference | None, overlap: Overlap | None
) -> dict[str, Any]:
    case, times, verify = summary.case, summary.times, summary.verify
    of_metadata = case.is_metadata
    unit = "requests_s" if of_metadata else "mib_s"
    first_done = summary.first_done.median if summary.first_done else None
    row = {
        "run": run_id,
        "case": case.number,
        "name": case.name,
        "interface": case.interface_name,
        "interface_parameters": _without_name(case.interface),
        **_shape_fields(case),
        **case.common_parameters(),
        "operation": summary.operation,
        "n": summary.n,
        "voided": summary.voided,
        "errors": sum(error.count for error in summary.errors),
        **_rate_fields(summary.rate, unit),
        "outlier_repetitions": [outlier.sample.repetition for outlier in outliers([summary])],
        f"rate_total_{unit}": summary.total_rate,
        f"rate_first_done_median_{unit}": first_done,
        **({} if of_metadata else _published(summary, reference)),
        **_latency_fields(summary.latency),
        **{name: getattr(summary.calls, name, None) for name in CallSummary.__dataclass_fields__},
        **({} if of_metadata else _cache_fields(summary)),
        **_load_fields(summary.load),
        "verify_checked_bytes": verify.checked_bytes if verify else None,
        "verify_wrong_bytes": verify.wrong_bytes if verify else None,
        **({"verify_mismatches": verify.mismatches if verify else None} if of_metadata else {}),
        "sync_share": times.sync_share if times else None,
        **{name: getattr(times, name, None) for name in _TIMES},
        **({} if of_metadata else _thinking_fields(summary, overlap)),
        **({"parts": [_part_fields(part) for part in summary.parts]} if of_metadata else {}),
    }
    return _finite(row)


def _cache_fields(summary: OperationSummary) -> dict[str, Any]:
    served, done = summary.served, summary.preparation
    return {
        "served_by_storage": served.share if served else None,
        "served_source": served.source if served else None,
        "cached_before": done.cached_share if done else None,
    }


def _load_fields(load: LoadSummary | None) -> dict[str, Any]:
    return {
        "offered_requests_s": load.offered if load else None,
        "achieved_requests_s": load.achieved if load else None,
        "late_share": load.late_share if load else None,
        "saturated": load.saturated if load else None,
    }


def _without_name(parameters: Parameters) -> Parameters:
    return {key: value for key, value in parameters.items() if key != "name"}


def _shape_fields(case: Case) -> dict[str, Any]:
    if case.is_metadata:
        return {"tree": case.shape_name, "tree_parameters": _without_name(case.tree)}
    return {
        "pattern": case.shape_name,
        "pattern_parameters": _without_name(case.pattern),
        "transfer_bytes": case.transfer_bytes,
    }


def _rate_fields(rate: Distribution | None, unit: str) -> dict[str, Any]:
    interval = rate.interval if rate else None
    return {
        f"rate_mean_{unit}": rate.mean if rate else None,
        f"rate_median_{unit}": rate.median if rate else None,
        f"rate_min_{unit}": rate.minimum if rate else None,
        f"rate_max_{unit}": rate.maximum if rate else None,
        f"rate_deviation_{unit}": rate.deviation if rate else None,
        "rate_variation": rate.variation if rate else None,
        f"rate_interval_low_{unit}": interval.low if interval else None,
        f"rate_interval_high_{unit}": interval.high if interval else None,
        "rate_interval_method": interval.method if interval else None,
    }


def _latency_fields(latency: LatencySummary | None) -> dict[str, Any]:
    return {f"latency_{name}": getattr(latency, name, None) for name in LatencySummary.__dataclass_fields__}


def _thinking_fields(summary: OperationSummary, overlap: Overlap | None) -> dict[str, Any]:
    return {
        "compute_s": summary.times.compute_s if summary.times else None,
        "overlap": overlap.share if overlap else None,
    }


def _published(summary: OperationSummary, reference: Reference | None) -> dict[str, Any]:
    figure = reference.figure_mb_s(summary.case, summary.operation) if reference else None
    return {"published_mb_s": figure}


def _part_fields(part: PartSummary) -> dict[str, Any]:
    row = {
        "operation": part.operation,
        "requests": part.requests,
        "share": part.share,
        **_rate_fields(part.rate, "requests_s"),
        **_latency_fields(part.latency),
    }
    return _finite(row)


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """A row for JSON, which knows no NaN."""
    return {key: None if isinstance(value, float) and value != value else value for key, value in row.items()}


def _fit(
    summaries: Sequence[OperationSummary], facets: Facets, reference: Reference | None, console: Console
) -> Table:
    """The widest version of the table that fits the console."""
    dropped: set[str] = set()
    table = _build(summaries, facets, reference, dropped)
    for name in _OPTIONAL:
        if pivot.natural_width(table, console) <= console.width:
            break
        dropped.add(name)
        table = _build(summaries, facets, reference, dropped)
    return table


def _build(
    summaries: Sequence[OperationSummary], facets: Facets, reference: Reference | None, dropped: set[str]
) -> Table:
    """One row per summary, with a rule between operations and numbers of clients."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    unit = time_unit([summary.latency.p50_s for summary in summaries if summary.latency])
    columns = _columns(summaries, facets, unit, reference)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for name, (header, justify, _) in columns.items():
        if name not in dropped:
            table.add_column(
                header, justify=justify, no_wrap=name not in _FOLDING, max_width=_FOLDING.get(name)
            )
    section = _sections(summaries, facets)
    series = facets.series_order.index
    ordered = sorted(
        summaries,
        key=lambda s: (section(s), s.case.transfer_bytes or 0, series(facets.series[s.case.number])),
    )
    for index, summary in enumerate(ordered):
        if index and section(ordered[index - 1]) != section(summary):
            table.add_section()
        cells = [cell(summary) for name, (_, _, cell) in columns.items() if name not in dropped]
        table.add_row(
            *(Text(cell) for cell in cells), style="red" if summary.voided or summary.errors else None
        )
    return table


def _sections(
    summaries: Sequence[OperationSummary], facets: Facets
) -> Callable[[OperationSummary], tuple[int, int, int]]:
    """What rows between two rules have in common: group and operation in the order of the plan, clients."""
    groups = list(dict.fromkeys(facets.group.values()))
    operations = list(dict.fromkeys(summary.operation for summary in summaries))

    def section(summary: OperationSummary) -> tuple[int, int, int]:
        group = facets.group[summary.case.number]
        return groups.index(group), operations.index(summary.operation), summary.case.clients

    return section


def _columns(
    summaries: Sequence[OperationSummary], facets: Facets, unit: TimeUnit, reference: Reference | None
) -> dict[str, Any]:
    """Header, alignment and text of each column; columns that say the same in all rows are left out."""
    columns: dict[str, Any] = {
        "interface": ("interface", "left", lambda s: facets.series[s.case.number]),
        "pattern": ("pattern", "left", lambda s: facets.group[s.case.number]),
        "transfer": ("transfer", "right", lambda s: format_transfer(s.case.transfer_bytes)),
        "clients": ("clients", "right", lambda s: str(s.case.clients)),
        "operation": ("operation", "left", lambda s: s.operation),
    }
    constant = [name for name, (_, _, cell) in columns.items() if len({cell(s) for s in summaries}) == 1]
    columns = {
        name: column
        for name, column in columns.items()
        if name not in constant or name in ("interface", "operation")
    }
    columns |= {
        "median": ("median\nMiB/s", "right", lambda s: significant(s.rate.median if s.rate else None)),
        "mean": ("mean ± dev.\nMiB/s", "right", format_mean),
        **(_published_columns(reference) if reference else {}),
        "minimum": ("min\nMiB/s", "right", lambda s: significant(s.rate.minimum if s.rate else None)),
        "maximum": ("max\nMiB/s", "right", lambda s: significant(s.rate.maximum if s.rate else None)),
        "first done": (
            "first\ndone",
            "right",
            lambda s: significant(s.first_done.median if s.first_done else None),
        ),
        "p50": (f"p50\n{unit.name}", "right", lambda s: unit.format(s.latency.p50_s if s.latency else None)),
        "p99": (f"p99\n{unit.name}", "right", lambda s: unit.format(s.latency.p99_s if s.latency else None)),
        **(_CALL_COLUMNS if calls.differ(summaries) else {}),
        **_overlap_column(summaries),
        "notes": ("notes", "left", lambda s: "; ".join(notes(s))),
    }
    if not any(notes(summary) for summary in summaries):
        del columns["notes"]
    if all(summary.n <= 1 for summary in summaries):
        for name in ("mean", "minimum", "maximum"):  # the median once more
            del columns[name]
    return columns


def _overlap_column(summaries: Sequence[OperationSummary]) -> dict[str, Any]:
    """How much of the shorter of think and transfer time the other hid; none without a comparison."""
    found = overlaps(summaries)
    if not found:
        return {}
    return {"overlap": ("overlap\n%", "right", overlap_cell(found))}


def _published_columns(reference: Reference) -> dict[str, Any]:
    """The published figures, and the mean in their unit."""
    figure_mb_s = reference.figure_mb_s
    return {
        "mean in MB/s": (
            "mean\nMB/s",
            "right",
            lambda s: significant(s.rate.mean * MIB / MB if s.rate else None),
        ),
        "published": (
            f"published\n{reference.year}, MB/s",
            "right",
            lambda s: significant(figure_mb_s(s.case, s.operation)),
        ),
    }


def format_transfer(transfer_bytes: int | None) -> str:
    """A transfer size for a table cell."""
    return NOTHING if transfer_bytes is None else format_bytes(transfer_bytes)


def format_mean(summary: OperationSummary) -> str:
    """Mean and standard deviation, the latter as a percentage: 1234 ± 5 %."""
    if summary.rate is None:
        return NOTHING
    spread = f" ± {percent(summary.rate.variation)} %" if summary.n > 1 else ""
    return significant(summary.rate.mean) + spread
