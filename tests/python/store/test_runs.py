"""Runs are found by path, id, unique beginning or `latest`."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from builders import CaseSpec, RunBuilder
from continued_builders import resumed
from strider.errors import StriderError
from strider.store import RunSummary, list_runs, load, resolve

OLD, NEW, OTHER = (
    "2026-11-20-101112-quick-abcd",
    "2026-11-21-101112-quick-efgh",
    "2026-11-21-081112-thesis-2009-ijkl",
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for name in (OLD, NEW, OTHER):
        RunBuilder([CaseSpec()], repetitions=1).write(tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "run"), [(OLD, OLD), ("2026-11-20", OLD), ("2026-11-21-10", NEW), ("latest", NEW)]
)
def test_a_name_means_the_run_it_fits(store: Path, name: str, run: str) -> None:
    assert resolve(store, name) == store / run


def test_a_path_means_itself_whatever_the_store_holds(store: Path, tmp_path: Path) -> None:
    assert resolve(tmp_path / "empty", str(store / OLD)) == store / OLD


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("2026-11-21", r'"2026-11-21" matches 2 runs: .*thesis.*, .*efgh: type more of the name'),
        ("2026-11-21-101112-quick-efgx", f"did you mean {NEW}"),
        ("", "the latest is"),
        ("1999", "strider list shows all 3"),
    ],
)
def test_other_names_are_answered_with_a_remedy(store: Path, name: str, message: str) -> None:
    with pytest.raises(StriderError, match=message):
        resolve(store, name)


def test_a_store_that_is_not_there_yet_has_no_runs(tmp_path: Path) -> None:
    assert list_runs(tmp_path / "none") == []
    with pytest.raises(StriderError, match="no runs in the store"):
        resolve(tmp_path / "none", "latest")


def test_runs_are_listed_oldest_first_with_their_suite(store: Path) -> None:
    listed = list_runs(store)
    assert [(run.run, run.suite) for run in listed] == [
        (OLD, "quick"),
        (OTHER, "thesis-2009"),
        (NEW, "quick"),
    ]
    assert {(run.status, run.cases, run.samples, run.errors) for run in listed} == {("complete", 1, 2, 0)}


def test_killed_and_damaged_runs_are_listed_for_what_they_are(store: Path) -> None:
    RunBuilder([CaseSpec()]).write(store / "2026-11-22-000000-quick-kill", status=None)
    (store / "2026-11-23-000000-quick-ruin").mkdir()
    (store / "2026-11-23-000000-quick-ruin" / "run.json").write_text("{ torn")
    killed, ruined = list_runs(store)[-2:]
    assert (killed.status, killed.damage) == ("unfinished", "")
    assert ruined.status == "unreadable"
    assert "run.json is not valid JSON" in ruined.damage


DAMAGE = [
    {"started": 5},
    {"environment": 3},
    {"check": {"cases": "x"}},
    {"check": {"cases": [{"case": "x"}]}},
    {"status": []},
    {"command": 1},
    {"ended": {}},
    {"exit_code": "x"},
    {"format": "other"},
    {"version": []},
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_each_value_that_is_none_of_its_kind_makes_a_damaged_row(store: Path, damage: dict[str, Any]) -> None:
    document = json.loads((store / NEW / "run.json").read_text())
    (store / NEW / "run.json").write_text(json.dumps(document | damage))
    found = {run.run: run for run in list_runs(store)}[NEW]
    assert found.status == "unreadable"
    assert "run.json" in found.damage
    with pytest.raises(StriderError):
        load(store / NEW)


@pytest.mark.parametrize("name", ["run.json", "events.jsonl", "plan.json", "labels.json", "report.html"])
def test_a_pipe_in_place_of_a_file_of_a_run_stops_no_list(store: Path, name: str) -> None:
    """A thread that waits for the pipe would be left: the other end is opened at the end."""
    (store / NEW / name).unlink(missing_ok=True)
    os.mkfifo(store / NEW / name)
    pool = ThreadPoolExecutor(1)
    listing = pool.submit(list_runs, store)
    try:
        found = {run.directory.name: run for run in listing.result(timeout=60)}
    finally:
        os.close(os.open(store / NEW / name, os.O_RDWR | os.O_NONBLOCK))
        pool.shutdown(wait=False)
    assert (found[OLD].status, found[OTHER].status) == ("complete", "complete")
    # A folder is that of a run if it has the file run.json.
    assert (NEW in found) == (name != "run.json")
    with suppress(StriderError):
        load(store / NEW)


def test_a_file_larger_than_any_of_a_run_is_not_read(store: Path) -> None:
    with (store / NEW / "run.json").open("wb") as sparse:
        sparse.truncate(1 << 40)
    (store / NEW / "labels.json").write_text(f'{{"note": "{"x" * (1 << 20)}"}}')
    found = {run.directory.name: run for run in list_runs(store)}[NEW]
    assert "larger than" in found.damage
    assert found.note == ""


def test_an_end_that_is_none_makes_a_damaged_row(store: Path) -> None:
    events = store / NEW / "events.jsonl"
    *lines, _ = events.read_text().splitlines()
    events.write_text("\n".join([*lines, '{"event": "end", "samples": "x"}', ""]))
    assert {run.run: run for run in list_runs(store)}[NEW].status == "unreadable"


def test_a_run_that_has_begun_and_reported_nothing_is_unfinished(store: Path) -> None:
    silent = RunBuilder([CaseSpec()]).write(store / "2026-11-22-000000-quick-none", status=None)
    (silent / "events.jsonl").unlink()
    begun = RunBuilder([CaseSpec()]).write(store / "2026-11-22-000001-quick-some", status=None)
    (begun / "events.jsonl").write_text('{"event": "other", "status": "complete"}\n', encoding="utf-8")
    assert [run.status for run in list_runs(store)][-2:] == ["unfinished", "unfinished"]


def test_other_folders_in_the_store_are_no_runs(store: Path) -> None:
    (store / "notes").mkdir()
    assert len(list_runs(store)) == 3


@pytest.mark.parametrize(
    ("status", "samples", "errors", "condition", "words"),
    [
        ("complete", 6, 0, "complete", "complete"),
        ("complete", 6, 1, "errors", "ended with 1 error"),
        ("complete", 0, 2, "failed", "nothing measured, 2 errors"),
        ("interrupted", 0, 2, "interrupted", "interrupted, 2 errors"),
        ("failed", 3, 0, "failed", "failed"),
    ],
)
def test_no_run_with_errors_looks_like_success(
    status: str, samples: int, errors: int, condition: str, words: str
) -> None:
    run = RunSummary("r", Path("r"), "s", status, samples=samples, errors=errors)
    assert (run.condition, run.shown_status) == (condition, words)


def test_a_resumed_run_is_listed_with_its_starts(tmp_path: Path) -> None:
    path = resumed(tmp_path / "2026-11-21-040506-long-abcd", (1, 3))
    info = json.loads((path / "run.json").read_text())
    cuts = [{"status": "killed"}, {"status": "interrupted", "reason": "SIGTERM"}]
    (path / "run.json").write_text(json.dumps({**info, "resumed": cuts}))
    (found,) = list_runs(tmp_path)
    assert (found.starts, found.shown_status) == (3, "complete, 3 starts")
