"""File system calls beside the requests that they carry out, where the two differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strider.report.words.numbers import NOTHING, significant
from strider.report.words.wording import NO_STORAGE
from strider.statistics import CallSummary, OperationSummary

#: Tolerance for unrelated calls, for example of MPI over sockets.
_TELLING_SHARE = 0.01
#: Calls of a request that is neither split nor merged.
_CALLS_OF_REQUEST = {"read-modify-write": 2}

Cell = Callable[[OperationSummary], str]


def differ(summaries: Sequence[OperationSummary]) -> bool:
    """Returns whether any requests are split, merged or sieved before the file system."""
    return any(map(_differs, summaries))


def count_cell(quantity: str) -> Cell:
    """Formats a count of `CallSummary` per repetition as a whole number."""

    def cell(summary: OperationSummary) -> str:
        return f"{getattr(summary.calls, quantity):.0f}" if summary.calls else NOTHING

    return cell


def per_request(summary: OperationSummary) -> str:
    """Formats read and write calls ÷ requests."""
    calls = summary.calls
    return significant(_calls(calls) / calls.requests) if calls and calls.requests else NOTHING


def _calls(calls: CallSummary) -> float:
    return calls.read_calls + calls.write_calls


def _differs(summary: OperationSummary) -> bool:
    calls = summary.calls
    if calls is None or summary.case.interface_name == NO_STORAGE:
        return False
    expected = calls.requests * _CALLS_OF_REQUEST.get(summary.operation, 1)
    return abs(_calls(calls) - expected) > _TELLING_SHARE * expected
