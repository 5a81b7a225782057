"""Requests that arrived in open loop, and completed ones; saturation is distinguished from chance."""

import json
import random
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from printed import printed, rows_of
from strider.report import write_html
from strider.statistics import summarize
from strider.statistics.summary import LoadSummary
from strider.store import Run, load


def run_of(
    folder: Path, achieved: float, offered: float = 1000.0, requests: int = 20000, kind: str = "poisson"
) -> Run:
    """A run whose samples came at random and were issued at some rate."""
    common = {"arrivals": kind, "arrival_rate": 1000}
    directory = RunBuilder([CaseSpec(operations=("write",), common=common)]).write(folder / "run")
    file = directory / "events.jsonl"
    events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for event in events:
        if event["event"] == "sample":
            event["requests"] = requests
            event["arrivals"] = {
                "kind": kind,
                "rate_requests_s": 1000.0,
                "offered_requests_s": offered,
                "achieved_requests_s": achieved,
                "late_requests": event["requests"] // 4,
                "latest_s": 0.25,
            }
    file.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return load(directory)


@pytest.mark.parametrize(("achieved", "saturated"), [(1000.0, False), (991.0, False), (989.0, True)])
# proves measuring: both-conditions, below-99-percent, queue-of-30
def test_a_load_that_is_not_carried_is_saturated(tmp_path: Path, achieved: float, saturated: bool) -> None:
    (summary,) = summarize(run_of(tmp_path, achieved))
    assert summary.load is not None
    assert summary.load.saturated is saturated
    assert summary.load.late_share == pytest.approx(0.25, abs=0.01)
    assert summary.load.latest_s == 0.25


@pytest.mark.parametrize(
    ("achieved", "requests", "kind", "saturated"),
    [
        # Of one client, this many are in line: 10.
        (980.0, 490, "poisson", False),
        (980.0, 490, "fixed", True),
        # 45, and 90.
        (980.0, 2205, "poisson", True),
        (500.0, 90, "poisson", True),
        # 4: of few requests that is much.
        (500.0, 4, "poisson", False),
        (200.0, 2, "fixed", True),
    ],
)
# proves measuring: both-conditions, below-99-percent, queue-of-30
def test_the_line_has_to_be_long(
    tmp_path: Path, achieved: float, requests: int, kind: str, saturated: bool
) -> None:
    run = run_of(tmp_path, achieved, requests=requests * CaseSpec().clients, kind=kind)
    (summary,) = summarize(run)
    assert summary.load is not None
    assert summary.load.line == pytest.approx(requests * (1000 / achieved - 1))
    assert summary.load.saturated is saturated


def served_one_by_one(dice: random.Random, kind: str, load: float, span_s: float) -> tuple[int, float, float]:
    """A client whose requests take 1 ms each, at a share of its capacity.

    Returns the number of requests, and the rates as the engine calculates them.
    """
    came_s, free_s, lag_s, requests = 0.0, 0.0, 0.0, 0
    while came_s < span_s:
        issued_s = max(came_s, free_s)
        lag_s, free_s = issued_s - came_s, issued_s + 0.001
        requests += 1
        came_s += 0.001 / load * (dice.expovariate(1) if kind == "poisson" else 1)
    return requests, requests / came_s, requests / (came_s + lag_s)


def share_saturated(kind: str, load: float, span_s: float) -> float:
    """Of single repetitions of single clients, in which chance counts most."""
    dice = random.Random(1)
    marked = 0
    for _ in range(400):
        requests, offered, achieved = served_one_by_one(dice, kind, load, span_s)
        line = requests * (offered / achieved - 1)
        marked += LoadSummary(kind, 0, offered, achieved, achieved, 0, 0, 0, requests, line).saturated
    return marked / 400


@pytest.mark.parametrize("span_s", [0.05, 0.2, 2.0])
@pytest.mark.parametrize("kind", ["fixed", "poisson"])
def test_a_stable_queue_is_not_saturated(kind: str, span_s: float) -> None:
    assert share_saturated(kind, 0.9, span_s) <= 0.02


def test_a_queue_that_is_offered_more_than_it_can_carry_is() -> None:
    assert share_saturated("poisson", 1.05, 2.0) >= 0.9
    assert share_saturated("poisson", 1.5, 0.2) >= 0.98
    assert share_saturated("fixed", 1.05, 2.0) == 1


# proves measuring: drawn-rate
def test_chance_in_what_came_is_no_saturation(tmp_path: Path) -> None:
    (summary,) = summarize(run_of(tmp_path, achieved=900, offered=905))
    assert summary.load is not None
    assert not summary.load.saturated


def test_a_closed_loop_has_no_load(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec(operations=("write",))]).write(tmp_path / "run"))
    (summary,) = summarize(run)
    assert summary.load is None
    (row,) = rows_of(run)
    assert row["saturated"] is None


# proves measuring: arrivals-field, late-requests, saturated
def test_table_page_and_rows_say_so(tmp_path: Path) -> None:
    run = run_of(tmp_path, achieved=500)
    (row,) = rows_of(run)
    assert (row["offered_requests_s"], row["achieved_requests_s"], row["saturated"]) == (1000, 500, True)
    page = tmp_path / "report.html"
    write_html([run], page)
    for text in (printed(run), page.read_text(encoding="utf-8")):
        assert "saturated: 500 of 1000/s" in text
        assert "poisson" in text
