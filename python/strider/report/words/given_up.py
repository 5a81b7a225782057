"""Cases that were ended early: an error ends its case, not the run."""

from __future__ import annotations

from strider.store.case import Case
from strider.store.model import ErrorRow, Run

MOST_SENTENCES = 5
_ENDING = ("io", "plan")
"""Kinds of errors that end their case at once (docs/formats.md, section 3)."""


def given_up(run: Run) -> list[str]:
    """Returns one sentence for each case that was ended early."""
    first: dict[int, ErrorRow] = {}
    for error in run.errors:
        if error.case is not None and error.case in run.cases and _ends(error, run.cases[error.case]):
            first.setdefault(error.case, error)
    found = [
        f"Case {number} was ended after {_where(error)}: its remaining phases were not measured."
        for number, error in first.items()
        if not _was_last(run.cases[number], error)
    ]
    more = len(found) - MOST_SENTENCES
    return [*found[:MOST_SENTENCES], *([f"{more} more ended early as well."] if more > 0 else [])]


def _ends(error: ErrorRow, case: Case) -> bool:
    return error.kind in _ENDING or (error.kind == "verify" and not case.is_metadata)


def _where(error: ErrorRow) -> str:
    operation = f"an error of {error.operation}" if error.operation else "an error"
    return operation if error.repetition is None else f"{operation} in repetition {error.repetition}"


def _was_last(case: Case, error: ErrorRow) -> bool:
    """Returns whether an error was in the last operation of the last repetition."""
    last = error.repetition == case.repetitions.get("max", 0) - 1
    return last and (error.kind == "verify" or error.operation == case.operations[-1])
