"""Levels, trends and outliers are found where they are, and not called up by chance or by resemblance."""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from builders import CaseSpec, RunBuilder
from strider.report.words.steadiness import steadiness
from strider.statistics import OperationSummary, levels, outliers, resemblance, summarize, trends
from strider.store import Run, load

Series = np.ndarray


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    case = CaseSpec(operations=("write",))
    return load(RunBuilder([case], repetitions=30).write(tmp_path_factory.mktemp("runs") / "run"))


def with_rates(run: Run, *rows: Series) -> list[OperationSummary]:
    """Summaries of one operation each, with these rates."""
    (summary,) = summarize(run)
    found = []
    for rates in rows:
        samples = [
            sample.model_copy(update={"rate_mib_s": float(rate)})
            for sample, rate in zip(run.samples, rates, strict=False)
        ]
        (own,) = summarize(run.model_copy(update={"samples": samples}))
        found.append(dataclasses.replace(own, errors=summary.errors))
    return found


def drawn(rng: np.random.Generator, rows: int, n: int, phi: float = 0.0) -> list[Series]:
    values = rng.normal(size=(rows, n))
    for step in range(1, n):
        values[:, step] = phi * values[:, step - 1] + math.sqrt(1 - phi**2) * values[:, step]
    return list(100 * np.exp(0.05 * values))


@pytest.mark.parametrize("n", [6, 10, 20])
# proves measuring: outlier-adjusted, trend, levels-distance
def test_steady_runs_have_no_levels_trends_outliers_nor_resemblance(run: Run, n: int) -> None:
    """At most 1 % of runs; of 60, two are far more than chance."""
    rng = np.random.default_rng(n)
    alarms = np.zeros(4)
    for _ in range(60):
        own = with_rates(run, *drawn(rng, 4, n))
        found = (levels(own), trends(own), outliers(own), resemblance(own) is not None)
        alarms += [bool(one) for one in found]
    assert alarms.max() <= 2


# proves measuring: outlier-tests
def test_a_repetition_at_half_the_rate_is_found_among_ten_of_eight_operations(run: Run) -> None:
    """The modified scores alone find it in 72 %."""
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(40):
        rows = drawn(rng, 8, 10)
        rows[3][5] *= 0.5
        found += 5 in [one.sample.repetition for one in outliers(with_rates(run, *rows))]
    assert found >= 38


# proves measuring: outlier-tests
def test_two_stalls_do_not_hide_each_other(run: Run) -> None:
    (rates,) = drawn(np.random.default_rng(5), 1, 12)
    rates[[2, 8]] *= 0.3
    assert sorted(one.sample.repetition for one in outliers(with_rates(run, rates))) == [2, 8]


# proves measuring: trend-error
def test_a_rate_that_resembles_the_one_before_is_no_trend(run: Run) -> None:
    """Without the inflated error 77 % of such runs have one."""
    rng = np.random.default_rng(1)
    alarms = sum(bool(trends(with_rates(run, *drawn(rng, 1, 10, 0.5)))) for _ in range(60))
    assert alarms <= 3


@pytest.mark.parametrize("n", [5, 10])
# proves measuring: trend, trend-error, trend-simulated
def test_four_rates_that_resemble_the_ones_before_have_a_trend_in_one_run_of_a_hundred(n: int) -> None:
    """500 runs: with a level of 1 % and the autocorrelation one error higher it was one of thirty."""
    rng = np.random.default_rng(n)
    alarms = 0
    for _ in range(500):
        rows = [np.exp(1.6 * np.log(one / 100)) for one in drawn(rng, 4, n, 0.5)]
        alarms += bool(trends([plain(rates) for rates in rows]))
    assert alarms <= 9


def plain(rates: Series) -> OperationSummary:
    """Values of a summary for the tests of steadiness."""
    return cast(OperationSummary, SimpleNamespace(rates=rates.tolist(), n=rates.size, key=(1, "write")))


# proves measuring: trend-or-shift
def test_a_steady_fall_is_a_trend_and_no_shift(run: Run) -> None:
    """Both tests find it; the line is nearer to the rates."""
    fall = np.array([97.6, 96.6, 88.3, 85.6, 81.3, 77.4, 67.7, 66.5, 64.1, 56.7, 56.8, 52.9])
    own = with_rates(run, fall)
    assert levels(own)[0].since is not None
    (sentence,) = (one for one in steadiness(run, own) if "rate of" in one)
    assert sentence.startswith("No steady state")


@pytest.mark.parametrize("n", [10, 20])
# proves measuring: levels, shift-repetitions, levels-repetitions
def test_levels_are_found_in_turn_and_after_a_shift(run: Run, n: int) -> None:
    rng = np.random.default_rng(n)
    (steady,) = drawn(rng, 1, n)
    calm = 100 * (steady / 100) ** 0.3
    shifted = np.where(np.arange(n) < n // 2, calm, 0.7 * calm)
    (found,) = levels(with_rates(run, shifted))
    assert found.since == n // 2
    assert [found.low, found.high] == pytest.approx([70, 100], rel=0.03)
    in_turn = np.where(np.arange(n) % 3 == 1, 0.7 * calm, calm)
    (found,) = levels(with_rates(run, in_turn))
    assert found.since is None
    assert [found.low, found.high] == pytest.approx([70, 100], rel=0.03)


# proves measuring: trend-or-shift, autocorrelation
def test_levels_and_resemblance_are_said_in_numbers(run: Run) -> None:
    rates = np.array([100.0, 101, 100, 99, 100, 70, 71, 70, 69, 70])
    sentences = steadiness(run, with_rates(run, rates))
    assert (
        "Level shift: the rate of write through posix (segmented, 1 MiB, 2 clients) is near 100.0 MiB/s "
        "in the first 5 repetitions, and near 70.0 in the other 5." in sentences
    )
    assert not any(sentence.startswith("No steady state") for sentence in sentences)
    in_turn = np.array([100.0, 70, 101, 100, 71, 70, 99, 100, 70, 101, 70, 100])
    (said,) = (one for one in steadiness(run, with_rates(run, in_turn)) if one.startswith("Two levels"))
    assert said.endswith("is near 70.2 MiB/s in some repetitions, and near 100 in the others.")
    rows = drawn(np.random.default_rng(3), 8, 30, 0.7)
    assert any(
        "Repetitions resemble the one before" in one for one in steadiness(run, with_rates(run, *rows))
    )
