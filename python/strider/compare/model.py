"""The result of a comparison, as plain values: nothing in it knows of terminals or pages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from strider.compare.metrics import Metric
from strider.statistics import Distribution, Ratio
from strider.statistics.distribution import LEVEL
from strider.statistics.trust import Trust, is_trusted
from strider.store.case import Case

Verdict = Literal["faster", "slower", "no difference shown", "no verdict", "not comparable"]
VERDICTS: tuple[Verdict, ...] = ("slower", "faster", "no difference shown", "no verdict", "not comparable")

Method = Literal["paired by round", "paired by run", "by history", "unpaired", "unpaired by run"]
"""The compared samples: repetitions of one round of one run, runs that were taken alternately, two single
runs with earlier runs of the same work as the measure of chance, or two independent sets of repetitions or of
runs."""


@dataclass(frozen=True)
class Change:
    """How much the other side differs from the base.

    Attributes:
        ratio: Other ÷ base, of typical values (geometric means).
        low, high: The interval of the ratio.
        level: Its level: 0.95, or more where the row is named among many, so that the sizes of the named
            differences are covered (Benjamini and Yekutieli 2005).
        error: Standard error of the logarithm of the ratio.
        freedom: Degrees of freedom of the error.
        resolution: Width in logarithms of the steps that the measurements are rounded to; 0 for exact ones.
        p_value: Probability of so large a ratio where the true one is within the threshold; NaN without a
            verdict.
        p_adjusted: The same, adjusted for the number of rows (Benjamini and Hochberg); below 0.05 it is a
            difference.
        n: Number of pairs, of earlier runs, or of measurements of the smaller side.
    """

    ratio: float
    low: float
    high: float
    level: float
    error: float
    freedom: float
    resolution: float
    p_value: float
    p_adjusted: float
    method: Method
    n: int

    @classmethod
    def of(cls, ratio: Ratio, method: Method, n: int, p_value: float) -> Change:
        """A change with its 95 % interval."""
        low, high = ratio.interval()
        return cls(
            ratio=math.exp(float(ratio.log)),
            low=float(low),
            high=float(high),
            level=LEVEL,
            error=float(ratio.error),
            freedom=float(ratio.freedom),
            resolution=ratio.resolution,
            p_value=p_value,
            p_adjusted=p_value,
            method=method,
            n=n,
        )

    def at(self, level: float) -> Change:
        """The same with the interval at another level."""
        import numpy as np

        log = np.asarray(math.log(self.ratio))
        ratio = Ratio(log, np.asarray(self.error), np.asarray(self.freedom), self.resolution)
        low, high = ratio.interval(level)
        return replace(self, low=float(low), high=float(high), level=level)


@dataclass(frozen=True)
class Measured:
    """The measurements of one side of a row.

    Attributes:
        case: The case in its plan.
        label: Which side: `A`, `B`, or of a comparison within a run the value, such as `mpiio`.
        distribution: Of its measurements: repetitions, or of several runs the typical value of each.
        typical: Their geometric mean.
        samples: Number of repetitions that count, of all runs.
    """

    case: Case
    label: str
    distribution: Distribution | None
    typical: float | None
    samples: int


@dataclass(frozen=True)
class Row:
    """One operation of one case on both sides, in one metric.

    Attributes:
        labels: What distinguishes the row: `interface`, `pattern`, `transfer`, `clients`, `operation`.
        base: None where the base has nothing like it; `other` likewise.
        change: None where there is nothing to compare.
        verdict: Of the other side as against the base.
        reason: Why it cannot be compared, or has no verdict; empty where it has one.
        notes: What else a reader of this row must know.
        trust: How far the comparison can be trusted; None where nothing was compared. Only A and B get
            verdicts.
        has_failed: Whether the other side transferred nothing in some repetitions: a failure, not a rate.
        is_short: Whether all repetitions of a side are too short for a rate.
        logs: Logarithm of other ÷ base of each pair, by round or by number of the pair of runs; empty without
            pairs.
    """

    labels: Mapping[str, str]
    operation: str
    metric: Metric
    base: Measured | None
    other: Measured | None
    change: Change | None
    verdict: Verdict
    reason: str = ""
    notes: Sequence[str] = ()
    trust: Trust | None = None
    has_failed: bool = False
    is_short: bool = False
    logs: Mapping[int, float] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """Unit of both sides' values."""
        side = self.base or self.other
        return self.metric.unit_of(side.case) if side else self.metric.unit


@dataclass(frozen=True)
class Overall:
    """How much the whole suite differs: the mean of all rows' logarithms, one value for each pair.

    Attributes:
        base, other: Labels of the sides.
        rows: Number of rows in it: those with a verdict that have all pairs.
        change: Its ratio; `n` is the number of pairs.
        verdict: As of a row.
        trust: As of a row.
    """

    base: str
    other: str
    metric: Metric
    rows: int
    change: Change
    verdict: Verdict
    trust: Trust


@dataclass(frozen=True)
class Side:
    """One side of a comparison, or one of several values that are compared with the first.

    Attributes:
        runs: Ids of its runs.
        about: Where and when they were taken, in a line.
    """

    label: str
    runs: Sequence[str]
    about: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A comparison of two sides, or of some values of a key with the first of them.

    Attributes:
        sides: The base first.
        by: The key of a comparison within a run; empty for two sides of runs.
        threshold: Smallest ratio that is a difference, as a share: 0.05 for 5 %.
        rows: In the order of the plan.
        remarks: Information needed to judge all of it, in sentences.
        constants: Parameters that all rows have in common, name and value.
        overall: The whole suite, for each metric and each other side; empty where it cannot be known.
    """

    sides: Sequence[Side]
    by: str
    threshold: float
    metrics: Sequence[Metric]
    rows: Sequence[Row]
    remarks: Sequence[str]
    constants: Sequence[tuple[str, str]]
    overall: Sequence[Overall] = ()

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """Number of rows by verdict."""
        found = Counter(row.verdict for row in self.rows)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def compared(self) -> int:
        """Number of rows that could be compared, with a verdict or without."""
        return sum(row.change is not None for row in self.rows)

    @property
    def judged(self) -> int:
        """Number of rows with a verdict."""
        return sum(is_trusted(row.trust) for row in self.rows)


def is_unproven(row: Row, threshold: float) -> bool:
    """Whether it is not shown that the other side is slower by less than the threshold.

    It is shown where the whole interval says so; a row without a verdict shows nothing.
    """
    if row.change is None or not is_trusted(row.trust):
        return True
    if row.metric.better == "higher":
        return row.change.low < 1 / (1 + threshold)
    return row.change.high > 1 + threshold
