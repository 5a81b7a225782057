"""A few repetitions are described with their spread, and an interval that holds what it promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strider.statistics.distribution import confidence_interval, describe, student_interval

RATES = st.lists(st.floats(min_value=0.01, max_value=1e6), min_size=1, max_size=9)


def test_location_and_spread_are_the_textbook_ones() -> None:
    described = describe([100.0, 110.0, 150.0])
    assert described is not None
    assert (described.n, described.mean, described.median) == (3, 120.0, 110.0)
    assert (described.minimum, described.maximum) == (100.0, 150.0)
    assert described.deviation == pytest.approx(math.sqrt((20**2 + 10**2 + 30**2) / 2)), "ddof is 1"
    assert described.variation == pytest.approx(described.deviation / 120)


def test_what_was_not_measured_does_not_count() -> None:
    described = describe([math.nan, 5.0, math.inf])
    assert described is not None
    assert (described.n, described.mean) == (1, 5.0)
    assert describe([math.nan]) is None
    assert describe([]) is None


@given(RATES)
def test_the_mean_lies_between_the_extremes_and_within_its_interval(rates: list[float]) -> None:
    described = describe(rates)
    assert described is not None
    slack = 1e-9 * described.maximum
    assert described.minimum - slack <= described.mean <= described.maximum + slack
    if described.interval is not None:
        assert described.interval.low - slack <= described.mean <= described.interval.high + slack


def test_two_repetitions_are_too_few_for_an_interval() -> None:
    assert confidence_interval([1.0, 2.0]) is None


def test_the_interval_says_how_it_was_found() -> None:
    rng = np.random.default_rng(7)
    few, many = rng.normal(100, 5, 5).tolist(), rng.normal(100, 5, 60).tolist()
    methods = [found.method for values in (few, many, [4.0] * 5) if (found := confidence_interval(values))]
    assert methods == ["Student t", "BCa bootstrap", "all values equal"]


def test_the_interval_of_three_values_is_students() -> None:
    found = confidence_interval([90.0, 100.0, 110.0])
    assert found is not None
    half = 4.302652729911275 * 10 / math.sqrt(3)
    assert (found.low, found.high) == pytest.approx((100 - half, 100 + half))


def test_rates_are_never_negative_and_neither_are_intervals() -> None:
    found = confidence_interval([1.0, 1.0, 50.0])
    assert found is not None
    assert found.low == 0


def test_the_same_values_always_give_the_same_interval() -> None:
    values = np.random.default_rng(3).lognormal(3, 0.4, 15).tolist()
    assert confidence_interval(values) == confidence_interval(values)


@pytest.mark.parametrize("n", [3, 10, 49])
def test_intervals_of_many_sets_are_those_of_each(n: int) -> None:
    sets = np.random.default_rng(n).lognormal(3, 0.4, (5, n))
    lows, highs = student_interval(sets)
    for values, low, high in zip(sets, lows, highs, strict=True):
        found = confidence_interval(values.tolist())
        assert found is not None
        assert (found.low, found.high) == pytest.approx((max(0, low), high))
