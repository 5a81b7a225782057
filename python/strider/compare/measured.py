"""Measurements of an operation by the runs of one side."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from strider.compare.metrics import Metric
from strider.compare.work import Item, items
from strider.statistics.trust import HARDLY_SERVED
from strider.store.model import Run, Sample

#: More earlier runs add hardly any information, and are older.
MOST_EARLIER = 20


@dataclass(frozen=True)
class Taken:
    """A run, its operations, and its samples and numbers of errors by case number and operation.

    Attributes:
        by_work: The operations by what defines their work.
    """

    run: Run
    items: Sequence[Item]
    by_work: Mapping[str, Sequence[Item]]
    samples: Mapping[tuple[int, str], Sequence[Sample]]
    errors: Mapping[tuple[int, str], int]

    @classmethod
    def of(cls, run: Run, items: Sequence[Item]) -> Taken:
        """Sorts the measurements of a run; warm-ups and preparation are left out."""
        samples: defaultdict[tuple[int, str], list[Sample]] = defaultdict(list)
        errors: defaultdict[tuple[int, str], int] = defaultdict(int)
        for sample in run.samples:
            if sample.measured and not sample.warmup:
                samples[sample.case, sample.operation].append(sample)
        for error in run.errors:
            if error.case is not None and error.operation is not None:
                errors[error.case, error.operation] += error.count
        by_work: defaultdict[str, list[Item]] = defaultdict(list)
        for item in items:
            by_work[item.key].append(item)
        return cls(run, items, by_work, samples, errors)

    def find(self, item: Item) -> Item | None:
        """The operation of this run that does the work of an item of another run of the same side."""
        same = self.by_work.get(item.key, [])
        named = [one for one in same if one.case.name == item.case.name]
        return next(iter(named or same), None)


def taken_of(runs: Sequence[Run]) -> list[Taken]:
    """What each of some runs has measured, with all of its operations."""
    return [Taken.of(run, items(list(run.cases.values()))) for run in runs]


@dataclass(frozen=True)
class Found:
    """The measurements of one side of a row.

    Attributes:
        by_run: For each run of the side the value of each repetition, by the repetition's number.
        problem: Why they must not be compared: void samples, errors, repetitions without any transfer, runs
            without them; else empty.
        zeros: Number of repetitions that transferred nothing.
        served: Of the reads that counters cover, the bytes that came from storage and all bytes.
        longest_s: The longest repetition; 0 without any.
    """

    by_run: Sequence[Mapping[int, float]]
    problem: str
    zeros: int = 0
    served: tuple[int, int] = (0, 0)
    longest_s: float = 0.0

    @property
    def is_cached(self) -> bool:
        """Whether counters show that a cache served the reads: their rate is one of memory."""
        from_storage, read = self.served
        return read > 0 and from_storage / read < HARDLY_SERVED

    @property
    def samples(self) -> int:
        """Number of repetitions that count, of all runs."""
        return sum(len(values) for values in self.by_run)

    @property
    def measurements(self) -> list[float]:
        """The repetitions of a single run; of several runs the geometric mean of each."""
        if len(self.by_run) == 1:
            return list(self.by_run[0].values())
        return [geometric_mean(values.values()) for values in self.by_run if values]


def find(side: Sequence[Taken], item: Item, metric: Metric) -> Found:
    """Gathers the values of a metric from all runs of a side.

    Args:
        side: The runs.
        item: An operation of the first of them.
        metric: The compared metric.
    """
    owns = [item if taken is side[0] else taken.find(item) for taken in side]
    found = [_of_run(taken, own, metric) for taken, own in zip(side, owns, strict=True)]
    zeros = sum(one.zeros for one in found)
    problems = [one.problem for one in found if one.problem]
    if zeros:
        repetitions = zeros + sum(one.samples for one in found)
        problems = [f"{zeros} of {repetitions} repetitions transferred nothing", *problems]
    served = (sum(one.served[0] for one in found), sum(one.served[1] for one in found))
    longest_s = max(one.longest_s for one in found)
    return Found([one.by_run[0] for one in found], problems[0] if problems else "", zeros, served, longest_s)


def past(earlier: Sequence[Taken], item: Item, metric: Metric, least_s: float = 0.0) -> list[float]:
    """The typical value of an operation in each earlier run that measured it without a problem.

    Args:
        earlier: The runs, in the order of time or against it.
        item: The operation.
        metric: The compared metric.
        least_s: A run counts only if it began so long before or after the run that counted last, seconds.
    """
    values: list[float] = []
    last_s = math.inf
    for taken in earlier:
        started_s = taken.run.info.started_s
        if len(values) == MOST_EARLIER or abs(last_s - started_s) < least_s:
            continue
        found = _of_run(taken, taken.find(item), metric)
        if not (found.problem or found.zeros):
            values.append(geometric_mean(found.measurements))
            last_s = started_s
    return values


def _of_run(taken: Taken, own: Item | None, metric: Metric) -> Found:
    if own is None:
        return Found([{}], f"not in run {taken.run.id}")
    key = (own.case.number, own.operation)
    samples = taken.samples.get(key, [])
    values = {sample.repetition: metric.value(own.case, sample) for sample in samples if sample.counts}
    known = {k: value for k, value in values.items() if math.isfinite(value) and value > 0}
    # A rate of 0 has no logarithm, and is the worst result of all.
    zeros = sum(value == 0 for value in values.values())
    void = sum(not sample.valid for sample in samples)
    errors = taken.errors.get(key, 0)
    problem = ""
    if void:
        problem = f"{void} of {len(samples)} samples void"
    elif errors:
        problem = f"{errors} {'error' if errors == 1 else 'errors'}"
    elif not samples:
        problem = "no sample"
    elif not known and not zeros:
        problem = f"{metric.name} was not measured"
    telling = [sample for sample in samples if sample.served_bytes is not None]
    served = (sum(one.served_bytes or 0 for one in telling), sum(one.bytes for one in telling))
    longest_s = max((sample.elapsed_s for sample in samples if sample.counts), default=0.0)
    return Found([known], problem, zeros, served, longest_s)
