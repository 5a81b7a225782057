"""The load that storage carries, from cases that differ in their arrival rate alone."""

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from builders import CaseSpec, RunBuilder
from strider.report.words.loads import loads
from strider.report.words.remarks import result_remarks
from strider.report.words.wording import notes
from strider.statistics import OperationSummary, summarize
from strider.statistics.capacity import capacities
from strider.statistics.summary import LoadSummary
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
            event["requests_s"] = 20000 / elapsed_s
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
        (
            [LATE, WELL, WELL],
            None,
            None,
            "shows no capacity: 1000 requests/s was not carried although 4000 requests/s was: measure again",
        ),
        (
            [WELL, LATE, WELL],
            1000,
            None,
            "carries 1000 requests/s; 2000 requests/s was not carried although 4000 requests/s was: measure",
        ),
        (
            [MIXED, WELL, WELL],
            None,
            None,
            "shows no capacity: repetitions at 1000 requests/s differ in whether they keep up; measure again",
        ),
    ],
)
# proves measuring: highest-rate
def test_a_rate_is_carried_if_all_repetitions_keep_up_there_and_below(
    tmp_path: Path, shares: Sequence[Sequence[float]], carried: float | None, refused: float | None, said: str
) -> None:
    summaries = summarize(run_of(tmp_path, shares))
    (found,) = capacities(summaries)
    assert (found.carried, found.refused) == (carried, refused)
    (sentence,) = loads(summaries)
    assert sentence.startswith("Load: write through posix (segmented, 1 MiB, 2 clients) ")
    assert said.rstrip(".") in _without_latency(sentence)


@pytest.mark.parametrize("states", [*itertools.product("+-~", repeat=4)])
# proves measuring: gap-in-rates
def test_no_rate_is_carried_above_one_that_is_not(steady: list[OperationSummary], states: str) -> None:
    summaries = [
        replace(one, loads=[_load(one, state, n) for n in range(3)])
        for one, state in zip(steady, states, strict=True)
    ]
    (found,) = capacities(summaries)
    rates = [one.load.rate for one in summaries if one.load]
    below = [rate for rate in rates if rate <= (found.carried or 0)]
    above = [rate for rate in rates if rate >= (found.refused or math.inf)]
    assert {states[rates.index(rate)] for rate in below} <= {"+"}
    assert {states[rates.index(rate)] for rate in above} <= {"-"}
    assert not set(below) & set(above)
    assert (found.crossed is not None) == ("-" in states and "+" in states[states.index("-") :])
    (sentence,) = loads(summaries)
    assert ("was not carried although" in sentence) == (found.crossed is not None)


# proves measuring: carried-rate
def test_what_is_issued_and_completed_much_later_is_not_carried(steady: list[OperationSummary]) -> None:
    """Caches take writes faster than the synchronization at the end brings them to storage."""
    *rest, last = steady
    behind = [replace(load, completed=0.58 * load.offered, after_s=1.4) for load in last.loads]
    late = replace(last, loads=behind, load=behind[0])
    (found,) = capacities([*rest, late])
    assert (found.carried, found.refused) == (4000, 8000)
    assert "carries 4000 requests/s" in loads([*rest, late])[0]
    assert "of 8000 requests/s it completes 4640" in loads([*rest, late])[0]
    assert "completed 4640 of 8000/s" in notes(late)
    # Opening and closing are a large share of a short phase.
    brief = replace(last, loads=[replace(load, after_s=0.05) for load in behind])
    assert capacities([*rest, brief])[0].carried == 8000


@pytest.mark.parametrize(
    ("p99_us", "said"),
    [
        (
            [(100, 110), (150, 170), (230, 250), (500, 600)],
            "from 4000 requests/s on its p99 (230 to 250 µs) is more than 2 times that at 1000 requests/s "
            "(100 to 110 µs).",
        ),
        # Higher at one rate and not at the next: chance.
        (
            [(100, 110), (230, 250), (150, 170), (150, 160)],
            "up to there its p99 is below 2 times that at 1000",
        ),
        (
            [(100, 110), (150, 170), (150, 170), (150, 400)],
            "the intervals of its p99 are too wide to show where",
        ),
        ([(100, 110), (150, 170), (math.nan, math.nan), (math.nan, math.nan)], "too few requests show where"),
    ],
)
# proves measuring: latency-rises
def test_the_sentence_names_the_rate_from_which_latency_rises(
    steady: list[OperationSummary], p99_us: Sequence[tuple[float, float]], said: str
) -> None:
    summaries = [
        replace(one, latency=replace(one.latency, p99_low_s=low * 1e-6, p99_high_s=high * 1e-6))
        for one, (low, high) in zip(steady, p99_us, strict=True)
        if one.latency
    ]
    (sentence,) = loads(summaries)
    assert "carries 8000 requests/s" in sentence
    assert said in sentence


# proves measuring: latency-rises
def test_a_latency_that_rises_where_nothing_is_carried_is_no_knee(steady: list[OperationSummary]) -> None:
    p99_us = [(100, 110), (150, 170), (150, 170), (5000, 6000)]
    summaries = [
        replace(
            one,
            latency=replace(one.latency, p99_low_s=low * 1e-6, p99_high_s=high * 1e-6),
            loads=[_load(one, state, n) for n in range(3)],
        )
        for one, (low, high), state in zip(steady, p99_us, "+++-", strict=True)
        if one.latency
    ]
    assert "up to there its p99 is below 2 times that at 1000 requests/s" in loads(summaries)[0]


# proves measuring: highest-rate
def test_the_load_is_the_first_remark_below_the_table(tmp_path: Path) -> None:
    run = run_of(tmp_path, [WELL, WELL, LATE])
    (first, is_doubt), *_ = result_remarks(run, summarize(run), None)
    assert first.startswith("Load: ")
    assert not is_doubt


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> list[OperationSummary]:
    """Four arrival rates that are carried."""
    rates = (1000, 2000, 4000, 8000)
    return list(summarize(run_of(tmp_path_factory.mktemp("steady"), [WELL] * 4, rates)))


def _load(summary: OperationSummary, state: str, repetition: int) -> LoadSummary:
    """The load of a repetition at a rate that is carried (+), is not (-), or is by some repetitions (~)."""
    assert summary.load
    late = state == "-" or (state == "~" and repetition == 1)
    return replace(summary.load, achieved=0.8 * summary.load.offered, line=1000) if late else summary.load


def test_one_arrival_rate_shows_no_capacity(tmp_path: Path) -> None:
    assert capacities(summarize(run_of(tmp_path, [WELL], rates=[1000]))) == []


@pytest.mark.parametrize("count", [1, 2])
# proves measuring: rates-need, otherwise-reason
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
# proves measuring: rates-need, otherwise-reason
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
    return (head + rest.lstrip("0123456789.").removeprefix(" µs")).partition("; too few requests show")[0]
