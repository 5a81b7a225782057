"""Ratios of two sets of rates: textbook values, symmetry, and no more certainty than there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from strider.statistics import adjust, paired_ratio, ratio_by_history, unpaired_ratio

RATES = st.lists(st.floats(min_value=0.1, max_value=1e5), min_size=3, max_size=8)
BASE = [100.0, 104.0, 98.0, 101.0, 99.0]
OTHER = [90.0, 95.0, 93.0, 88.0, 91.0, 97.0]


def test_paired_measurements_are_students_test_of_their_logarithms() -> None:
    ratio = paired_ratio(BASE, OTHER[:5])
    expected = stats.ttest_rel(np.log(OTHER[:5]), np.log(BASE))
    assert float(ratio.p_value()) == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert [float(end) for end in ratio.interval()] == pytest.approx(
        [np.exp(interval.low), np.exp(interval.high)]
    )


def test_independent_measurements_are_welchs_test_of_their_logarithms() -> None:
    ratio = unpaired_ratio(BASE, OTHER)
    expected = stats.ttest_ind(np.log(OTHER), np.log(BASE), equal_var=False)
    assert float(ratio.p_value()) == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert [float(end) for end in ratio.interval()] == pytest.approx(
        [np.exp(interval.low), np.exp(interval.high)]
    )


@pytest.mark.parametrize("compare", [paired_ratio, unpaired_ratio])
@given(base=RATES, seed=st.integers(0, 1000))
# proves comparing: either-base
def test_exchanged_sides_give_the_inverse(compare: type, base: list[float], seed: int) -> None:
    other = (np.array(base) * np.random.default_rng(seed).lognormal(0, 0.1, len(base))).tolist()
    there, back = compare(base, other), compare(other, base)
    low, high = there.interval()
    assert np.exp(float(there.log)) == pytest.approx(1 / np.exp(float(back.log)))
    assert [float(1 / high), float(1 / low)] == pytest.approx([float(end) for end in back.interval()])
    assert float(there.p_value()) == pytest.approx(float(back.p_value()))


@pytest.mark.parametrize("compare", [paired_ratio, unpaired_ratio])
# proves comparing: either-base
def test_durations_and_rates_say_the_same(compare: type) -> None:
    base, other = np.array(BASE), np.array(OTHER[:5])
    assert float(compare(base, other).p_value()) == pytest.approx(
        float(compare(1 / base, 1 / other).p_value())
    )


@given(st.floats(min_value=0.5, max_value=2.0))
def test_the_interval_and_the_p_value_agree_about_the_threshold(factor: float) -> None:
    ratio = unpaired_ratio(BASE, [factor * rate for rate in OTHER])
    low, high = (float(end) for end in ratio.interval())
    for threshold in (0.0, 0.05, 0.2):
        beyond = low > 1 + threshold or high < 1 / (1 + threshold)
        assert (float(ratio.p_value(threshold)) < 0.05) == beyond


def test_what_pairs_have_in_common_does_not_widen_the_interval() -> None:
    drift = np.linspace(1, 3, len(BASE))
    still, drifting = paired_ratio(BASE, OTHER[:5]), paired_ratio(BASE * drift, OTHER[:5] * drift)
    assert float(drifting.error) == pytest.approx(float(still.error))


def test_equal_measurements_do_not_differ_and_unequal_constants_do() -> None:
    assert float(unpaired_ratio([5.0] * 3, [5.0] * 4).p_value()) == 1
    assert float(paired_ratio(BASE, BASE).p_value()) == 1
    assert float(unpaired_ratio([5.0] * 3, [6.0] * 4).p_value()) == 0
    assert float(unpaired_ratio([5.0] * 3, [6.0] * 4).p_value(threshold=0.5)) == 1


def test_many_ratios_are_computed_at_once() -> None:
    rng = np.random.default_rng(1)
    base, other = rng.lognormal(0, 0.1, (4, 3, 6)), rng.lognormal(0, 0.1, (4, 3, 6))
    for compare in (paired_ratio, unpaired_ratio):
        together = compare(base, other)
        alone = compare(base[2, 1], other[2, 1])
        assert together.p_value().shape == (4, 3)
        assert together.p_value()[2, 1] == pytest.approx(float(alone.p_value()))
        assert together.interval()[0][2, 1] == pytest.approx(float(alone.interval()[0]))


@given(st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=30))
# proves comparing: verdict
def test_p_values_are_adjusted_as_benjamini_and_hochberg_say(p_values: list[float]) -> None:
    adjusted = adjust(p_values)
    assert adjusted.tolist() == pytest.approx(stats.false_discovery_control(p_values).tolist())


def test_a_single_p_value_needs_no_adjustment() -> None:
    assert adjust([0.03]).tolist() == [0.03]


@given(st.floats(min_value=0.2, max_value=5.0), st.sampled_from([0.0, 0.05, 0.5]))
def test_exchanged_sides_are_as_far_from_the_threshold(factor: float, threshold: float) -> None:
    """1 - 0.05 is nearer to 1 than 1 + 0.05 on a scale of ratios."""
    sides = BASE, [factor * rate for rate in OTHER]
    there, back = unpaired_ratio(sides[0], sides[1]), unpaired_ratio(sides[1], sides[0])
    one, two = (float(ratio.p_value(threshold)) for ratio in (there, back))
    assert one == pytest.approx(two, rel=1e-6, abs=1e-12)


# proves comparing: variance-of-earlier
def test_two_runs_are_judged_by_the_variance_of_earlier_ones() -> None:
    past = np.exp([0.01, -0.02, 0.03, 0.0, -0.02, 0.01])
    ratio = ratio_by_history(100.0, 90.0, past)
    v = np.var(np.log(past), ddof=1)
    expected = 2 * stats.t.sf(abs(np.log(0.9)) / np.sqrt(2 * v), 5)
    assert float(ratio.p_value()) == pytest.approx(expected)
    assert float(ratio.freedom) == 5


def test_two_runs_of_an_unchanged_system_differ_in_5_of_100_cases() -> None:
    rng = np.random.default_rng(2)
    found = [
        float(ratio_by_history(base, other, np.exp(rng.normal(0, 0.03, 6))).p_value())
        for base, other in np.exp(rng.normal(0, 0.03, (4000, 2)))
    ]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.05, abs=0.012)


@pytest.mark.parametrize("n", [3, 12])
def test_rounded_values_are_no_more_certain_than_their_steps(n: int) -> None:
    """All in one step: their spread of 0 is that of the rounding, also in many repetitions."""
    step = 1 / 128
    for ratio in (
        paired_ratio([1.0] * n, [np.exp(step)] * n, step),
        unpaired_ratio([1.0] * n, [np.exp(step)] * n, step),
    ):
        assert float(ratio.p_value()) > 0.99
        assert float(ratio.error) == pytest.approx(step * np.sqrt(2 / 12 / n))
        low, high = (float(end) for end in ratio.interval())
        assert low < 1 < np.exp(2 * step) < high
