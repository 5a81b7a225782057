"""Percentiles are shown where enough requests show them, with intervals of repetitions."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from builders import MIB, CaseSpec, RunBuilder
from printed import printed, rows_of
from strider.statistics.latency import _interval, is_known, summarize_latency
from strider.statistics.summary import summarize
from strider.store import load


@pytest.mark.parametrize(
    ("share", "requests", "known"),
    [
        (0.999, 9_999, False),
        (0.999, 10_000, True),
        (0.99, 999, False),
        (0.99, 1000, True),
        (0.9, 99, False),
        (0.9, 100, True),
        (0.5, 19, False),
        (0.5, 20, True),
        (0.1, 99, False),
    ],
)
# proves measuring: shown-percentiles
def test_a_percentile_needs_ten_requests_beyond_it(share: float, requests: int, known: bool) -> None:
    assert is_known(share, requests) is known


# proves measuring: shown-percentiles, hidden-percentiles, interval-columns
def test_percentiles_of_few_requests_are_left_out_and_the_reason_is_given(tmp_path: Path) -> None:
    """128 requests in a repetition: p90 is known, p99 would be the maximum but one."""
    case = CaseSpec(pattern={"name": "segmented", "transfer": MIB, "block": 64 * MIB}, operations=("write",))
    run = load(RunBuilder([case], repetitions=3).write(tmp_path / "run"))
    (row,) = rows_of(run)
    assert row["latency_requests_min"] == 128
    assert row["latency_p90_low_s"] < row["latency_p90_s"] < row["latency_p90_high_s"]
    assert row["latency_p99_s"] is None
    assert row["latency_p99_low_s"] is None
    text = printed(run, 200)
    why = "Percentiles need 10 requests beyond them in each repetition (fewest requests: 128); others are –."
    assert text.count(why) == 1
    latencies = printed(run, 200, "latency")
    assert "p90" in latencies
    assert "p99" not in latencies


def test_the_repetition_with_the_fewest_requests_decides(tmp_path: Path) -> None:
    case = CaseSpec(pattern={"name": "segmented", "transfer": MIB, "block": 64 * MIB}, operations=("write",))
    run = load(RunBuilder([case], repetitions=3).write(tmp_path / "run"))
    (summary,) = summarize(run)
    first = summary.samples[0]
    assert first.latency is not None
    short = first.model_copy(update={"latency": first.latency.model_copy(update={"count": 50})})
    latency = summarize_latency([short, *summary.samples[1:]], summary.histogram)
    assert latency is not None
    assert math.isfinite(latency.p50_s)
    assert math.isnan(latency.p90_s)


@pytest.mark.parametrize("n", [3, 5, 10])
# proves measuring: percentile-interval
def test_intervals_of_percentiles_hold_them_where_repetitions_differ(n: int) -> None:
    """A fifth of difference between repetitions, seen through buckets: 93 to 97 %."""
    rng = np.random.default_rng(n)
    logs = np.round(rng.normal(0, 0.2, (3000, n)) * 128) / 128
    ends = np.array([_interval(np.exp(row).tolist()) for row in logs])
    assert 0.93 <= np.mean((ends[:, 0] <= 1) & (ends[:, 1] >= 1)) <= 0.97


# proves measuring: interval-not-narrower
def test_equal_percentiles_are_known_to_within_a_bucket_only() -> None:
    low, high = _interval([1.0] * 5)
    assert 1.001 < high / low < 1.02
