"""The report: one self-contained HTML file that works offline and needs no script.

Charts are SVG, drawn here; what is long is in collapsed sections, which browsers lay out only when they are
opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from strider.errors import ExitCode, StriderError
from strider.limits import Analysis
from strider.report import listio, timelines
from strider.report.charts import Chart
from strider.report.environment import environment_rows, fact_rows
from strider.report.facets import Facets, joined
from strider.report.filters import Filter, filters_of, marks_of
from strider.report.groups import Group, groups_of
from strider.report.interface_facts import InterfaceFacts
from strider.report.limits import LimitsView
from strider.report.limits import view as limits_view
from strider.report.listio import ListioView
from strider.report.metadata import html_tables
from strider.report.metadata_charts import latency_charts, rate_charts
from strider.report.references import Reference, reference_of
from strider.report.remarks import cached_cases, remarks, what_was_done
from strider.report.stragglers import RankMap, rank_map_of
from strider.report.tables import HtmlTable, digest_table
from strider.report.wording import (
    Best,
    best_rates,
    constants_line,
    error_place,
    error_text,
    problems,
    status_text,
)
from strider.statistics import OperationSummary, compare_digests, summarize
from strider.store import load_events
from strider.store.case import Case
from strider.store.model import ErrorRow, NodeCounters, Run, Timeline
from strider.text_file import write_whole
from strider.units import format_bytes

if TYPE_CHECKING:
    from jinja2 import Environment

#: Up to so many summaries the tables of a report are open from the start.
_OPEN_TABLES = 40
#: Up to so many groups their charts are open from the start; beyond, those of the first group are.
_OPEN_GROUPS = 6
_MAXIMUM_ERRORS = 200
#: Up to so many operations of metadata are among the highest rates.
_MAXIMUM_HEADLINES = 12


@dataclass(frozen=True)
class MetadataView:
    """Operations of metadata: what cases share, charts, tables, and how latencies are distributed."""

    constants: str
    charts: Sequence[Chart]
    tables: Sequence[HtmlTable]
    latencies: Sequence[Chart]


@dataclass(frozen=True)
class ErrorView:
    """An error in a list."""

    case: str
    kind: str
    message: str
    place: str
    detail: str


@dataclass(frozen=True)
class RunView:
    """Everything that the template says about one run, as texts."""

    anchor: str
    suite: str
    description: str
    run: str
    status: str
    facts: str
    problems: Sequence[str]
    best: Sequence[Best]
    remarks: Sequence[str]
    constants: str
    axes: Sequence[tuple[str, str]]
    filters: Sequence[Filter]
    marks: Mapping[tuple[str, str], str]
    groups: Sequence[Group]
    metadata: MetadataView | None
    limits: LimitsView | None
    listio: ListioView | None
    rank_map: RankMap | None
    timelines: Sequence[Chart]
    timelines_left_out: str
    digests: HtmlTable | None
    errors: Sequence[ErrorView]
    errors_left_out: int
    environment: Sequence[tuple[str, str]]
    facts_in_force: Sequence[tuple[str, str, str]]
    tables_open: bool
    groups_open: int


def write_html(runs: Sequence[Run], out: Path) -> Path:
    """Writes the report of some runs.

    Args:
        runs: At least one; each gets a part of its own.
        out: The HTML file; an existing one is replaced as a whole.

    Returns:
        `out`.

    Raises:
        StriderError: The file cannot be written.
    """
    return write_views(views_of(runs), out)


def views_of(runs: Sequence[Run]) -> list[RunView]:
    """What a report shows of some runs: all its texts, charts and tables."""
    return [_view(run, f"run-{position}") for position, run in enumerate(runs, start=1)]


def write_views(views: Sequence[RunView], out: Path) -> Path:
    """Writes what a report shows as by `write_html`."""
    return write_page(_templates().get_template("report.html.j2").render(views=views), out)


def write_page(html: str, out: Path) -> Path:
    """Writes a page as a whole, so that a reader never sees half of one.

    Raises:
        StriderError: The file cannot be written.
    """
    try:
        write_whole(out, html)
    except OSError as error:
        raise StriderError(f"cannot write {out}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    return out


def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("strider.report", "templates")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def _view(run: Run, anchor: str) -> RunView:
    counters = load_events(run.directory, NodeCounters)
    summaries = summarize(run, counters)
    data = [summary for summary in summaries if not summary.case.is_metadata]
    metadata = [summary for summary in summaries if summary.case.is_metadata]
    comparisons = compare_digests(run)
    of_data = Facets.of([case for case in run.cases.values() if not case.is_metadata])
    of_metadata = Facets.of([case for case in run.cases.values() if case.is_metadata])
    facets = joined(of_data, of_metadata)
    reference = reference_of(run.plan.suite.name)
    timeline_charts, timelines_left_out = timelines.charts(
        load_events(run.directory, Timeline), summaries, facets
    )
    filters = filters_of(summaries, facets, anchor)
    groups = groups_of(data, of_data, InterfaceFacts.of(run), anchor, reference)
    return RunView(
        anchor=anchor,
        suite=run.plan.suite.name,
        description=run.plan.suite.description,
        run=run.id,
        status=status_text(run),
        facts=what_was_done(run, summaries),
        problems=problems(run, summaries, comparisons),
        best=best_rates([*data, *_headlines(metadata)], facets, cached_cases(run, summaries)),
        remarks=[*remarks(run, summaries, comparisons), *_reference_remark(summaries, reference)],
        constants=constants_line(of_data, data) if data else "",
        axes=_axes(list(run.cases.values()), facets),
        filters=filters,
        marks=marks_of(filters),
        groups=groups,
        metadata=_metadata_view(metadata, of_metadata) if metadata else None,
        limits=limits_view(Analysis.of_summaries(run, summaries, counters)),
        listio=listio.view(run, data, of_data, reference),
        rank_map=rank_map_of(run, facets),
        timelines=timeline_charts,
        timelines_left_out=timelines_left_out,
        digests=digest_table(comparisons, facets) if comparisons else None,
        errors=[_error_view(error) for error in run.errors[:_MAXIMUM_ERRORS]],
        errors_left_out=max(0, len(run.errors) - _MAXIMUM_ERRORS),
        environment=environment_rows(run),
        facts_in_force=fact_rows(run, facets),
        tables_open=len(summaries) <= _OPEN_TABLES,
        groups_open=len(groups) if len(groups) <= _OPEN_GROUPS else 1,
    )


def _reference_remark(summaries: Sequence[OperationSummary], reference: Reference | None) -> list[str]:
    if reference is None:
        return []
    counted = any(reference.requests(summary.case) is not None for summary in summaries)
    return [reference.remark] if counted or reference.knows(summaries) else []


def _headlines(summaries: Sequence[OperationSummary]) -> Sequence[OperationSummary]:
    """Summaries of metadata whose highest rates are said first; none where they are too many to be one."""
    few = len({summary.operation for summary in summaries}) <= _MAXIMUM_HEADLINES
    return summaries if few else []


def _metadata_view(summaries: Sequence[OperationSummary], facets: Facets) -> MetadataView:
    return MetadataView(
        constants=constants_line(facets, summaries),
        charts=rate_charts(summaries, facets),
        tables=html_tables(summaries, facets),
        latencies=latency_charts(summaries, facets),
    )


def _axes(cases: Sequence[Case], facets: Facets) -> list[tuple[str, str]]:
    """What was varied, with all values in the order of the plan."""
    sizes = sorted({case.transfer_bytes for case in cases if case.transfer_bytes is not None})
    groups = {
        of_metadata: list(
            dict.fromkeys(facets.group[case.number] for case in cases if case.is_metadata is of_metadata)
        )
        for of_metadata in (False, True)
    }
    axes = {
        "interface": facets.series_order,
        "pattern and its conditions": groups[False],
        "tree and its conditions": groups[True],
        "transfer": [format_bytes(size) for size in sizes],
        "clients": [str(count) for count in sorted({case.clients for case in cases})],
        "operation": list(dict.fromkeys(name for case in cases for name in case.operations)),
    }
    return [(name, " · ".join(values)) for name, values in axes.items() if values]


def _error_view(error: ErrorRow) -> ErrorView:
    data = f"expected {error.expected}, found {error.found}" if error.expected is not None else ""
    kind = f"{error.kind}, {error.mismatch_class}" if error.mismatch_class else error.kind
    times = f"{error.count} times" if error.count > 1 else ""
    number = f"errno {error.errno}" if error.errno else ""
    return ErrorView(
        case=_error_case(error),
        kind=kind,
        message=error_text(error),
        place=error_place(error),
        detail="; ".join(part for part in (number, data, times, error.remedy or "") if part),
    )


def _error_case(error: ErrorRow) -> str:
    """Case, operation and repetition as far as known; what concerns no case concerns the run."""
    if error.case is None:
        return "the run"
    repetition = f"repetition {error.repetition}" if error.repetition is not None else ""
    return ", ".join(part for part in (str(error.case), error.operation or "", repetition) if part)
