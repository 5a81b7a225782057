"""What a run says, in words. Nothing is claimed beyond the data."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Container, Sequence

from strider.report.blocks import Card
from strider.report.labels.facets import Facets
from strider.report.words.caches import cache_notes, is_from_cache, is_from_storage
from strider.report.words.clocks import clock_notes
from strider.report.words.given_up import given_up
from strider.report.words.numbers import significant
from strider.report.words.reservations import half_width
from strider.statistics import DigestComparison, OperationSummary, file_checks
from strider.statistics.summary import VerifySummary
from strider.store.model import ErrorRow, Run, Verify
from strider.store.runs import status_words
from strider.units import format_bytes, format_bytes_rounded, grouped

#: The interface that moves no bytes: its rates are Strider's own cost and no property of storage.
NO_STORAGE = "null"

#: A rate whose interval is wider than ± this share of the mean is no headline.
_HEADLINE_HALF_WIDTH = 0.5

_STATUS = {
    "interrupted": "The run was interrupted",
    "failed": "The run failed",
    "unfinished": "The run was never sealed: it is still going on, or was killed",
}


def constants_line(facets: Facets, summaries: Sequence[OperationSummary]) -> str:
    """What the rows of a table have in common, and how many repetitions they stand for."""
    counts = sorted({summary.n for summary in summaries})
    repetitions = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
    shared = " · ".join(f"{name} {value}" for name, value in facets.constants)
    unit = "repetition" if counts == [1] else "repetitions"
    return f"{shared} · {repetitions} {unit}" if shared else f"{repetitions} {unit}"


def notes(summary: OperationSummary) -> list[str]:
    """What a reader of one row must know: reads from a cache, void samples and errors."""
    found = [*cache_notes(summary), *clock_notes(summary)]
    if summary.load and summary.load.saturated:
        found.append(
            f"saturated: {significant(summary.load.achieved)} of {significant(summary.load.offered)}/s"
        )
    if summary.voided:
        found.append(f"{summary.voided} void")
    if summary.verify and summary.verify.wrong_bytes:
        found.append(f"{format_bytes_rounded(summary.verify.wrong_bytes)} wrong")
    elif summary.verify and summary.verify.mismatches and summary.case.is_metadata:
        found.append(f"{summary.verify.mismatches} wrong")
    if summary.errors:
        found.append(f"{error_count(summary.errors)}: {error_text(summary.errors[0])}")
    return found


def error_count(errors: Sequence[ErrorRow]) -> str:
    """How many errors, in words."""
    return plural(sum(error.count for error in errors), "error")


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 error, 2 errors."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def error_text(error: ErrorRow) -> str:
    """What an error says, in one line: the system's text first where the error has a number."""
    text = " ".join(error.message.split())
    known = os.strerror(error.errno) if error.errno and error.errno in errno.errorcode else ""
    if not known or known.casefold() in text.casefold():
        return text or known
    return f"{known}: {text}" if text else known


def status_text(run: Run) -> str:
    """The status of a run, with its errors: no run with errors is just complete."""
    return status_words(run.status, len(run.samples), sum(error.count for error in run.errors))


def error_place(error: ErrorRow) -> str:
    """Where an error happened: rank, host, call, file and offset, as far as known."""
    parts = [
        f"rank {error.rank}" if error.rank is not None else "",
        f"on {error.host}" if error.host else "",
        f"{error.call}" if error.call else "",
        f"file {error.file}" if error.file else "",
        f"offset {error.offset}" if error.offset is not None else "",
        f"length {error.length}" if error.length is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def problems(
    run: Run, summaries: Sequence[OperationSummary], comparisons: Sequence[DigestComparison]
) -> list[str]:
    """One sentence for everything that makes a run less than complete and valid; none for a good one."""
    found = []
    if run.status != "complete":
        missing = missing_operations(run, summaries)
        tail = (
            f": {missing} of {planned_operations(run)} planned operations have no sample" if missing else ""
        )
        # Why, where somebody knows: an interruption needs no words.
        why = f": {run.end.reason}" if run.status == "failed" and run.end and run.end.reason else ""
        found.append(f"{_STATUS.get(run.status, f'The run is {run.status}')}{why}{tail}.")
    voided = sum(summary.voided for summary in summaries)
    checks = [check.verify for check in file_checks(run) if check.verify]
    findings = sum(check.mismatches for check in checks)
    if findings:
        found.append(
            f"WRONG FILES: {plural(findings, 'finding')} in whole files after their last phase; "
            "no phase of these repetitions counts."
        )
    wrong = sum(summary.verify.wrong_bytes for summary in summaries if summary.verify)
    if wrong:
        found.append(f"WRONG DATA: {format_bytes_rounded(wrong)} of what was read is not what was written.")
    not_as_made = _wrong_metadata(summaries)
    if not_as_made:
        found.append(f"WRONG METADATA: {not_as_made} of the items visited were not as they were made.")
    if voided:
        found.append(
            f"{plural(voided, 'sample')} void, because a check failed; they count in no number here."
        )
    if run.errors:
        first = run.errors[0]
        case = f"case {first.case}" if first.case is not None else "the run"
        where = ", ".join(part for part in (case, error_place(first)) if part)
        kinds = "" if len(run.errors) == 1 else "The first: "
        found.append(f"{error_count(run.errors)} reported. {kinds}{error_text(first)} ({where}).")
        found += given_up(run)
    for comparison in comparisons:
        if comparison.verdict == "different data":
            names = ", ".join(f"{case.interface_name} (case {case.number})" for case in comparison.cases)
            found.append(
                f"The same {comparison.operation} gave different data through {names}: see the digests."
            )
    return found


def _wrong_metadata(summaries: Sequence[OperationSummary]) -> int:
    """Number of times that an operation of metadata found something else than there should be."""
    return sum(s.verify.mismatches for s in summaries if s.verify and s.case.is_metadata)


def planned_operations(run: Run) -> int:
    """Number of operations of all cases."""
    return sum(len(set(case.operations)) for case in run.cases.values())


def missing_operations(run: Run, summaries: Sequence[OperationSummary]) -> int:
    """Number of planned operations without a single sample that counts."""
    return planned_operations(run) - sum(summary.n > 0 for summary in summaries)


def best_rates(
    summaries: Sequence[OperationSummary], facets: Facets, cached: Container[int] = ()
) -> list[Card]:
    """For each operation the case with the highest median rate.

    `null`, which moves nothing, is left out, and so is an operation whose highest rate is too uncertain: the
    second highest would be no better news.

    Args:
        summaries: What was measured.
        facets: Labels of the cases.
        cached: Numbers of the cases whose reads memory may have served.
    """
    certain = [summary for summary in _leaders(summaries) if not _too_uncertain(summary)]
    return [_best(summary, facets, cached) for summary in certain]


def headline_remark(summaries: Sequence[OperationSummary]) -> str:
    """Which operations have no headline because their highest rate is too uncertain; empty if none."""
    names = [summary.operation for summary in _leaders(summaries) if _too_uncertain(summary)]
    if not names:
        return ""
    share = f"{100 * _HEADLINE_HALF_WIDTH:.0f}"
    return f"No highest rate of {', '.join(names)} is given: its 95 % interval is wider than ±{share} %."


def _leaders(summaries: Sequence[OperationSummary]) -> list[OperationSummary]:
    """For each operation the summary with the highest median rate, without `null`."""
    best: dict[str, OperationSummary] = {}
    for summary in summaries:
        if summary.rate is None or summary.case.interface_name == NO_STORAGE:
            continue
        leader = best.get(summary.operation)
        if leader is None or leader.rate is None or summary.rate.median > leader.rate.median:
            best[summary.operation] = summary
    return list(best.values())


def _too_uncertain(summary: OperationSummary) -> bool:
    """Whether the interval of a mean rate is so wide that the rate is no headline."""
    return bool(summary.rate and summary.rate.interval) and half_width(summary) > _HEADLINE_HALF_WIDTH


def _best(summary: OperationSummary, facets: Facets, cached: Container[int]) -> Card:
    case, rate = summary.case, summary.rate
    maybe = "read" in summary.operation and case.number in cached and not is_from_storage(summary)
    remark = " (from cache)" if is_from_cache(summary) else " (files fit into memory)" if maybe else ""
    number = format_rate_of(summary, rate.median if rate else None)
    transfer = (
        f", {format_bytes(case.transfer_bytes)} per transfer" if case.transfer_bytes is not None else ""
    )
    interval = rate.interval if rate else None
    spread = (
        f"; 95 % interval of the mean {format_rate_of(summary, interval.low)}–"
        f"{format_rate_of(summary, interval.high)}"
        if interval
        else ""
    )
    return Card(
        name=f"{summary.operation}{remark}",
        value=f"{number} {summary.rate_unit}",
        how=(
            f"through {facets.series[case.number]}, {plural(case.clients, 'client')}, "
            f"{facets.group[case.number]}{transfer} (median of {summary.n}{spread})"
        ),
    )


def format_rate_of(summary: OperationSummary, rate: float | None) -> str:
    """A rate without its unit: three digits for bytes, thousands apart for operations."""
    if summary.rate_unit == "MiB/s" or rate is None or rate != rate:
        return significant(rate)
    return grouped(rate)


def metadata_check_line(summaries: Sequence[OperationSummary]) -> str:
    """What the check of what operations of metadata found came to; empty where nothing was checked."""
    checked = [summary for summary in summaries if summary.case.is_metadata and summary.verify]
    if not checked:
        return ""
    wrong = _wrong_metadata(checked)
    verdict = f"{wrong} times it was not as made" if wrong else "all of it was as made"
    return f"What completed operations of metadata found was checked: {verdict}."


def verification_line(run: Run, summaries: Sequence[OperationSummary]) -> str:
    """How much data and how many files were checked, and the result; empty where nothing was read."""
    of_data = [summary for summary in summaries if not summary.case.is_metadata]
    files = [check.verify for check in file_checks(run) if check.verify]
    checks: list[Verify | VerifySummary] = [*(one.verify for one in of_data if one.verify), *files]
    if not checks and not any("read" in summary.operation for summary in of_data):
        return ""
    checked = sum(check.checked_bytes for check in checks)
    if not checked:
        return "The data that was read back was not checked."
    wrong = sum(check.wrong_bytes for check in checks)
    findings = sum(check.mismatches for check in checks)
    whole = plural(sum(check.files for check in files), "file")
    outside = format_bytes_rounded(sum(check.outside_bytes for check in files))
    parts = [
        f"{format_bytes_rounded(checked)} read",
        *([f"{whole} (sizes and {outside} outside the extents) checked"] if files else []),
        f"{format_bytes_rounded(wrong) if wrong else '0 bytes'} wrong",
        *([plural(findings, "finding")] if findings else []),
    ]
    return f"Data verified: {', '.join(parts)}."


def digest_line(comparisons: Sequence[DigestComparison]) -> str:
    """Whether the same cases read the same data through different interfaces; empty if nothing compares."""
    comparable = [one for one in comparisons if one.verdict != "not comparable"]
    same = sum(one.verdict == "same data" for one in comparable)
    if not comparable:
        return ""
    names = ", ".join(dict.fromkeys(case.interface_name for one in comparable for case in one.cases))
    result = "all" if same == len(comparable) else f"only {same}"
    reads = plural(len(comparable), "read")
    return f"{reads} of the same data through {names} compared by digest: {result} of them agree."


def readable_key(key: str) -> str:
    """A key of a JSON document as a label: `memory_bytes` is `memory`, `clock_error_s` is `clock error`."""
    return re.sub(r"_(bytes|s|ns)$", "", key).replace("_", " ")
