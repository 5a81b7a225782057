"""Ratios of a run beside published ones: two ways to do the same work, paired by repetition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from strider.report.results.references import ALL, PublishedRatio, Reference
from strider.statistics import OperationSummary
from strider.statistics.digest import workload_key
from strider.statistics.rule import interval_of
from strider.store.case import Case


@dataclass(frozen=True)
class MeasuredRatio:
    """A ratio of two cases in an operation.

    Attributes:
        published: The published ratio to compare with.
        base: The case in the denominator.
        other: The case in the numerator.
        operation: The operation; `all`: all operations together.
        n: Repetitions that both cases have.
        ratio: Geometric mean over these repetitions; None without any.
        interval: Its 95 % interval; None of fewer than three repetitions.
    """

    published: PublishedRatio
    base: Case
    other: Case
    operation: str
    n: int
    ratio: float | None
    interval: tuple[float, float] | None


def measured_ratios(summaries: Sequence[OperationSummary], reference: Reference) -> list[MeasuredRatio]:
    """Returns the ratios of a run that correspond to published ones, in the order of these."""
    cases = {summary.case.number: summary.case for summary in summaries}
    return [
        _measure(published, base, other, operation, summaries)
        for published in reference.ratio
        for base, other in _pairs(published, list(cases.values()))
        for operation in published.operations
        if _operations(summaries, base, operation) == _operations(summaries, other, operation) != set()
    ]


def _pairs(published: PublishedRatio, cases: Sequence[Case]) -> Iterator[tuple[Case, Case]]:
    """Yields the cases of a ratio that differ only in its parameter."""
    for base in filter(published.is_base, cases):
        for other in filter(published.is_other, cases):
            same_work = base.name == other.name and workload_key(base) == workload_key(other)
            if same_work and _has_same_options(published, base, other):
                yield base, other


def _has_same_options(published: PublishedRatio, base: Case, other: Case) -> bool:
    """Returns whether two cases of one interface have the same options, but for those of the ratio."""
    if base.interface_name != other.interface_name:
        return True
    named = {key.partition(".")[2] for key in published.base | published.other}
    options = base.interface.keys() | other.interface.keys()
    return all(base.interface.get(name) == other.interface.get(name) for name in options - named)


def _operations(summaries: Sequence[OperationSummary], case: Case, operation: str) -> set[str]:
    """Returns the measured operations of a case that a ratio of `operation` needs."""
    own = {s.operation for s in summaries if s.case.number == case.number and s.n}
    return own if operation == ALL else own & {operation}


def _measure(
    published: PublishedRatio,
    base: Case,
    other: Case,
    operation: str,
    summaries: Sequence[OperationSummary],
) -> MeasuredRatio:
    below, above = (_by_repetition(published, case, operation, summaries) for case in (base, other))
    ratios = [above[repetition] / below[repetition] for repetition in sorted(set(below) & set(above))]
    found = interval_of(ratios)
    centre = found[0] if found else _geometric_mean(ratios)
    return MeasuredRatio(
        published, base, other, operation, len(ratios), centre, (found[1], found[2]) if found else None
    )


def _geometric_mean(ratios: Sequence[float]) -> float | None:
    from statistics import geometric_mean

    return geometric_mean(ratios) if ratios and min(ratios) > 0 else None


def _by_repetition(
    published: PublishedRatio, case: Case, operation: str, summaries: Sequence[OperationSummary]
) -> dict[int, float]:
    """Returns the time or the rate of each repetition in which all operations are valid."""
    own = [s for s in summaries if s.case.number == case.number and operation in (s.operation, ALL)]
    repetitions = set.intersection(*({one.repetition for one in s.samples} for s in own))
    elapsed = dict.fromkeys(repetitions, 0.0)
    moved = dict.fromkeys(repetitions, 0.0)
    for sample in (sample for s in own for sample in s.samples if sample.repetition in repetitions):
        elapsed[sample.repetition] += sample.elapsed_s
        moved[sample.repetition] += sample.bytes
    if published.of == "time":
        return {repetition: time_s for repetition, time_s in elapsed.items() if time_s > 0}
    return {
        repetition: moved[repetition] / time_s
        for repetition, time_s in elapsed.items()
        if time_s > 0 and moved[repetition] > 0
    }
