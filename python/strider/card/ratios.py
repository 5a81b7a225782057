"""Ratios of a card: two cases of the same rounds, divided."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from strider.card.model import POSIX, SAME, PlaceFacts, RatioLine
from strider.statistics import MINIMUM_FOR_RATIO, OperationSummary, paired_ratio


@dataclass(frozen=True)
class _Pair:
    """Two cases to divide: the upper by the lower one."""

    id: str
    row: str
    what: str
    upper: _Key
    lower: _Key


@dataclass(frozen=True)
class _Key:
    case: str
    operation: str
    interface: str = POSIX
    sharing: str = ""
    is_one: bool = False


def _clients(row: str, interface: str, upper: tuple[str, bool], lower: tuple[str, bool]) -> list[_Pair]:
    """Pairs of sharing, and whether there is one client."""
    return [
        _Pair(
            f"{row}.{operation}",
            row,
            operation,
            _Key("clients", operation, interface, sharing=upper[0], is_one=upper[1]),
            _Key("clients", operation, interface, sharing=lower[0], is_one=lower[1]),
        )
        for operation in ("write", "read")
    ]


def _interfaces(row: str, names: dict[str, str]) -> list[_Pair]:
    return [
        _Pair(f"{row}.{name}", row, words, _Key(row, "write", name), _Key(row, "write"))
        for name, words in names.items()
    ]


def _pairs(place: PlaceFacts) -> Iterator[_Pair]:
    yield from _clients("clients", place.interface, ("per-rank", False), ("per-rank", True))
    yield from _clients("shared", place.interface, ("shared", False), ("per-rank", False))
    yield from _interfaces("pieces", {"mpiio": "MPI-IO", "listio": "list I/O"})
    yield from _interfaces("large", {"mpiio": "MPI-IO", "uring": "io_uring"})
    for case, words in (("large", "1 MiB"), ("pieces", "pieces")):
        # List I/O has its place among the pieces already.
        if place.native and (case, place.native) != ("pieces", "listio"):
            upper = _Key(case, "write", place.native)
            yield _Pair(f"native.{case}", "native", words, upper, _Key(case, "write"))


def ratios_of(summaries: Sequence[OperationSummary], place: PlaceFacts) -> Iterator[RatioLine]:
    """Returns the ratios that a run has."""
    for pair in _pairs(place):
        upper, lower = _find(summaries, pair.upper), _find(summaries, pair.lower)
        if upper and lower and not (upper.errors or lower.errors or upper.voided or lower.voided):
            ratio = ratio_of(pair, _by_repetition(lower), _by_repetition(upper))
            if ratio:
                yield ratio


def _find(summaries: Sequence[OperationSummary], key: _Key) -> OperationSummary | None:
    return next(
        (
            summary
            for summary in summaries
            if summary.case.name == key.case
            and summary.operation == key.operation
            and summary.case.interface_name == key.interface
            and (not key.sharing or summary.case.sharing == key.sharing)
            and (not key.sharing or (summary.case.clients == 1) is key.is_one)
        ),
        None,
    )


def _by_repetition(summary: OperationSummary) -> dict[int, float]:
    return {
        sample.repetition: rate
        for sample, rate in zip(summary.samples, summary.rates, strict=True)
        if math.isfinite(rate) and rate > 0
    }


def ratio_of(pair: _Pair, lower: dict[int, float], upper: dict[int, float]) -> RatioLine | None:
    """Returns the ratio of two cases, paired by round; None without a common round."""
    common = sorted(lower.keys() & upper.keys())
    if not common:
        return None
    logs = [math.log(upper[number] / lower[number]) for number in common]
    value = math.exp(sum(logs) / len(logs))
    low = high = None
    if len(common) >= MINIMUM_FOR_RATIO:
        ratio = paired_ratio([lower[number] for number in common], [upper[number] for number in common])
        low, high = map(float, ratio.interval())
    return RatioLine(
        id=pair.id,
        row=pair.row,
        what=pair.what,
        value=value,
        low=low,
        high=high,
        pairs=len(common),
        word=word_of(low, high),
    )


def word_of(low: float | None, high: float | None) -> str | None:
    """Returns the word for a ratio: none if its interval reaches both sides of a difference of 10 %."""
    if low is None or high is None:
        return None
    if low > SAME:
        return "faster"
    if high < 1 / SAME:
        return "slower"
    return "same" if low > 1 / SAME and high < SAME else None
