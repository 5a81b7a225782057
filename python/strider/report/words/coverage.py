"""A sentence on results that cover only a part of the data of their pattern."""

from __future__ import annotations

from collections.abc import Sequence

from strider.report.words.wording import plural, result_in_words
from strider.statistics import OperationSummary
from strider.statistics.coverage import coverages
from strider.store.model import Run
from strider.units import format_bytes_rounded


def coverage_remark(run: Run, summaries: Sequence[OperationSummary]) -> str:
    """Returns how little results cover after a phase that time cut short; empty if all cover the pattern."""
    found = coverages(run, summaries)
    if not found:
        return ""
    least = min(found, key=lambda one: one.least_bytes / one.bytes)
    name = result_in_words(least.summary.case, least.summary.operation)
    amount = f"{format_bytes_rounded(least.least_bytes)} of {format_bytes_rounded(least.bytes)}"
    key = "runtime" if least.summary.case.common_parameters.get("runtime") else "deadline"
    verb = "covers" if len(found) == 1 else "cover"
    return (
        f"{plural(len(found), 'result')} {verb} only the data that all ranks completed in an earlier phase, "
        f"at the least {amount} ({name} after {least.cut}). Caches hold a part of the data more easily: "
        f"raise the {key}, or make the file smaller."
    )
