"""A repetition counts nowhere if the check of its whole files at its end failed."""

import json
import os
from pathlib import Path

import pytest

from builders import CaseSpec, Json, RunBuilder
from strider.compare import compare
from strider.statistics import summarize
from strider.store import derive, load, query

PARTS = [{"operation": "stat", "requests": 10, "latency": None, "histogram": None}]


def run_with(folder: Path, *checks: Json) -> Path:
    """A run of three repetitions in which the events of a check follow the samples of repetition 1."""
    path = RunBuilder([CaseSpec()], repetitions=3).write(folder / "2026-11-21-101112-quick-abcd")
    *events, end = map(json.loads, (path / "events.jsonl").read_text().splitlines())
    samples = [event for event in events if event["event"] == "sample"]
    for sample in samples:
        sample["parts"] = PARTS
    of_check = {"case": 1, "repetition": 1, "operation": "check"}
    added = [{**(samples[0] if check["event"] == "sample" else {}), **of_check, **check} for check in checks]
    (path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in [*events, *added, end]))
    return path


SAMPLE: Json = {"event": "sample", "measured": False}
ERROR: Json = {"event": "error", "kind": "verify", "message": "differs"}
FAILED: dict[str, list[Json]] = {
    "wrong data": [{**SAMPLE, "valid": False}, ERROR],
    "a read that fails": [{**ERROR, "kind": "io"}],
}


@pytest.mark.parametrize("how", FAILED)
def test_a_repetition_whose_check_failed_has_no_valid_sample(tmp_path: Path, how: str) -> None:
    path = run_with(tmp_path, *FAILED[how])
    measured = [sample for sample in load(path).samples if sample.measured]
    assert [sample.valid for sample in measured] == [sample.repetition != 1 for sample in measured]
    for question in (
        "SELECT DISTINCT repetition FROM samples WHERE measured AND valid ORDER BY ALL",
        "SELECT DISTINCT repetition FROM parts WHERE measured AND valid ORDER BY ALL",
    ):
        from_events = query([path], question)
        derive(path)
        assert from_events == query([path], question) == [{"repetition": 0}, {"repetition": 2}]
        os.utime(path / "events.jsonl")  # the Parquet files are older


@pytest.mark.parametrize("how", FAILED)
def test_it_counts_in_no_number_of_report_and_comparison(tmp_path: Path, how: str) -> None:
    run = load(run_with(tmp_path / "bad", *FAILED[how]))
    for summary in summarize(run):
        assert (summary.n, summary.voided) == (2, 1)
    good = load(run_with(tmp_path / "good", {**SAMPLE, "valid": True}))
    for row in compare([good], [run]).rows:
        assert "void" in row.reason


def test_a_check_that_found_nothing_changes_nothing(tmp_path: Path) -> None:
    path = run_with(tmp_path, {**SAMPLE, "valid": True})
    assert all(sample.valid for sample in load(path).samples)
    assert query([path], "SELECT count(*) AS n FROM samples WHERE NOT valid") == [{"n": 0}]
