"""Numbers one can defend: the rate of each operation, with its spread and its uncertainty."""

from strider.statistics.counters import CounterSummary
from strider.statistics.digest import DigestComparison, compare_digests
from strider.statistics.distribution import Distribution, Interval, describe
from strider.statistics.last_in_phases import last_ranks, stragglers
from strider.statistics.levels import Levels, levels, resemblance
from strider.statistics.overlap import Overlap, overlaps
from strider.statistics.ratio import (
    MINIMUM_FOR_RATIO,
    Ratio,
    adjust,
    paired_ratio,
    ratio_by_history,
    simes,
    unpaired_ratio,
)
from strider.statistics.request_values import ValueComparison, ValueDifference, compare_values
from strider.statistics.spells import Spell, slow_spell
from strider.statistics.steadiness import Outlier, Trend, outliers, trends
from strider.statistics.stragglers import LastRank, Straggler, Uneven, uneven
from strider.statistics.summary import CallSummary, OperationSummary, file_checks, summarize
from strider.statistics.trust import Grade, Trust, grade_of, is_trusted

__all__ = [
    "MINIMUM_FOR_RATIO",
    "CallSummary",
    "CounterSummary",
    "DigestComparison",
    "Distribution",
    "Grade",
    "Interval",
    "LastRank",
    "Levels",
    "OperationSummary",
    "Outlier",
    "Overlap",
    "Ratio",
    "Spell",
    "Straggler",
    "Trend",
    "Trust",
    "Uneven",
    "ValueComparison",
    "ValueDifference",
    "adjust",
    "compare_digests",
    "compare_values",
    "describe",
    "file_checks",
    "grade_of",
    "is_trusted",
    "last_ranks",
    "levels",
    "outliers",
    "overlaps",
    "paired_ratio",
    "ratio_by_history",
    "resemblance",
    "simes",
    "slow_spell",
    "stragglers",
    "summarize",
    "trends",
    "uneven",
    "unpaired_ratio",
]
