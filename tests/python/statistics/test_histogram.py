"""Merged latency histograms answer for percentiles of all the requests in them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strider.errors import StriderError
from strider.statistics.histogram import SCHEME, bucket_of, merge, midpoint_ns
from strider.store.model import Histogram

LATENCIES_NS = st.integers(min_value=1, max_value=2**44)


def histogram(values_ns: list[int]) -> Histogram:
    buckets: dict[int, int] = {}
    for value in values_ns:
        buckets[bucket_of(value)] = buckets.get(bucket_of(value), 0) + 1
    return Histogram(scheme=SCHEME, unit="ns", buckets=list(buckets.items()))


@pytest.mark.parametrize(
    ("nanoseconds", "bucket"),
    [(0, 0), (127, 127), (128, 128), (255, 255), (256, 256), (257, 256), (258, 257), (511, 383), (512, 384)],
)
def test_buckets_are_numbered_as_the_formats_say(nanoseconds: int, bucket: int) -> None:
    assert bucket_of(nanoseconds) == bucket


@given(LATENCIES_NS)
def test_a_value_read_back_is_right_to_one_part_in_256(nanoseconds: int) -> None:
    assert abs(midpoint_ns(bucket_of(nanoseconds)) - nanoseconds) <= nanoseconds / 256


@given(LATENCIES_NS, LATENCIES_NS)
def test_larger_values_never_have_smaller_buckets(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert bucket_of(low) <= bucket_of(high)


@given(st.lists(LATENCIES_NS, max_size=50), st.lists(LATENCIES_NS, max_size=50))
def test_merging_gives_the_histogram_of_all_values(one: list[int], other: list[int]) -> None:
    assert merge([histogram(one), histogram(other)]).counts == merge([histogram(one + other)]).counts


@given(st.lists(LATENCIES_NS, min_size=1, max_size=300), st.sampled_from([0.07, 0.5, 0.9, 0.99, 0.999, 1.0]))
def test_percentiles_are_those_of_the_values_to_within_one_percent(values: list[int], share: float) -> None:
    found = merge([histogram(values)]).percentile_s(share) * 1e9
    exact = float(np.quantile(np.array(values, dtype=float), share, method="inverted_cdf"))
    assert abs(found - exact) <= 0.01 * exact


def test_without_requests_there_is_no_percentile() -> None:
    assert np.isnan(merge([]).percentile_s(0.5))


def test_an_unknown_scheme_is_refused_by_name() -> None:
    with pytest.raises(StriderError, match='scheme "linear-3" in ns'):
        merge([Histogram(scheme="linear-3", unit="ns", buckets=[(1, 1)])])
