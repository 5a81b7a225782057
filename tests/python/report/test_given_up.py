"""Cases that an error ended before their time."""

import json
from pathlib import Path
from typing import Any

import pytest

from builders import CaseSpec, RunBuilder
from strider.report.words.given_up import given_up
from strider.report.words.wording import problems
from strider.statistics import compare_digests, summarize
from strider.store import load
from strider.store.model import Run


def run_with(tmp_path: Path, *errors: dict[str, Any], cases: int = 1) -> Run:
    """A run of three repetitions of write and read with errors before its end."""
    path = RunBuilder([CaseSpec()] * cases, repetitions=3).write(tmp_path / "2026-11-21-101112-quick-abcd")
    *events, end = (path / "events.jsonl").read_text().splitlines()
    common = {"event": "error", "kind": "io", "case": 1, "message": "No space left on device", "errno": 28}
    added = [json.dumps({**common, **error}) for error in errors]
    (path / "events.jsonl").write_text("\n".join([*events, *added, end, ""]))
    return load(path)


def test_a_case_is_said_once_to_be_given_up(tmp_path: Path) -> None:
    error = {"repetition": 0, "operation": "write"}
    run = run_with(tmp_path, {**error, "rank": 0}, {**error, "rank": 1})
    (sentence,) = given_up(run)
    assert sentence.startswith("Case 1 was ended after an error of write in repetition 0:")
    summaries = summarize(run)
    assert sentence in problems(run, summaries, compare_digests(run))


@pytest.mark.parametrize(
    "error",
    [
        {"kind": "verify", "repetition": 2, "operation": "write"},
        {"repetition": 2, "operation": "read"},
        {"case": None},
    ],
)
def test_what_leaves_nothing_out_is_not_reported(tmp_path: Path, error: dict[str, Any]) -> None:
    assert given_up(run_with(tmp_path, error)) == []


def test_wrong_data_ends_its_case_after_the_repetition(tmp_path: Path) -> None:
    (sentence,) = given_up(run_with(tmp_path, {"kind": "verify", "repetition": 0, "operation": "check"}))
    assert sentence.startswith("Case 1 was ended after an error of check in repetition 0:")


def test_many_cases_are_counted(tmp_path: Path) -> None:
    errors = [{"case": number, "operation": "connect"} for number in range(1, 9)]
    found = given_up(run_with(tmp_path, *errors, cases=8))
    assert len(found) == 6
    assert found[-1] == "3 more ended early as well."
