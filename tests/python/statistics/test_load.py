"""What came in open loop and what was carried; saturation is told from chance."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from builders import CaseSpec, RunBuilder
from strider.report import write_html
from strider.report.table import as_rows, render
from strider.statistics import summarize
from strider.store import Run, load


def run_of(folder: Path, achieved: float, offered: float = 1000.0) -> Run:
    """A run whose samples came at random and were issued at some rate."""
    common = {"arrivals": "poisson", "arrival_rate": 1000}
    directory = RunBuilder([CaseSpec(operations=("write",), common=common)]).write(folder / "run")
    file = directory / "events.jsonl"
    events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for event in events:
        if event["event"] == "sample":
            event["arrivals"] = {
                "kind": "poisson",
                "rate_requests_s": 1000.0,
                "offered_requests_s": offered,
                "achieved_requests_s": achieved,
                "late_requests": event["requests"] // 4,
                "latest_s": 0.25,
            }
    file.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return load(directory)


@pytest.mark.parametrize(("achieved", "saturated"), [(1000.0, False), (991.0, False), (989.0, True)])
def test_a_load_that_is_not_carried_is_saturated(tmp_path: Path, achieved: float, saturated: bool) -> None:
    (summary,) = summarize(run_of(tmp_path, achieved))
    assert summary.load is not None
    assert summary.load.saturated is saturated
    assert summary.load.late_share == pytest.approx(0.25, abs=0.01)
    assert summary.load.latest_s == 0.25


def test_chance_in_what_came_is_no_saturation(tmp_path: Path) -> None:
    (summary,) = summarize(run_of(tmp_path, achieved=900, offered=905))
    assert summary.load is not None
    assert not summary.load.saturated


def test_a_closed_loop_has_no_load(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec(operations=("write",))]).write(tmp_path / "run"))
    (summary,) = summarize(run)
    assert summary.load is None
    (row,) = as_rows(run)
    assert row["saturated"] is None


def test_table_page_and_rows_say_so(tmp_path: Path) -> None:
    run = run_of(tmp_path, achieved=500)
    (row,) = as_rows(run)
    assert (row["offered_requests_s"], row["achieved_requests_s"], row["saturated"]) == (1000, 500, True)
    output = io.StringIO()
    render(run, Console(file=output, width=200))
    page = tmp_path / "report.html"
    write_html([run], page)
    for text in (output.getvalue(), page.read_text(encoding="utf-8")):
        assert "saturated: 500 of 1000/s" in text
        assert "poisson" in text
