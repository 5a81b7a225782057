"""The errors of a run, one per row."""

from __future__ import annotations

from strider.report.blocks import Block, Facts, Section, Text
from strider.report.results.results import Results
from strider.report.words.wording import error_place, error_text
from strider.store.model import ErrorRow

_MAXIMUM_ERRORS = 200
_HEADS = ("case", "kind", "message", "where", "more")


def _page(results: Results) -> list[Block]:
    errors = results.run.errors
    left_out = len(errors) - _MAXIMUM_ERRORS
    return [
        Facts("Errors", [_row(error) for error in errors[:_MAXIMUM_ERRORS]], _HEADS, bad=frozenset({2})),
        *([Text(f"… {left_out} more errors in the run directory.")] if left_out > 0 else []),
    ]


def _row(error: ErrorRow) -> list[str]:
    data = f"expected {error.expected}, found {error.found}" if error.expected is not None else ""
    kind = f"{error.kind}, {error.cause}" if error.cause else error.kind
    times = f"{error.count} times" if error.count > 1 else ""
    number = f"errno {error.errno}" if error.errno else ""
    more = "; ".join(part for part in (number, data, times, error.remedy or "") if part)
    return [_case(error), kind, error_text(error), error_place(error), more]


def _case(error: ErrorRow) -> str:
    """Returns case, operation and repetition if known; otherwise names the run."""
    if error.case is None:
        return "the run"
    repetition = f"repetition {error.repetition}" if error.repetition is not None else ""
    return ", ".join(part for part in (str(error.case), error.operation or "", repetition) if part)


SECTION = Section("errors", "Errors", _page, applies=lambda results: bool(results.run.errors))
