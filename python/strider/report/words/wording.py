"""Sentences about a run, limited to what its data shows."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence

from strider.listing.summary import status_words
from strider.report.labels.facets import Facets
from strider.report.words.caches import cache_notes
from strider.report.words.clocks import clock_notes
from strider.report.words.given_up import given_up
from strider.report.words.numbers import significant
from strider.statistics import (
    DigestComparison,
    OperationSummary,
    ValueComparison,
    ValueDifference,
    file_checks,
)
from strider.statistics.summary import VerifySummary
from strider.store.case import Case
from strider.store.model import ErrorRow, Run, Verify
from strider.units import format_bytes_rounded, grouped

#: The interface that transfers no data: its rates are Strider's overhead, not a property of storage.
NO_STORAGE = "null"

_STATUS = {
    "interrupted": "The run was interrupted",
    "failed": "The run failed",
    "unfinished": "The run is incomplete: it is still active, or was killed",
}


def constants_line(facets: Facets, summaries: Sequence[OperationSummary]) -> str:
    """Returns the common parameters of a table's rows and their number of repetitions."""
    counts = sorted({summary.n for summary in summaries})
    repetitions = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
    shared = " · ".join(f"{name} {value}" for name, value in facets.constants)
    unit = "repetition" if counts == [1] else "repetitions"
    return f"{shared} · {repetitions} {unit}" if shared else f"{repetitions} {unit}"


def notes(summary: OperationSummary) -> list[str]:
    """Returns the notes of a row: reads from a cache, void samples and errors."""
    found = [*cache_notes(summary), *clock_notes(summary)]
    if summary.load and summary.load.saturated:
        found.append(
            f"saturated: {significant(summary.load.achieved)} of {significant(summary.load.offered)}/s"
        )
    elif summary.load and summary.load.is_behind:
        found.append(
            f"completed {significant(summary.load.completed)} of {significant(summary.load.offered)}/s"
        )
    if summary.rate and summary.rate.zeros:
        found.append(f"{summary.rate.zeros} of {summary.rate.n} repetitions at 0")
    if summary.voided:
        found.append(f"{summary.voided} void")
    if summary.verify and summary.verify.wrong_bytes:
        found.append(f"{format_bytes_rounded(summary.verify.wrong_bytes)} wrong")
    elif summary.verify and summary.verify.mismatches and summary.case.is_metadata:
        found.append(f"{summary.verify.mismatches} wrong")
    if summary.errors:
        found.append(f"{error_count(summary.errors)}: {error_text(summary.errors[0])}")
    return found


def result_in_words(case: Case, operation: str) -> str:
    """Returns the name of a result in a sentence: `read through posix (segmented, 1 MiB, 2 clients)`."""
    return f"{operation} through {case.interface_name} ({case.in_words})"


def error_count(errors: Sequence[ErrorRow]) -> str:
    """Returns the number of errors as text."""
    return plural(sum(error.count for error in errors), "error")


def plural(count: int, noun: str) -> str:
    """Returns a count with its noun: 1 error, 2 errors."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def shown_time(iso: str) -> str:
    """Returns a time in UTC for people: 2026-11-21 08:11:12 UTC.

    Args:
        iso: The time in UTC as runs and events have it.
    """
    return f"{iso[:19].replace('T', ' ')} UTC"


def error_text(error: ErrorRow) -> str:
    """Returns an error in one line; begins with the errno text if there is one."""
    text = " ".join(error.message.split())
    known = os.strerror(error.errno) if error.errno and error.errno in errno.errorcode else ""
    if not known or known.casefold() in text.casefold():
        return text or known
    return f"{known}: {text}" if text else known


def status_text(run: Run) -> str:
    """Returns the status of a run with its number of errors."""
    return status_words(run.status, len(run.samples), sum(error.count for error in run.errors))


def error_place(error: ErrorRow) -> str:
    """Returns the location of an error: rank, host, call, file and offset, as far as known."""
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
    run: Run,
    summaries: Sequence[OperationSummary],
    comparisons: Sequence[DigestComparison],
    values: Sequence[ValueComparison] = (),
) -> list[str]:
    """Returns one sentence for each problem of a run; empty for a complete and valid run."""
    found = []
    if run.status != "complete":
        missing = missing_operations(run, summaries)
        tail = (
            f": {missing} of {planned_operations(run)} planned operations have no sample" if missing else ""
        )
        # Add the reason of a failure; an interruption needs none.
        why = f": {run.end.reason}" if run.status == "failed" and run.end and run.end.reason else ""
        found.append(f"{_STATUS.get(run.status, f'The run is {run.status}')}{why}{tail}.")
    voided = sum(summary.voided for summary in summaries)
    checks = [check.verify for check in file_checks(run) if check.verify]
    findings = sum(check.mismatches for check in checks)
    if findings:
        found.append(
            f"WRONG FILES: {plural(findings, 'finding')} in the whole-file check; all phases of these "
            "repetitions are void."
        )
    wrong = sum(summary.verify.wrong_bytes for summary in summaries if summary.verify)
    if wrong:
        found.append(
            f"WRONG DATA: {format_bytes_rounded(wrong)} of the read data differs from the written data."
        )
    not_as_made = _wrong_metadata(summaries)
    if not_as_made:
        found.append(f"WRONG METADATA: {not_as_made} items differ from what was created.")
    if voided:
        found.append(f"{plural(voided, 'sample')} void because a check failed; excluded from all statistics.")
    if run.errors:
        first = run.errors[0]
        case = f"case {first.case}" if first.case is not None else "the run"
        where = ", ".join(part for part in (case, error_place(first)) if part)
        kinds = "" if len(run.errors) == 1 else "The first: "
        found.append(f"{error_count(run.errors)}. {kinds}{error_text(first)} ({where}).")
        found += given_up(run)
    for comparison in comparisons:
        if comparison.verdict == "different data":
            names = ", ".join(f"{case.interface_name} (case {case.number})" for case in comparison.cases)
            found.append(
                f"The same {comparison.operation} returned different data through {names}: see the digests."
            )
    found += [_value_problem(one, one.first) for one in values if one.first is not None]
    return found


def _value_problem(comparison: ValueComparison, first: ValueDifference) -> str:
    """Returns a sentence on values that differ between interfaces."""
    by_number = {case.number: case.interface_name for case in comparison.cases}
    found = " and ".join(
        f"{value:08x} through {by_number[case]} (case {case})" for case, value in first.found.items()
    )
    return (
        f"WRONG VALUES: {comparison.different} of {plural(comparison.requests, 'request')} of the same "
        f"{comparison.operation} have different values. The first: rank {first.rank}, request "
        f"{first.request}, offset {first.offset}, repetition {first.repetition + 1}: the {first.which} "
        f"value is {found}."
    )


def _wrong_metadata(summaries: Sequence[OperationSummary]) -> int:
    """Returns the number of wrong results of metadata operations."""
    return sum(s.verify.mismatches for s in summaries if s.verify and s.case.is_metadata)


def planned_operations(run: Run) -> int:
    """Returns the number of operations of all cases."""
    return sum(len(set(case.operations)) for case in run.cases.values())


def missing_operations(run: Run, summaries: Sequence[OperationSummary]) -> int:
    """Returns the number of planned operations without a valid sample."""
    return planned_operations(run) - sum(summary.n > 0 for summary in summaries)


def format_rate_of(summary: OperationSummary, rate: float | None) -> str:
    """Formats a rate without unit: three digits for bytes, digit groups for operations."""
    if summary.rate_unit == "MiB/s" or rate is None or rate != rate:
        return significant(rate)
    return grouped(rate)


def metadata_check_line(summaries: Sequence[OperationSummary]) -> str:
    """Returns the result of metadata verification; empty if nothing was verified."""
    checked = [summary for summary in summaries if summary.case.is_metadata and summary.verify]
    if not checked:
        return ""
    return f"Metadata verified: all completed operations, {_wrong_metadata(checked)} wrong."


def verification_line(run: Run, summaries: Sequence[OperationSummary]) -> str:
    """Returns the result of data verification; empty if nothing was read."""
    of_data = [summary for summary in summaries if not summary.case.is_metadata]
    files = [check.verify for check in file_checks(run) if check.verify]
    checks: list[Verify | VerifySummary] = [*(one.verify for one in of_data if one.verify), *files]
    if not checks and not any("read" in summary.operation for summary in of_data):
        return ""
    checked = sum(check.checked_bytes for check in checks)
    if not checked:
        return "Data not verified."
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
    """Returns whether interfaces read the same data; empty if no cases are comparable."""
    comparable = [one for one in comparisons if one.verdict != "not comparable"]
    same = sum(one.verdict == "same data" for one in comparable)
    if not comparable:
        return ""
    names = ", ".join(dict.fromkeys(case.interface_name for one in comparable for case in one.cases))
    result = "all" if same == len(comparable) else f"only {same}"
    reads = plural(len(comparable), "read")
    return f"{reads} of the same data through {names} compared by digest: {result} agree."


def value_line(comparisons: Sequence[ValueComparison]) -> str:
    """Returns whether interfaces read the same values; empty if no cases are comparable."""
    comparable = [one for one in comparisons if one.verdict != "not comparable"]
    requests = sum(one.requests for one in comparable)
    if not requests:
        return ""
    different = sum(one.different for one in comparable)
    names = ", ".join(dict.fromkeys(case.interface_name for one in comparable for case in one.cases))
    result = "all equal" if not different else f"{different} different"
    return (
        f"First, middle and last value of {plural(requests, 'request')} compared between {names}: {result}."
    )


def readable_key(key: str) -> str:
    """Returns a JSON key as a label: `memory_bytes` is `memory`, `clock_error_s` is `clock error`."""
    return re.sub(r"_(bytes|s|ns)$", "", key).replace("_", " ")
