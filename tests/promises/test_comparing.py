"""What docs/comparing.md promises and no other test shows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean

import pytest

from builders import KIB, MIB, CaseSpec, sweep
from comparison_builders import in_turns, run_of
from strider.cli import main
from strider.compare import Comparison, Row, compare
from strider.compare.metrics import METRICS
from strider.store import Run

WRITE = CaseSpec(operations=("write",))
SEGMENTED = {"name": "segmented", "block": 64 * MIB, "segments": 1}


def only(comparison: Comparison) -> Row:
    (row,) = comparison.rows
    return row


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, Run]:
    """Two runs in the usual store."""
    store = tmp_path / "store"
    monkeypatch.setenv("STRIDER_STORE", str(store))
    names = ("2026-11-21-040506-base-aaaa", "2026-11-21-050506-next-bbbb")
    first, second = (run_of(store / name, [WRITE], repetitions=5, seed=i) for i, name in enumerate(names))
    return first, second


@pytest.mark.parametrize(
    "name",
    [
        lambda store: "2026-11-21-050506-next-bbbb",
        lambda store: "2026-11-21-05",
        lambda store: str(store / "2026-11-21-050506-next-bbbb"),
        lambda store: "latest",
    ],
)
# proves comparing: name-of-run
def test_a_run_is_named_by_id_beginning_directory_or_latest(
    two: tuple[Run, Run], tmp_path: Path, name: Callable[[Path], str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "2026-11-21-04", name(tmp_path / "store"), "--json"]) == 0
    sides = json.loads(capfd.readouterr().out)["sides"]
    assert [side["runs"] for side in sides] == [[run.id] for run in two]


@pytest.mark.parametrize(
    "metric", ["rate", "first-done", *(f"latency-{each}" for each in ("mean", "p50", "p90", "p99", "max"))]
)
# proves comparing: metric
def test_every_metric_of_the_manual_can_be_compared(tmp_path: Path, metric: str) -> None:
    run = run_of(tmp_path / "a", [WRITE])
    row = only(compare([run], [run], [metric]))
    assert row.metric.name == metric
    assert row.change is not None
    assert set(METRICS) >= {metric}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"common": {"order": "random"}}, "order"),
        ({"common": {"sharing": "per-rank"}}, "sharing"),
        ({"common": {"depth": 4}}, "depth"),
        ({"common": {"deadline": 3}}, "deadline"),
        ({"clients": 4}, "clients"),
        ({"interface": {"name": "posix", "direct": True}}, "posix.direct"),
        ({"pattern": {**SEGMENTED, "transfer": 64 * KIB}}, "transfer"),
    ],
)
# proves comparing: same-keys
def test_each_key_that_defines_the_work_keeps_rows_apart(
    tmp_path: Path, changes: dict[str, object], key: str
) -> None:
    base = run_of(tmp_path / "a", [WRITE])
    other = run_of(tmp_path / "b", [CaseSpec(operations=("write",), **changes)])  # type: ignore[arg-type]
    row = compare([base], [other]).rows[0]
    assert row.verdict == "not comparable"
    assert row.reason.startswith(f"different work: {key} ")


@pytest.mark.parametrize("changes", [{"warmup": 2}, {"settle": 3.0}])
# proves comparing: keys-that-may-differ
def test_how_often_and_how_long_apart_is_not_the_work(tmp_path: Path, changes: dict[str, object]) -> None:
    base = run_of(tmp_path / "a", [WRITE], repetitions=12)
    other = run_of(tmp_path / "b", [CaseSpec(operations=("write",), common=changes)], repetitions=9)
    assert only(compare([base], [other])).change is not None


# proves comparing: verified-one-side
def test_verified_data_is_not_compared_with_data_that_was_not(tmp_path: Path) -> None:
    base = run_of(tmp_path / "a", [CaseSpec(operations=("write",), common={"verify": "full"})])
    other = run_of(tmp_path / "b", [CaseSpec(operations=("write",), common={"verify": "off"})])
    assert only(compare([base], [other])).reason == "verified differently: full and off"


def rated(tmp_path: Path, name: str, rates: list[float]) -> Run:
    """A run of one operation with these rates."""
    run = run_of(tmp_path / name, [WRITE], repetitions=len(rates))
    pairs = zip(run.samples, rates, strict=True)
    samples = [sample.model_copy(update={"rate_mib_s": rate}) for sample, rate in pairs]
    return run.model_copy(update={"samples": samples})


# proves comparing: typical-value
def test_the_typical_value_is_the_geometric_mean(tmp_path: Path) -> None:
    rates = [100.0, 400.0, 1600.0]
    row = only(compare([rated(tmp_path, "a", rates)], [rated(tmp_path, "b", rates)]))
    assert row.base is not None
    assert row.base.typical == pytest.approx(400)


# proves comparing: change
def test_the_change_is_the_ratio_of_typical_values(tmp_path: Path) -> None:
    base, other = [100.0, 400.0, 1600.0, 90.0], [210.0, 300.0, 900.0, 100.0]
    row = only(compare([rated(tmp_path, "a", base)], [rated(tmp_path, "b", other)]))
    assert row.change is not None
    assert row.change.ratio == pytest.approx(geometric_mean(other) / geometric_mean(base))
    assert row.change.low < row.change.ratio < row.change.high


# proves comparing: detectable, within-threshold
def test_no_difference_shown_says_how_small_one_could_have_been_shown(tmp_path: Path) -> None:
    sides = in_turns(tmp_path, [WRITE])
    comparison = compare(*sides, threshold=0.2)
    row = only(comparison)
    assert (row.verdict, row.notes) == ("no difference shown", ["within ±20 %"])
    assert any("with a probability of 90 %" in remark for remark in comparison.remarks)
    assert row.change is not None
    assert math.log(row.change.high) < math.log(1.2)
    assert only(compare(*sides, threshold=0.001)).notes == []


# proves comparing: fail-on-repeated
def test_fail_on_may_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store"
    monkeypatch.setenv("STRIDER_STORE", str(store))
    run_of(store / "2026-11-21-040506-base-aaaa", sweep(), repetitions=5)
    words = ["compare", "latest", "--by", "interface"]
    assert main([*words, "--fail-on", "incomparable"]) == 0
    doubled = ["--threshold", "1%", "--fail-on", "incomparable", "--fail-on", "unproven"]
    assert main([*words, *doubled]) == 1
    assert "unproven" in capfd.readouterr().err


def test_rows_of_a_sweep_are_judged_one_by_one(tmp_path: Path) -> None:
    sides = in_turns(
        tmp_path,
        sweep(),
        seed=3,
        factor=lambda case, _: 0.8 if case.interface_name == "mpiio" else 1.0,
    )
    verdicts = {(row.base.case.interface_name, row.verdict) for row in compare(*sides).rows if row.base}
    assert verdicts == {("posix", "no difference shown"), ("mpiio", "slower")}
