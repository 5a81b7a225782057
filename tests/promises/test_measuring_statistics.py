"""What docs/measuring.md promises of statistics and no other test shows."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

import promises
from builders import CaseSpec, RunBuilder
from strider.statistics import OperationSummary, last_ranks, stragglers, summarize
from strider.statistics.distribution import confidence_interval, student_interval
from strider.statistics.steadiness import outliers, trends
from strider.store import Run, load

ROOT = Path(__file__).parents[2]


def run_of(
    work: Path, rates: list[float] | None = None, late: dict[tuple[int, int], float] | None = None
) -> Run:
    """A run of one write by 4 ranks.

    Args:
        work: Where to write it.
        rates: Of each repetition, in MiB/s; without, the builder invents four of them.
        late: By repetition and rank, how long a rank takes, in seconds; all others take one.
    """
    builder = RunBuilder([CaseSpec(operations=("write",), clients=4)], repetitions=len(rates or range(4)))
    directory = builder.write(work)
    file = directory / "events.jsonl"
    events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for event in events:
        if event["event"] == "sample" and rates is not None:
            event["rate_mib_s"] = rates[event["repetition"]]
        if event["event"] == "rank" and late is not None:
            event["start_s"] = 0.0
            event["end_s"] = late.get((event["repetition"], event["rank"]), 1.0)
    file.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return load(directory)


def summary_of(work: Path, rates: list[float]) -> OperationSummary:
    (summary,) = summarize(run_of(work, rates))
    return summary


@pytest.mark.parametrize(("n", "method"), [(3, "Student t"), (49, "Student t"), (50, "BCa bootstrap")])
# proves measuring: interval-of-rate
def test_the_interval_of_so_many_repetitions_is_found_so(n: int, method: str) -> None:
    found = confidence_interval(np.random.default_rng(n).normal(100, 5, n).tolist())
    assert found is not None
    assert found.method == method


def drawn_rates(row: str, n: int, experiments: int = 2000) -> np.ndarray:
    """Experiments of n repetitions each, of the kind that a row of the table describes."""
    rng, shape = np.random.default_rng(n), (experiments, n)
    if share := re.search(r"two levels, 30 % apart, (\d+) :", row):
        level = np.where(rng.random(shape) < int(share[1]) / 100, 1.0, 0.7)
        return level * rng.normal(1, 0.05, shape)
    if like := re.search(r"autocorrelation (0\.\d)", row):
        return np.exp(0.1 * autocorrelated(rng, shape, float(like[1])))
    if row.startswith("lognormal"):
        return rng.lognormal(0, 0.2, shape)
    if row.startswith("normal"):
        return rng.normal(1, 0.05, shape)
    assert row.startswith("one repetition in 20 stalls (0.4"), row
    return np.where(rng.random(shape) < 0.05, 0.4, 1.0) * rng.normal(1, 0.03, shape)


def autocorrelated(rng: np.random.Generator, shape: tuple[int, int], phi: float) -> np.ndarray:
    """Normal values, each of which is `phi` times the one before and new noise."""
    values = rng.normal(size=shape)
    for step in range(1, shape[1]):
        values[:, step] = phi * values[:, step - 1] + math.sqrt(1 - phi**2) * values[:, step]
    return values


# proves measuring: coverage, coverage-experiments, coverage-normal, coverage-lognormal, coverage-levels-50
# proves measuring: coverage-levels-70, coverage-levels-85, coverage-stalls, coverage-correlated-3
# proves measuring: coverage-correlated-7, too-rare, unseen-values, independent
def test_intervals_hold_the_centre_as_often_as_the_page_says() -> None:
    text = promises.ANCHOR.sub("", (ROOT / "docs" / "measuring.md").read_text(encoding="utf-8"))
    table = re.search(r"^\| repetitions \|.*?\n\n", text, re.MULTILINE | re.DOTALL)
    assert table is not None
    head, _, *rows = table[0].split("\n")
    counts = [int(cell) for cell in head.strip("| ").split("|")[1:]]
    rows = [row for row in rows if row]
    assert len(rows) == 8
    for row in rows:
        name, *cells = (cell.strip(" *") for cell in row.strip("| ").split("|"))
        centre = np.log(drawn_rates(name, 60, 20_000)).mean()
        for n, said in zip(counts, cells, strict=True):
            low, high = student_interval(np.log(drawn_rates(name, n)))
            # Of 2000 experiments: up to four standard errors, and half a per cent of rounding.
            assert 100 * np.mean((low <= centre) & (high >= centre)) == pytest.approx(int(said), abs=5), (
                name,
                n,
            )


# proves measuring: overlap-times
def test_times_of_a_summary_are_means_over_the_repetitions(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run")
    (summary,) = summarize(run)
    assert summary.times is not None
    assert summary.times.transfer_s == pytest.approx(fmean(one.transfer_s for one in run.samples))


@pytest.mark.parametrize(
    ("rates", "found"),
    [
        ([100.0, 101, 99, 100, 102, 50], 1),
        ([100.0, 101, 99, 100, 50], 0),  # five
        ([100.0, 100.1, 99.9, 100, 100.2, 96], 0),  # 4 % from the median
        ([100.0, 100.1, 99.9, 100, 100.2, 94], 1),
        ([100.0, 101, 99, 100, 102, 93], 0),  # 4.9 spreads from the median, of so few
        ([100.0, 110, 90, 105, 95, 130], 0),  # all of them vary
    ],
)
# proves measuring: outliers-of-six, outlier-distance
def test_outliers_are_of_six_repetitions_and_five_per_cent(
    tmp_path: Path, rates: list[float], found: int
) -> None:
    assert len(outliers([summary_of(tmp_path / "run", rates)])) == found


@pytest.mark.parametrize(
    ("rates", "found"),
    [
        ([100.0, 97, 94.1, 91, 88], 1),
        ([100.0, 97, 94, 91], 0),  # four
        ([100.0, 99, 98, 97.1, 96], 0),  # 4 %
        ([100.0, 70, 110, 80, 92], 0),  # chance
    ],
)
# proves measuring: trend-line, trend-of-five
def test_trends_are_of_five_repetitions_and_five_per_cent(
    tmp_path: Path, rates: list[float], found: int
) -> None:
    assert len(trends([summary_of(tmp_path / "run", rates)])) == found


# proves measuring: trend-line
def test_trends_are_adjusted_for_the_number_of_operations(tmp_path: Path) -> None:
    falling = summary_of(tmp_path / "falling", [100.0, 99, 96, 95, 91, 90])
    steady = summary_of(tmp_path / "steady", [100.0, 99, 100, 99, 100, 99.5])
    assert len(trends([falling])) == 1
    assert trends([falling, *[dataclasses.replace(steady) for _ in range(50)]]) == []


@pytest.mark.parametrize(
    ("late", "repetitions", "found"),
    [
        ({(r, 3): 1.15 for r in range(8)}, 8, 1),
        ({(r, 3): 1.08 for r in range(8)}, 8, 0),  # below the least effect
        ({(r, 3): 1.5 for r in range(2)}, 8, 0),  # two phases of eight may be chance
        ({(0, 3): 3.0}, 1, 0),  # one repetition names no rank
        ({(r, rank): 0.5 for r in range(8) for rank in (0, 1, 2)} | {(r, 3): 0.6 for r in range(8)}, 8, 1),
    ],
)
# proves limits: named-rank
# proves measuring: straggler-remark
def test_a_straggler_is_slower_by_a_tenth_over_its_phases_beyond_chance(
    tmp_path: Path, late: dict[tuple[int, int], float], repetitions: int, found: int
) -> None:
    run = run_of(tmp_path / "run", rates=[100.0 + one for one in range(repetitions)], late=late)
    assert len(stragglers(run, last_ranks(run))) == found
