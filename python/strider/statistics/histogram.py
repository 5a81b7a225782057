"""Latency histograms as the engine writes them: merged by adding counts, asked for percentiles.

Scheme `loglinear-7`: values are whole nanoseconds. A value v < 128 has bucket v of its own; above, each power
of two is cut into 128 equal buckets: with e = floor(log2 v), bucket (e - 6) * 128 + ((v >> (e - 7)) & 127). A
bucket stands for its midpoint, so a value read back is wrong by at most 1/256 (0.4 %).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from strider.errors import StriderError
from strider.store.model import Histogram

SCHEME = "loglinear-7"
_SUB_BITS = 7
_SUB_BUCKETS = 1 << _SUB_BITS
#: Width of a bucket in logarithms, at most. Percentiles are midpoints of buckets; the mean and the extremes
#: are counted exactly.
BUCKET_WIDTH = 1 / _SUB_BUCKETS


def bucket_of(nanoseconds: int) -> int:
    """Index of the bucket that counts a value (whole nanoseconds, from 0)."""
    if nanoseconds < _SUB_BUCKETS:
        return nanoseconds
    exponent = nanoseconds.bit_length() - 1
    within = (nanoseconds >> (exponent - _SUB_BITS)) & (_SUB_BUCKETS - 1)
    return (exponent - _SUB_BITS + 1) * _SUB_BUCKETS + within


def midpoint_ns(bucket: int) -> float:
    """The value that a bucket stands for, nanoseconds."""
    if bucket < _SUB_BUCKETS:
        return float(bucket)
    shift = bucket // _SUB_BUCKETS - 1
    lowest = (_SUB_BUCKETS + bucket % _SUB_BUCKETS) << shift
    return lowest + ((1 << shift) - 1) / 2


@dataclass(frozen=True)
class LatencyDistribution:
    """Latencies of many requests, over ranks and repetitions.

    Attributes:
        counts: Number of requests by bucket.
    """

    counts: Mapping[int, int]

    @property
    def count(self) -> int:
        """Number of requests."""
        return sum(self.counts.values())

    def percentile_s(self, share: float) -> float:
        """The smallest latency that at least a share of the requests did not exceed.

        Args:
            share: Between 0 and 1; 0.99 for the 99th percentile.

        Returns:
            Seconds, to within 1/256; NaN without requests.
        """
        return self.percentiles_s([share])[0]

    def percentiles_s(self, shares: Sequence[float]) -> list[float]:
        """The percentiles of several shares, as by `percentile_s`."""
        buckets = sorted(self.counts)
        seen = list(accumulate(self.counts[bucket] for bucket in buckets))
        if not seen:
            return [float("nan")] * len(shares)
        # A little less is wanted, so that 0.07 × 100 is 7, not 7.000000000000001.
        wanted = [share * seen[-1] * (1 - 1e-12) for share in shares]
        return [midpoint_ns(buckets[bisect_left(seen, one)]) * 1e-9 for one in wanted]


def merge(histograms: Iterable[Histogram]) -> LatencyDistribution:
    """Adds histograms up.

    Raises:
        StriderError: A histogram has a scheme or unit that this Strider cannot read.
    """
    counts: Counter[int] = Counter()
    for histogram in histograms:
        if (histogram.scheme, histogram.unit) != (SCHEME, "ns"):
            raise StriderError(
                f'latency histogram of scheme "{histogram.scheme}" in {histogram.unit}, '
                f'but this Strider reads "{SCHEME}" in ns: '
                "use the Strider that wrote the run, or a newer one"
            )
        for bucket, count in histogram.buckets:
            counts[bucket] += count
    return LatencyDistribution(counts)
