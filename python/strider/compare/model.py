"""The result of a comparison, as plain values: nothing in it knows of terminals or pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from strider.compare.metrics import Metric
from strider.statistics import Distribution
from strider.store.case import Case

Verdict = Literal["faster", "slower", "no difference shown", "not comparable"]
VERDICTS: tuple[Verdict, ...] = ("slower", "faster", "no difference shown", "not comparable")

Method = Literal["paired by round", "paired by run", "unpaired", "unpaired by run"]
"""What was set against what: repetitions of one round of one run, runs that were taken in turns, or two
independent sets of repetitions or of runs."""


@dataclass(frozen=True)
class Change:
    """How much the other side differs from the base.

    Attributes:
        ratio: Other ÷ base, of typical values (geometric means).
        low, high: The 95 % interval of the ratio, of this row alone.
        freedom: Degrees of freedom of the interval.
        p_value: Probability of so large a ratio where the true one is within the threshold.
        p_adjusted: The same, adjusted for the number of rows (Benjamini and Hochberg); below 0.05 it is a
            difference.
        n: Number of pairs, or of measurements of the smaller side.
    """

    ratio: float
    low: float
    high: float
    freedom: float
    p_value: float
    p_adjusted: float
    method: Method
    n: int


@dataclass(frozen=True)
class Measured:
    """What was measured on one side of a row.

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
        reason: Why it cannot be compared; empty where it can.
        notes: What else a reader of this row must know.
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

    @property
    def unit(self) -> str:
        """Unit of both sides' values."""
        side = self.base or self.other
        return self.metric.unit_of(side.case) if side else self.metric.unit


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


@dataclass(frozen=True)
class Comparison:
    """A comparison of two sides, or of some values of a key with the first of them.

    Attributes:
        sides: The base first.
        by: The key of a comparison within a run; empty for two sides of runs.
        threshold: Smallest ratio that is a difference, as a share: 0.05 for 5 %.
        rows: In the order of the plan.
        remarks: What a reader must know to judge all of it, in sentences.
        constants: What all rows have in common, name and value.
    """

    sides: Sequence[Side]
    by: str
    threshold: float
    metrics: Sequence[Metric]
    rows: Sequence[Row]
    remarks: Sequence[str]
    constants: Sequence[tuple[str, str]]

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """Number of rows by verdict."""
        found = Counter(row.verdict for row in self.rows)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def compared(self) -> int:
        """Number of rows that could be compared."""
        return sum(row.change is not None for row in self.rows)


def is_unproven(row: Row, threshold: float) -> bool:
    """Whether it is not shown that the other side is slower by less than the threshold.

    It is shown where the whole 95 % interval says so; a row that cannot be compared shows nothing.
    """
    if row.change is None:
        return True
    if row.metric.better == "higher":
        return row.change.low < 1 - threshold
    return row.change.high > 1 + threshold
