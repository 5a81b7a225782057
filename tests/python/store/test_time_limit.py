"""Omissions by a time limit, apart from cases that ended for their own reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from builders import CaseSpec, RunBuilder
from strider.listing.summary import TimeLimitCut
from strider.store import list_runs, load
from strider.store.time_limit import time_limit_cut


def cut_run(tmp_path: Path, *repetitions: dict[str, Any], limit_s: float = 8, warmup: int = 0) -> Path:
    """Writes a run with three repetitions of each case, whose plan asks for others."""
    builder = RunBuilder([CaseSpec()] * len(repetitions), repetitions=3, warmup=warmup)
    path = builder.write(tmp_path / "2026-11-21-101112-long-abcd")
    plan = json.loads((path / "plan.json").read_text())
    plan["time_limit_s"] = limit_s
    for case, wanted in zip(plan["cases"], repetitions, strict=True):
        case["repetitions"] = {"until": 0.0, **wanted}
        case["warmup"] = warmup
    (path / "plan.json").write_text(json.dumps(plan))
    return path


ALL, FIFTY = {"min": 3, "max": 3}, {"min": 50, "max": 50}


def without(path: Path, case: int, repetition: int) -> None:
    """Removes the samples of a repetition."""
    lines = [json.loads(line) for line in (path / "events.jsonl").read_text().splitlines()]
    kept = [one for one in lines if (one.get("case"), one.get("repetition")) != (case, repetition)]
    (path / "events.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in kept))


def test_the_fewest_and_the_most_repetitions_of_cut_cases(tmp_path: Path) -> None:
    path = cut_run(tmp_path, FIFTY, FIFTY, ALL)
    without(path, 2, 2)
    assert time_limit_cut(load(path)) == TimeLimitCut(8, 2, 3, 50, 2, 0)


def test_a_case_without_a_repetition_counts(tmp_path: Path) -> None:
    path = cut_run(tmp_path, FIFTY, FIFTY)
    for repetition in range(3):
        without(path, 1, repetition)
    cut = time_limit_cut(load(path))
    assert cut is not None
    assert (cut.fewest, cut.most, cut.cases_without) == (0, 3, 1)


def test_warm_up_repetitions_do_not_count(tmp_path: Path) -> None:
    cut = time_limit_cut(load(cut_run(tmp_path, FIFTY, warmup=1)))
    assert cut is not None
    assert cut.most == 3


@pytest.mark.parametrize(
    ("repetitions", "limit_s"),
    [(ALL, 8), (FIFTY, 0), ({"min": 3, "max": 50, "until": 10.0}, 8)],
    ids=["all done", "no limit", "interval narrow enough"],
)
def test_a_run_that_ended_for_its_own_reason_is_not_cut(
    tmp_path: Path, repetitions: dict[str, Any], limit_s: float
) -> None:
    assert time_limit_cut(load(cut_run(tmp_path, repetitions, limit_s=limit_s))) is None


@pytest.mark.parametrize(
    "repetitions", [{"min": 3, "max": 50, "until": 1e-6}, {"min": 4, "max": 50, "until": 1}]
)
def test_a_case_that_still_needed_repetitions_is_cut(tmp_path: Path, repetitions: dict[str, Any]) -> None:
    assert time_limit_cut(load(cut_run(tmp_path, repetitions))) is not None


@pytest.mark.parametrize("kind", ["io", "plan", "verify"])
def test_a_case_that_an_error_ended_is_not_cut(tmp_path: Path, kind: str) -> None:
    path = cut_run(tmp_path, FIFTY)
    *events, end = (path / "events.jsonl").read_text().splitlines()
    error = json.dumps({"event": "error", "kind": kind, "case": 1, "message": "lost", "repetition": 2})
    (path / "events.jsonl").write_text("\n".join([*events, error, end, ""]))
    assert time_limit_cut(load(path)) is None


def test_an_interrupted_run_was_not_ended_by_its_limit(tmp_path: Path) -> None:
    path = cut_run(tmp_path, FIFTY)
    info = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**info, "status": "interrupted"}))
    assert time_limit_cut(load(path)) is None


def test_the_list_shows_the_time_limit_beside_the_status(tmp_path: Path) -> None:
    cut_run(tmp_path, FIFTY)
    (run,) = list_runs(tmp_path)
    assert (run.status, run.shown_status) == ("complete", "complete, time limit")
    assert run.time_limit == TimeLimitCut(8, 3, 3, 50, 1, 0)


def test_damaged_events_of_a_complete_run_do_not_stop_the_list(tmp_path: Path) -> None:
    path = cut_run(tmp_path, FIFTY)
    (path / "plan.json").write_text("{ torn")
    (run,) = list_runs(tmp_path)
    assert (run.shown_status, run.time_limit) == ("complete", None)
