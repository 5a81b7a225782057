"""What groups of ranks lose when they measure at the same time, beside each of them alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from strider.statistics.ratio import MINIMUM_FOR_RATIO, paired_ratio
from strider.statistics.summary import OperationSummary
from strider.store.case import Case, turns_of
from strider.store.model import Run, Sample


@dataclass(frozen=True)
class GroupEffect:
    """An operation of a group beside other groups, and the same alone.

    Attributes:
        alone: The operation alone, on the same ranks.
        together: The operation while the other groups measured.
        repetitions: Number of repetitions in which both have a sample.
        slowdown: Geometric mean over these of the rate alone ÷ the rate together; above 1: slower together.
        interval: The 95 % interval of `slowdown`; None with fewer than three repetitions.
        overlap: Smallest share, of all repetitions, of the time of the operation in which every other group
            measured, 0 to 1.
    """

    alone: OperationSummary
    together: OperationSummary
    repetitions: int
    slowdown: float
    interval: tuple[float, float] | None
    overlap: float


def group_effects(run: Run, summaries: Sequence[OperationSummary]) -> list[GroupEffect]:
    """The effect on each operation that groups have measured at the same time, in the order of the summaries.

    Args:
        run: The run.
        summaries: Of its operations.
    """
    by_key = {summary.key: summary for summary in summaries}
    spans = _spans(run)
    found = []
    for together in summaries:
        if not together.case.measured_together:
            continue
        alone = by_key.get((together.case.turn.get("alone", 0), together.operation))
        if alone is not None and (effect := _effect(alone, together, spans)):
            found.append(effect)
    return found


_Spans = dict[tuple[int, int], dict[int, list[tuple[float, float]]]]
"""By turn and repetition, for each case the times in which it measured, seconds."""


def _spans(run: Run) -> _Spans:
    times: defaultdict[tuple[int, int, int], list[tuple[float, float]]] = defaultdict(list)
    repetitions: defaultdict[int, set[int]] = defaultdict(set)
    for sample in run.samples:
        case = run.cases.get(sample.case) if sample.measured else None
        if case is not None and case.measured_together:
            repetitions[case.turn["number"]].add(sample.repetition)
            times[case.turn["number"], sample.repetition, case.number].append(_busy(sample, case))
    # A group without a sample has measured at no time.
    return {
        (turn, repetition): {number: times[turn, repetition, number] for number in members}
        for turn, members in turns_of(run.cases.values()).items()
        for repetition in repetitions[turn]
    }


def _busy(sample: Sample, case: Case) -> tuple[float, float]:
    """When a phase used the storage, its ramp included."""
    return sample.start_s, sample.start_s + _ramp(case) + sample.elapsed_s


def _counted(sample: Sample, case: Case) -> tuple[float, float]:
    """The time of which the rate is."""
    start_s = sample.start_s + _ramp(case)
    return start_s, start_s + sample.elapsed_s


def _ramp(case: Case) -> float:
    parameters = case.common_parameters
    return float(parameters.get("ramp") or 0) if parameters.get("runtime") else 0.0


def _effect(alone: OperationSummary, together: OperationSummary, spans: _Spans) -> GroupEffect | None:
    first = {sample.repetition: rate for sample, rate in zip(alone.samples, alone.rates, strict=True)}
    second = {
        sample.repetition: (sample, rate)
        for sample, rate in zip(together.samples, together.rates, strict=True)
        if sample.repetition in first and min(rate, first[sample.repetition]) > 0
    }
    if not second:
        return None
    base = [rate for _, rate in second.values()]
    other = [first[repetition] for repetition in second]
    interval = None
    if len(base) >= MINIMUM_FOR_RATIO:
        low, high = paired_ratio(base, other).interval()
        interval = (float(low), float(high))
    slowdown = geometric_mean([one / two for one, two in zip(other, base, strict=True)])
    turn = together.case.turn["number"]
    overlap = min(
        covered(_counted(sample, together.case), times)
        for repetition, (sample, _) in second.items()
        for number, times in spans[turn, repetition].items()
        if number != together.case.number
    )
    return GroupEffect(alone, together, len(base), slowdown, interval, overlap)


def covered(span: tuple[float, float], others: Sequence[tuple[float, float]]) -> float:
    """Share of a time that some other times, which do not overlap each other, cover, 0 to 1."""
    begin, end = span
    shared = sum(max(0.0, min(end, last) - max(begin, first)) for first, last in others)
    return shared / (end - begin) if end > begin else 0.0
