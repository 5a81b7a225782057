"""The best of several results is not the luckiest one: neither its rate nor its name."""

from __future__ import annotations

import numpy as np
import pytest

from strider.statistics.best import best_of, critical_value


@pytest.mark.parametrize(
    ("k", "freedom", "table"), [(2, 10, 1.81), (5, 10, 2.47), (5, 20, 2.30), (10, 20, 2.60)]
)
# proves measuring: not-distinguishable
def test_critical_values_are_dunnetts(k: int, freedom: int, table: float) -> None:
    """One-sided, 5 %, equal numbers (Dunnett 1955, table 1a)."""
    assert critical_value(k, freedom) == pytest.approx(table, abs=0.015)


@pytest.mark.parametrize("k", [5, 15, 60])
# proves measuring: drawn-to-mean, excess, excess-headline, excess-best
def test_the_best_of_equal_results_has_no_bonus(k: int) -> None:
    """Five repetitions that vary by 5 %: the highest is 2 to 5 % too high, the headline less than 0.5 %."""
    rng = np.random.default_rng(k)
    experiments = rng.lognormal(0, 0.05, (150, k, 5))
    raw = np.log(experiments).mean(axis=2).max(axis=1)
    found = [best_of(one.tolist()) for one in experiments]
    assert raw.mean() > 0.02
    assert abs(np.mean([np.log(one.rate) for one in found])) < 0.005
    assert np.mean([0 in one.members for one in found]) >= 0.93


@pytest.mark.parametrize("k", [5, 15])
@pytest.mark.parametrize("spread", [0.02, 0.1])
def test_the_set_holds_the_best_where_results_differ(k: int, spread: float) -> None:
    rng = np.random.default_rng(k)
    held = []
    for _ in range(150):
        true = rng.normal(0, spread, k)
        noise = 0.05 * np.exp(rng.normal(0, 0.6, k))
        found = best_of(np.exp(true[:, None] + rng.normal(size=(k, 5)) * noise[:, None]).tolist())
        held.append(int(true.argmax()) in found.members)
    assert np.mean(held) >= 0.95


@pytest.mark.parametrize("k", [5, 15])
def test_the_best_of_different_results_has_no_bonus_either(k: int) -> None:
    """Where results differ as much as repetitions, the rate that leads is too high by some of its luck."""
    rng = np.random.default_rng(k)
    raw, found = [], []
    for _ in range(80):
        true = rng.normal(0, 0.08, k)
        rates = np.exp(true[:, None] + rng.normal(0, 0.08, (k, 5)))
        best = best_of(rates.tolist())
        raw.append(np.log(rates).mean(axis=1)[best.leader] - true[best.leader])
        found.append(np.log(best.rate) - true[best.leader])
    assert np.mean(raw) > 0.012
    assert np.mean(found) < 0.005


def test_a_clear_winner_stands_alone_with_its_rate() -> None:
    found = best_of([[100.0, 101, 99], [200.0, 202, 198], [50.0, 50.5, 49.5]])
    assert (found.leader, list(found.members)) == (1, [1])
    assert found.rate == pytest.approx(200, rel=0.01)


def test_one_result_is_the_best_as_it_is() -> None:
    found = best_of([[100.0, 110, 90]])
    assert (found.leader, list(found.members)) == (0, [0])
    assert found.rate == pytest.approx((100 * 110 * 90) ** (1 / 3))
