"""The list of runs, and an active run."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from builders import CaseSpec, RunBuilder
from continued_builders import PAUSE_S, resumed
from serving import Server
from strider.errors import StriderError
from strider.jobs.following import planned_state
from strider.listing import index
from strider.store import RunSummary
from strider.store.runs import summarize
from strider.web import runs as web_runs
from strider.web.live import follow
from strider.web.runs import Runs


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with three runs, and other things that are none."""
    for day, name in enumerate(("alpha", "beta", "alpha"), start=1):
        RunBuilder([CaseSpec()], suite=name).write(tmp_path / f"2026-11-0{day}-101112-{name}-abcd")
    (tmp_path / "suites").mkdir()
    (tmp_path / ".jobs").mkdir()
    (tmp_path / "file").write_text("")
    return tmp_path


def test_the_newest_run_comes_first(store: Path) -> None:
    runs = Runs(store)
    names = runs.found()
    assert [name[:10] for name in names] == ["2026-11-03", "2026-11-02", "2026-11-01"]
    assert [run.directory.name for run in runs.listed(names)] == names


@pytest.mark.parametrize(
    ("words", "days"),
    [("ALPHA", "31"), ("beta complete", "2"), ("alpha 11-03", "3"), ("nothing-like-it", "")],
)
def test_runs_are_found_by_all_of_some_words(store: Path, words: str, days: str) -> None:
    assert "".join(name[9] for name in Runs(store).found(words)) == days


def test_a_store_that_is_not_there_has_no_runs(tmp_path: Path) -> None:
    assert Runs(tmp_path / "none").found() == []


def test_a_run_that_is_over_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    over = tmp_path / "2026-11-01-101112-over-abcd"
    RunBuilder([CaseSpec()], suite="over").write(over)
    RunBuilder([CaseSpec()], suite="open").write(tmp_path / "2026-11-02-101112-open-abcd", status=None)
    read: list[str] = []

    def counted(directory: Path) -> RunSummary:
        read.append(directory.name[18:22])
        return summarize(directory)

    monkeypatch.setattr(web_runs, "summarize", counted)
    monkeypatch.setattr(index, "SETTLED_S", 0)
    runs = Runs(tmp_path)
    for _ in range(3):
        runs.listed(runs.found())
    assert sorted(read) == ["open", "open", "open", "over"]
    # Unless it changes after all.
    document = json.loads((over / "run.json").read_text())
    (over / "run.json").write_text(json.dumps({**document, "status": "failed"}))
    assert runs.found("failed")


def test_only_what_is_shown_is_read(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(directory: Path) -> RunSummary:
        read.append(directory.name)
        return summarize(directory)

    monkeypatch.setattr(web_runs, "summarize", counted)
    runs = Runs(store)
    names = runs.found()
    runs.listed(names[:1])
    assert read == names[:1]


@pytest.mark.parametrize("name", ["..", ".", "", "suites", ".jobs", "file", "a/b", "../x", "a" * 300, "none"])
def test_what_is_no_run_has_no_directory(store: Path, name: str) -> None:
    with pytest.raises(StriderError):
        Runs(store).directory(name)


def messages(directory: Path) -> list[Any]:
    """The messages of a stream of a run that is over."""

    async def collected() -> list[Any]:
        return [news async for news in follow(directory, planned_state(directory))]

    # In a thread of its own: where browsers were tested before, this one has a loop that is running.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(collected())).result(timeout=60)


def test_a_stream_reports_all_of_a_run_and_ends_with_it(store: Path) -> None:
    directory = store / "2026-11-01-101112-alpha-abcd"
    events = [json.loads(line) for line in (directory / "events.jsonl").read_text().splitlines()]
    samples = [event for event in events if event["event"] == "sample"]
    message, end = messages(directory)
    assert [one["rate_mib_s"] for one in message["new"]] == [one["rate_mib_s"] for one in samples]
    # A percentile needs ten requests beyond it.
    assert [one["p50_s"] is not None for one in message["new"]] == [s["requests"] >= 20 for s in samples]
    assert [one["p99_s"] is not None for one in message["new"]] == [s["requests"] >= 1000 for s in samples]
    assert (message["fraction"], message["ended"]) == (1.0, True)
    assert end == {"over": True}


def test_a_stream_leaves_out_the_pauses_of_a_resumed_run(tmp_path: Path) -> None:
    message, _ = messages(resumed(tmp_path / "2026-11-01-101112-alpha-abcd", (1, 3)))
    times = [one["time_s"] for one in message["new"]]
    assert len(times) == 12
    assert times == sorted(times)
    assert max(*times, message["elapsed_s"]) < PAUSE_S


def test_the_live_view_knows_the_deadlines_of_the_phases(tmp_path: Path) -> None:
    cases = [CaseSpec(common={"deadline": 1.5}), CaseSpec()]
    directory = RunBuilder(cases).write(tmp_path / "2026-11-01-101112-alpha-abcd")
    info = json.loads((directory / "run.json").read_text())
    info["check"]["cases"] = [{"case": number, "phases": [{}]} for number in (1, 2)]
    (directory / "run.json").write_text(json.dumps(info))
    assert planned_state(directory).deadlines == {1: 1.5, 2: 0.0}


@pytest.mark.parametrize(
    "plan", ["{}", "[]", '{"suite": 1, "cases": []}', '{"suite": {"name": "x"}, "cases": [{}]}', "{"]
)
def test_a_damaged_run_is_said_to_be_that(plan: str, server: Server) -> None:
    directory = server.store / "2026-11-01-101112-damaged-abcd"
    RunBuilder([CaseSpec()]).write(directory)
    (directory / "plan.json").write_text(plan)
    answer = server.ask("GET", f"/runs/{directory.name}")
    assert answer.status == 400
    assert "damaged" in answer.text
    assert server.ask("GET", "/runs").status == 200


def test_a_run_whose_document_is_damaged_is_a_row_that_says_so(server: Server) -> None:
    directory = server.store / "2026-11-01-101112-ruined-abcd"
    RunBuilder([CaseSpec()]).write(directory)
    document = json.loads((directory / "run.json").read_text())
    damage = {"started": 5, "environment": 3, "cases": "x", "status": []}
    (directory / "run.json").write_text(json.dumps(document | damage))
    listed = server.ask("GET", "/runs")
    assert listed.status == 200
    assert "run.json: document with an invalid started" in listed.text
    assert directory.name in server.ask("GET", "/runs?q=ruined").text
    answers = [server.ask("GET", f"/runs/{directory.name}{rest}") for rest in ("", "/report", "/exports")]
    assert {answer.status for answer in answers} <= {400, 503}
    assert all("damaged" in answer.text for answer in answers)
    (directory / "run.json").unlink()
