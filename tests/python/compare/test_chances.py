"""The possible verdicts of a test are known before it runs."""

from __future__ import annotations

import math
import re
from pathlib import Path
from statistics import stdev

import pytest
from scipy.stats import nct, t

from builders import CaseSpec
from comparison_builders import run_of
from strider.compare.chances import Test as OfPairs
from strider.compare.chances import chance_to_fail, chances_text
from strider.compare.history import Experience, duration_s, experience_of

WRITE = CaseSpec(operations=("write",))


# proves comparing: passes-2.5
def test_a_system_slower_by_the_threshold_passes_in_one_of_forty_tests() -> None:
    test = OfPairs(6, 1, 0.05, "unproven")
    assert chance_to_fail(test, 0.03, 0.05) == pytest.approx(0.975, abs=0.015)


# proves comparing: slower-by-threshold
def test_a_slowdown_of_just_the_threshold_is_not_shown() -> None:
    test = OfPairs(6, 1, 0.05, "slower")
    assert chance_to_fail(test, 0.03, 0.05) == pytest.approx(0.025, abs=0.015)


@pytest.mark.parametrize("spread", [0.01, 0.03, 0.1])
def test_the_chance_that_equal_systems_pass_is_that_of_students_test(spread: float) -> None:
    shift = math.log(1.05) / (spread * math.sqrt(2 / 6))
    passes = 1 - nct.cdf(t.ppf(0.975, 5), 5, shift)
    found = 1 - chance_to_fail(OfPairs(6, 1, 0.05, "unproven"), spread, 0.0)
    assert found == pytest.approx(passes, abs=0.035)


@pytest.mark.parametrize("rows", [1, 10])
def test_equal_systems_are_called_slower_in_one_of_forty_tests_at_most(rows: int) -> None:
    assert chance_to_fail(OfPairs(6, rows, 0.0, "slower"), 0.03, 0.0) < 0.04
    assert chance_to_fail(OfPairs(6, rows, 0.0, "different"), 0.03, 0.0) < 0.065


def test_more_pairs_find_more() -> None:
    few, many = (chance_to_fail(OfPairs(n, 10, 0.0, "slower"), 0.03, 0.1) for n in (4, 12))
    assert few < many


def test_without_history_it_is_said_for_three_spreads() -> None:
    lines = chances_text(OfPairs(6, 4, 0.05, "unproven"), None)
    assert [line.split(" %")[0] for line in lines] == [
        f"with 6 pairs and runs that vary by {spread}" for spread in ("1.0", "3.0", "10")
    ]
    (line,) = chances_text(OfPairs(6, 4, 0.05, "unproven"), 0.02, 7)
    assert "vary by 2.0 % (7 runs)" in line
    assert "if one of 4 operations is 5.0 % slower" in line


def test_the_spread_is_that_between_earlier_runs_of_the_suite_on_the_target(tmp_path: Path) -> None:
    """Not that of repetitions: here runs differ by some 5 %, and repetitions not at all."""
    levels = [1.0, 1.05, 0.95, 1.05, 0.95]
    for number, level in enumerate(levels):
        path = tmp_path / f"2026-11-21-04050{number}-x-aaaa"
        run = run_of(path, [WRITE], repetitions=3)
        events = path / "events.jsonl"
        events.write_text(
            re.sub(r'"rate_mib_s": ?[0-9.]+', f'"rate_mib_s":{1000 * level}', events.read_text())
        )
    found = experience_of(tmp_path, run.plan.suite.name, run.plan.target)
    assert (found.runs, found.duration_s) == (5, duration_s(run))
    assert found.spread == pytest.approx(stdev(map(math.log, levels)))
    assert experience_of(tmp_path, run.plan.suite.name, "/elsewhere") == Experience()
    assert experience_of(tmp_path, "other", run.plan.target) == Experience()
