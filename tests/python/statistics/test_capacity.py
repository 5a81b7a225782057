"""The load that storage carries, from cases that differ in their arrival rate alone."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from builders import CaseSpec, RunBuilder
from strider.report.words.loads import loads
from strider.statistics import summarize
from strider.statistics.capacity import capacities
from strider.store import Run, load

#: Share of the requests that is issued: all, or so few that the case is saturated.
KEEPS_UP, IS_LATE = 1.0, 0.8


def run_of(
    folder: Path,
    shares: Sequence[Sequence[float]],
    rates: Sequence[int] = (1000, 2000, 4000),
    elapsed_s: float = 2.0,
    common: Mapping[str, object] = MappingProxyType({}),
) -> Run:
    """A run with a case for each arrival rate, and its share in each repetition.

    Args:
        folder: Where the run directory is written.
        shares: By case, the share of each repetition.
        rates: Arrival rates, requests per second.
        elapsed_s: Length of each phase.
        common: Further keys of all cases.
    """
    load_of = {"arrivals": "poisson", "verify": "off", "sync": "end", **common}
    cases = [CaseSpec(operations=("write",), common={**load_of, "arrival_rate": r}) for r in rates]
    directory = RunBuilder(cases, repetitions=len(shares[0])).write(folder / "run")
    file = directory / "events.jsonl"
    events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for event in events:
        if event["event"] == "sample":
            rate = rates[event["case"] - 1]
            event["requests"] = 20000
            event["elapsed_s"] = elapsed_s
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
        (
            [WELL, MIXED, MIXED],
            1000,
            None,
            "carries 1000 requests/s; at higher arrival rates, up to 4000 requests/s, repetitions differ in "
            "whether they keep up.",
        ),
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


def test_one_arrival_rate_shows_no_capacity(tmp_path: Path) -> None:
    assert capacities(summarize(run_of(tmp_path, [WELL], rates=[1000]))) == []


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_repetitions_show_no_capacity_and_the_sentence_asks_for_more(
    tmp_path: Path, count: int
) -> None:
    (sentence,) = loads(summarize(run_of(tmp_path, [[1.0] * count, [1.0] * count, [0.8] * count])))
    assert sentence.endswith(
        f"shows no capacity: each arrival rate needs 3 repetitions and has {count}; set repetitions = 3 or "
        "more."
    )


def test_a_rate_with_fewer_repetitions_is_left_out_beside_two_others(tmp_path: Path) -> None:
    run = run_of(tmp_path, [WELL, WELL, WELL])
    some = [one for one in run.samples if (one.case, one.repetition) != (3, 2)]
    (found,) = capacities(summarize(run.model_copy(update={"samples": some})))
    assert found.carried == 2000


@pytest.mark.parametrize(
    ("elapsed_s", "key", "value", "said"),
    [
        (0.5, "deadline", 0.5, "(best grade: C short); measure phases of 1 s or more: raise the deadline."),
        (0.5, "runtime", 0.5, "(best grade: C short); measure phases of 1 s or more: raise the runtime."),
        (2.0, "sync", "none", '(best grade: C not synced); include the write to storage: set sync = "end"'),
    ],
)
def test_results_below_grade_b_show_no_capacity_and_the_sentence_has_the_remedy(
    tmp_path: Path, elapsed_s: float, key: str, value: object, said: str
) -> None:
    run = run_of(tmp_path, [WELL, WELL, LATE], elapsed_s=elapsed_s, common={key: value})
    (sentence,) = loads(summarize(run))
    assert "shows no capacity: no result has grade A or B" in sentence
    assert said in sentence


def test_other_settings_are_other_capacities(tmp_path: Path) -> None:
    run = run_of(tmp_path, [WELL, LATE, LATE])
    other = run.cases[1].model_copy(update={"clients": 3})
    (found,) = capacities(summarize(run.model_copy(update={"cases": {**run.cases, 1: other}})))
    assert found.refused == 2000


def _without_latency(sentence: str) -> str:
    head, _, rest = sentence.partition(" with a p99 of ")
    return head + rest.lstrip("0123456789.").removeprefix(" µs")
