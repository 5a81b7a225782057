"""The load that storage carries, from cases that differ in their arrival rate alone."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.report.words.loads import loads
from strider.statistics import summarize
from strider.statistics.capacity import capacities
from strider.store import Run, load

#: Share of the requests that is issued: all, or so few that the case is saturated.
KEEPS_UP, IS_LATE = 1.0, 0.8


def run_of(folder: Path, shares: Sequence[Sequence[float]], rates: Sequence[int] = (1000, 2000, 4000)) -> Run:
    """A run with a case for each arrival rate, and its share in each repetition."""
    cases = [
        CaseSpec(operations=("write",), common={"arrivals": "poisson", "arrival_rate": r}) for r in rates
    ]
    directory = RunBuilder(cases, repetitions=len(shares[0])).write(folder / "run")
    file = directory / "events.jsonl"
    events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for event in events:
        if event["event"] == "sample":
            rate = rates[event["case"] - 1]
            event["requests"] = 20000
            event["arrivals"] = {
                "kind": "poisson",
                "rate_requests_s": rate,
                "offered_requests_s": rate,
                "achieved_requests_s": rate * shares[event["case"] - 1][event["repetition"]],
                "late_requests": 100,
                "latest_s": 0.25,
            }
    file.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return load(directory)


WELL, MIXED, LATE = [KEEPS_UP] * 3, [KEEPS_UP, IS_LATE, KEEPS_UP], [IS_LATE] * 3


@pytest.mark.parametrize(
    ("shares", "carried", "refused", "said"),
    [
        ([WELL, WELL, LATE], 2000, 4000, "carries 2000 requests/s; of 4000 requests/s it completes 3200."),
        ([WELL, MIXED, LATE], 1000, 4000, "carries 1000 requests/s; of 4000 requests/s it completes 3200."),
        ([WELL, WELL, WELL], 4000, None, "the highest arrival rate: its capacity may be higher."),
        ([LATE, LATE, LATE], None, 1000, "does not carry 1000 requests/s: it completes 800."),
        # Late at a low rate and not at higher ones: something else was slow at that time.
        ([LATE, WELL, WELL], None, None, "shows no capacity: repetitions at one arrival rate differ"),
        ([MIXED, WELL, WELL], None, None, "shows no capacity"),
    ],
)
def test_a_rate_is_carried_if_all_repetitions_keep_up_there_and_below(
    tmp_path: Path, shares: Sequence[Sequence[float]], carried: float | None, refused: float | None, said: str
) -> None:
    summaries = summarize(run_of(tmp_path, shares))
    (found,) = capacities(summaries)
    assert (found.carried, found.refused) == (carried, refused)
    (sentence,) = loads(summaries)
    assert sentence.startswith("Load: write through posix (segmented, 1 MiB, 2 clients) ")
    assert said in _without_latency(sentence)


def test_two_repetitions_or_one_rate_show_no_capacity(tmp_path: Path) -> None:
    assert capacities(summarize(run_of(tmp_path / "few", [[1.0, 1.0], [1.0, 1.0], [0.8, 0.8]]))) == []
    assert capacities(summarize(run_of(tmp_path / "one", [WELL], rates=[1000]))) == []


def test_other_settings_are_other_capacities(tmp_path: Path) -> None:
    run = run_of(tmp_path, [WELL, LATE, LATE])
    other = run.cases[1].model_copy(update={"clients": 3})
    (found,) = capacities(summarize(run.model_copy(update={"cases": {**run.cases, 1: other}})))
    assert found.refused == 2000


def _without_latency(sentence: str) -> str:
    head, _, rest = sentence.partition(" with a p99 of ")
    return head + rest.lstrip("0123456789.").removeprefix(" µs")
