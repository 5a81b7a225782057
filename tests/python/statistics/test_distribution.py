"""A few repetitions are described with their spread, and an interval with the promised coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strider.statistics.distribution import (
    Distribution,
    confidence_interval,
    describe,
    repetitions_for,
    student_interval,
)

RATES = st.lists(st.floats(min_value=0.01, max_value=1e6), min_size=1, max_size=9)


# proves measuring: rate-of-result, summary-columns
def test_location_and_spread_are_the_textbook_ones() -> None:
    described = describe([100.0, 110.0, 150.0])
    assert described is not None
    assert (described.n, described.mean, described.median) == (3, 120.0, 110.0)
    assert described.centre == pytest.approx((100 * 110 * 150) ** (1 / 3))
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
def test_the_centre_lies_between_the_extremes_and_within_its_interval(rates: list[float]) -> None:
    described = describe(rates)
    assert described is not None
    slack = 1e-9 * described.maximum
    assert described.minimum - slack <= described.centre <= described.maximum + slack
    if described.interval is not None:
        assert described.interval.low - slack <= described.centre <= described.interval.high + slack


# proves measuring: interval-of-rate
def test_two_repetitions_are_too_few_for_an_interval() -> None:
    assert confidence_interval([1.0, 2.0]) is None


def test_the_interval_says_how_it_was_found() -> None:
    rng = np.random.default_rng(7)
    few, many = rng.normal(100, 5, 5).tolist(), rng.normal(100, 5, 60).tolist()
    methods = [found.method for values in (few, many, [4.0] * 5) if (found := confidence_interval(values))]
    assert methods == ["Student t", "BCa bootstrap", "all values equal"]


# proves measuring: interval-of-rate
def test_the_interval_of_three_values_is_students_on_logarithms() -> None:
    found = confidence_interval([90.0, 100.0, 90.0 * 100 / 81])
    assert found is not None
    factor = math.exp(4.302652729911275 * math.log(100 / 90) / math.sqrt(3))
    assert (found.low, found.high) == pytest.approx((100 / factor, 100 * factor))


def test_rates_and_durations_have_the_same_interval() -> None:
    rates = [80.0, 100.0, 140.0, 90.0]
    of_rates, of_durations = describe(rates), describe([1 / rate for rate in rates])
    assert of_rates is not None
    assert of_durations is not None
    assert of_rates.interval is not None
    assert of_durations.interval is not None
    assert of_rates.centre == pytest.approx(1 / of_durations.centre)
    assert of_rates.interval.low == pytest.approx(1 / of_durations.interval.high)
    assert of_rates.half_width == pytest.approx(of_durations.half_width)
    assert of_rates.half_width == pytest.approx(of_rates.interval.high / of_rates.centre - 1)


@pytest.mark.parametrize("half_width", [0.02, 0.05, 0.1])
def test_so_many_repetitions_of_the_same_spread_reach_the_half_width(half_width: float) -> None:
    """Repetitions alternate around their centre, so any number of them has nearly the same spread."""

    def of(n: int) -> Distribution:
        found = describe([100 * math.exp(0.05 * (-1) ** k) for k in range(n)])
        assert found is not None
        return found

    n = repetitions_for(of(6), half_width)
    assert n is not None
    assert (of(n + 2).half_width or 1) <= half_width <= 1.35 * (of(max(3, n - 2)).half_width or 0)
    assert repetitions_for(of(2), half_width) is None


# proves measuring: rate-0
def test_a_rate_of_zero_is_counted_and_leaves_no_interval() -> None:
    found = describe([100.0, 0.0, 110.0, 105.0])
    assert found is not None
    assert (found.centre, found.zeros, found.interval, found.half_width) == (0.0, 1, None, None)


@pytest.mark.parametrize("n", [3, 5, 10, 30])
@pytest.mark.parametrize("variation", [0.03, 0.1, 0.3])
def test_intervals_of_lognormal_rates_hold_their_centre(n: int, variation: float) -> None:
    rates = np.random.default_rng(n).lognormal(3, variation, (20_000, n))
    low, high = student_interval(np.log(rates))
    assert 0.93 <= float(np.mean((low <= 3) & (high >= 3))) <= 0.97


def test_the_same_values_always_give_the_same_interval() -> None:
    values = np.random.default_rng(3).lognormal(3, 0.4, 15).tolist()
    assert confidence_interval(values) == confidence_interval(values)


@pytest.mark.parametrize("n", [3, 10, 49])
def test_intervals_of_many_sets_are_those_of_each(n: int) -> None:
    sets = np.random.default_rng(n).lognormal(3, 0.4, (5, n))
    lows, highs = student_interval(np.log(sets))
    for values, low, high in zip(sets, lows, highs, strict=True):
        found = confidence_interval(values.tolist())
        assert found is not None
        assert (found.low, found.high) == pytest.approx((np.exp(low), np.exp(high)))
