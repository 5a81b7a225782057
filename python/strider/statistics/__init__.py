"""Numbers one can defend: what a run says about each operation, with its spread and its uncertainty."""

from strider.statistics.digest import DigestComparison, compare_digests
from strider.statistics.distribution import Distribution, Interval, describe
from strider.statistics.overlap import Overlap, overlaps
from strider.statistics.summary import CallSummary, OperationSummary, summarize

__all__ = [
    "CallSummary",
    "DigestComparison",
    "Distribution",
    "Interval",
    "OperationSummary",
    "Overlap",
    "compare_digests",
    "describe",
    "overlaps",
    "summarize",
]
