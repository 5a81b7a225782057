"""Remarks that readers need to judge the results of a run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from strider.limits import Analysis
from strider.report.words.caches import cache_remarks, is_from_cache, is_from_storage
from strider.report.words.coverage import coverage_remark
from strider.report.words.loads import loads
from strider.report.words.reservations import dear_opens, reservations
from strider.report.words.scaling import scaling
from strider.report.words.steadiness import steadiness
from strider.report.words.wording import (
    NO_STORAGE,
    digest_line,
    metadata_check_line,
    plural,
    shown_time,
    value_line,
    verification_line,
)
from strider.statistics import DigestComparison, OperationSummary, ValueComparison
from strider.statistics.exceeding import file_system_of, is_in_memory
from strider.store.model import Run
from strider.units import format_bytes_rounded, format_seconds


def what_was_done(run: Run, summaries: Sequence[OperationSummary]) -> str:
    """Returns a sentence on the samples, host, target, start and duration of a run."""
    samples = sum(summary.n for summary in summaries)
    cases = len({summary.case.number for summary in summaries})
    host = _host(run)
    file_system = file_system_of(run)
    parts = [
        f"{plural(samples, 'sample')} of {plural(cases, 'case')}",
        f"taken on {host}" if host else "",
        f"in {run.plan.target}" + (f" ({file_system})" if file_system else ""),
        f"started {shown_time(run.info.started)}",
        _duration(run),
    ]
    return ", ".join(part for part in parts if part) + "."


def remarks(
    run: Run,
    summaries: Sequence[OperationSummary],
    comparisons: Sequence[DigestComparison],
    values: Sequence[ValueComparison] = (),
) -> list[str]:
    """Returns the remarks on a run beside its findings; empty without results."""
    if not summaries:
        return []
    found = [
        *checks(run, summaries, comparisons, values),
        _null_remark(summaries),
        _memory_remark(run),
        _crowded_remark(run, summaries),
        _cache_remark(run, summaries),
        coverage_remark(run, summaries),
        *reservations(summaries),
        *loads(summaries),
        *scaling(summaries),
    ]
    return [remark for remark in found if remark]


def checks(
    run: Run,
    summaries: Sequence[OperationSummary],
    comparisons: Sequence[DigestComparison],
    values: Sequence[ValueComparison] = (),
) -> list[str]:
    """Returns the results of verification."""
    found = [
        verification_line(run, summaries),
        metadata_check_line(summaries),
        digest_line(comparisons),
        value_line(values),
    ]
    return [sentence for sentence in found if sentence]


def result_remarks(
    run: Run, summaries: Sequence[OperationSummary], analysis: Analysis | None
) -> list[tuple[str, bool]]:
    """Returns each remark once, and whether it is a reservation.

    The order is: loads, scaling, caches and reservations, limits, steadiness.
    """
    limits = analysis.sentences_without(said_elsewhere(summaries)) if analysis else []
    doubts = [*cache_remarks(summaries), coverage_remark(run, summaries), *reservations(summaries)]
    return [
        *((sentence, False) for sentence in [*loads(summaries), *scaling(summaries)]),
        *((sentence, True) for sentence in doubts if sentence),
        *((sentence, False) for sentence in limits),
        *((sentence, True) for sentence in steadiness(run, summaries)),
    ]


def said_elsewhere(summaries: Sequence[OperationSummary]) -> set[str]:
    """Returns the names of rules of limits that remarks repeat."""
    return {
        *(["cache"] if any(is_from_cache(summary) for summary in summaries) else []),
        *(["opening"] if dear_opens(summaries) else []),
    }


def _host(run: Run) -> str:
    nodes = run.start.nodes if run.start else []
    return str(run.info.environment.get("host", "")) or (nodes[0].name if nodes else "")


def _duration(run: Run) -> str:
    if run.info.ended:
        try:
            ended, started = (datetime.fromisoformat(text) for text in (run.info.ended, run.info.started))
        except ValueError:
            return ""
        return f"in {format_seconds((ended - started).total_seconds())}"
    return f"{format_seconds(run.end.time_s)} of measuring" if run.end else ""


def _null_remark(summaries: Sequence[OperationSummary]) -> str:
    names = {summary.case.interface_name for summary in summaries}
    if NO_STORAGE not in names:
        return ""
    drawn = "" if names == {NO_STORAGE} else " It appears in tables only."
    return f"Interface null transfers no data: its rates are Strider's overhead, not storage.{drawn}"


def _memory_remark(run: Run) -> str:
    if not is_in_memory(file_system_of(run)):
        return ""
    return f"The target is on {file_system_of(run)}: these are rates of memory, not of storage."


def _crowded_remark(run: Run, summaries: Sequence[OperationSummary]) -> str:
    """Returns a sentence on results with more ranks than cores, through interfaces on MPI-IO."""
    cores = run.info.environment.get("cores")
    if not isinstance(cores, int) or not run.start or len(run.start.nodes) != 1:
        return ""
    crowded = [
        summary.case
        for summary in summaries
        if summary.case.clients > cores
        and summary.case.description.is_collective(summary.case.interface_name)
    ]
    if not crowded:
        return ""
    names = " and ".join(sorted({case.interface_name for case in crowded}))
    ranks = max(case.clients for case in crowded)
    return (
        f"{plural(len(crowded), 'result')} of {names}: more ranks than cores (up to {ranks} on {cores}). MPI "
        "calls of waiting ranks use processor time, so these rates may be too low."
    )


def cached_cases(run: Run, summaries: Sequence[OperationSummary]) -> dict[int, int]:
    """Returns the file bytes of cases whose reads caches may have served, by case number.

    Cases with conclusive counters are omitted.
    """
    if is_in_memory(file_system_of(run)):
        return {}
    space = {case.case: case.space_bytes for case in run.info.check.cases or []}
    read = {
        summary.case.number: space.get(summary.case.number, 0)
        for summary in summaries
        if not summary.case.is_metadata
        and "read" in summary.operation
        and not summary.case.interface.get("direct")
        and not is_from_cache(summary)
        and not is_from_storage(summary)
    }
    memory = _memory_bytes(run, summaries)
    return {number: size for number, size in read.items() if 0 < size < memory}


def _memory_bytes(run: Run, summaries: Sequence[OperationSummary]) -> float:
    """Returns the memory of all nodes from their counters, or of the starting host; 0 if unknown."""
    counted = max((s.counters.memory_bytes for s in summaries if s.counters), default=0.0)
    own = run.info.environment.get("memory_bytes")
    return counted or (own if isinstance(own, int) else 0)


def _cache_remark(run: Run, summaries: Sequence[OperationSummary]) -> str:
    cached = cached_cases(run, summaries)
    if not cached:
        return ""
    largest = format_bytes_rounded(max(cached.values()))
    memory = format_bytes_rounded(_memory_bytes(run, summaries))
    nodes = max((s.counters.nodes for s in summaries if s.counters), default=1)
    where = f"{nodes} nodes" if nodes > 1 else _host(run) or "a node"
    caches = "their caches" if nodes > 1 else "its cache"
    return (
        f"The files of {plural(len(cached), 'case')} (at most {largest}) fit into the memory of "
        f"{where} ({memory}), so {caches} may have served reads instead of storage."
    )
