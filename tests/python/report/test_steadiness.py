"""Outlying repetitions, drifting rates and late ranks are reported, with rank and node."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from builders import CaseSpec, RunBuilder
from noise import lognormal
from runs import Planned, Setting, Synthetic
from strider.report.words import steadiness as module
from strider.report.words.steadiness import steadiness
from strider.statistics import last_ranks, stragglers, summarize, uneven
from strider.store import Run, load

Event = dict[str, Any]
CLIENTS = 8


def run_of(
    tmp_path: Path,
    rate: Callable[[int], float] = lambda repetition: 1000 + repetition % 3,
    late: Callable[[int, int], float] = lambda repetition, rank: 1.0,
    repetitions: int = 8,
    clients: int = CLIENTS,
    timelines: Sequence[Sequence[int]] = (),
    cases: int = 1,
) -> Run:
    """A run of writes on two nodes, every second rank on the second.

    Args:
        tmp_path: Where to write it.
        rate: MiB/s of a repetition.
        late: How long a rank takes in a repetition, seconds.
        repetitions: How many.
        clients: Number of ranks.
        timelines: Requests of each rank in each tenth of a second.
        cases: How many, each with one write.
    """
    specs = [CaseSpec(operations=("write",), clients=clients, timelines=timelines) for _ in range(cases)]
    directory = RunBuilder(specs, repetitions=repetitions).write(tmp_path / "run")
    events = [json.loads(line) for line in (directory / "events.jsonl").read_text().splitlines()]
    for event in events:
        _change(event, rate, late)
    (directory / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    return load(directory)


def _change(event: Event, rate: Callable[[int], float], late: Callable[[int, int], float]) -> None:
    if event["event"] == "run":
        event["nodes"] = [{"name": name, "ranks": CLIENTS // 2} for name in ("node01", "node02")]
    elif event["event"] == "sample":
        event["rate_mib_s"] = rate(event["repetition"])
    elif event["event"] == "rank":
        event["node"] = event["rank"] % 2
        event["start_s"] = 10.0 * event["repetition"]
        event["end_s"] = event["start_s"] + late(event["repetition"], event["rank"])


def said(run: Run) -> list[str]:
    return steadiness(run, summarize(run))


def test_a_steady_run_needs_no_words(tmp_path: Path) -> None:
    assert said(run_of(tmp_path)) == []


# proves limits: straggler
# proves measuring: stragglers, straggler-remark, loss
def test_a_late_rank_is_named_with_its_node_and_its_cost(tmp_path: Path) -> None:
    run = run_of(tmp_path, late=lambda repetition, rank: 2.0 if rank == 7 and repetition else 1.0)
    assert said(run) == [
        "Straggler: rank 7 on node02 took 1.8 × as long as the median of the others in 8 phases "
        "of write through posix (segmented, 1 MiB, 8 clients), which lost 44 % of the rate."
    ]


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ([8, 8, 0, 0, 0, 8, 8, 8, 8, 8], "; in repetition 1 it was slow from 0.2 to 0.5 s after the start."),
        ([4] * 20, "; it was slow during the whole phase."),
        ([1, 1], "."),
    ],
    ids=["for a while", "all along", "too short to tell"],
)
# proves measuring: slow-period, slow-period-interval, whole-phase
def test_a_timeline_says_when_a_rank_was_slow(tmp_path: Path, own: list[int], words: str) -> None:
    others = [8] * min(len(own) // 2 + 2, 7)
    run = run_of(
        tmp_path,
        late=lambda repetition, rank: {0: 1.0, 1: 2.5}.get(repetition, 2.0) if rank == 7 else 1.0,
        timelines=[others] * 7 + [own],
    )
    (sentence,) = said(run)
    assert sentence.startswith("Straggler: rank 7 on node02 ")
    assert sentence.endswith(f" % of the rate{words}")


def test_only_reported_stragglers_are_examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(tmp_path, late=lambda repetition, rank: 2.0 if rank == 7 else 1.0, cases=5)
    asked: list[int] = []
    monkeypatch.setattr(module, "slow_spell", lambda run, operation, case, last: asked.append(case))
    sentences = said(run)
    assert asked == [1, 2, 3]
    assert [sentence.startswith("Straggler: ") for sentence in sentences] == [True] * 3 + [False]
    assert sentences[-1] == "2 smaller stragglers not shown."


# proves limits: straggler
# proves measuring: stragglers, straggler-remark
def test_all_late_ranks_of_a_node_are_one_straggler(tmp_path: Path) -> None:
    def late(repetition: int, rank: int) -> float:
        return 3.0 if rank in (1, 3) else 1.0 + 0.01 * ((3 * repetition + rank) % 5)

    (found,) = stragglers(run := run_of(tmp_path, late=late, clients=5, repetitions=9), last_ranks(run))
    assert (found.rank, found.node, found.times, found.n) == (None, "node02", 9, 9)
    assert found.lost == pytest.approx(0.655, abs=0.01)
    assert "all ranks of node02" in said(run)[0]


# proves limits: permutations
def test_a_rank_that_is_late_once_is_no_straggler(tmp_path: Path) -> None:
    run = run_of(tmp_path, late=lambda repetition, rank: 2.0 if (repetition, rank) == (3, 7) else 1.0)
    assert said(run) == []


# proves limits: unused-phases
# proves measuring: short-unjudged
def test_short_phases_are_not_judged(tmp_path: Path) -> None:
    run = run_of(tmp_path, late=lambda repetition, rank: 0.02 if rank == 7 else 0.01)
    assert said(run) == []


# proves limits: permutations
def test_another_late_rank_each_time_is_no_straggler(tmp_path: Path) -> None:
    run = run_of(tmp_path, late=lambda repetition, rank: 2.0 if rank == repetition % CLIENTS else 1.0)
    assert said(run) == []


def test_equal_ranks_of_which_the_first_is_done_early_are_no_stragglers(tmp_path: Path) -> None:
    """64 ranks that vary by 10 %: until the first is done the rate is a quarter higher, by chance."""
    rng = np.random.default_rng(1)
    setting = Setting(noise=lognormal(0.02), of_ranks=0.1, counted=False)
    for number, repetitions in enumerate((1, 3, 5) * 4):
        made = Synthetic([Planned(clients=64)], replace(setting, repetitions=repetitions), rng)
        run = load(made.write(tmp_path / f"run-{number}"))
        early = [sample.rate_first_done_mib_s / sample.rate_mib_s for sample in run.samples]
        assert fmean(early) > 1.15
        assert said(run) == []


def test_ranks_without_work_are_not_waited_for(tmp_path: Path) -> None:
    run = run_of(tmp_path, late=lambda repetition, rank: 5.0 if rank == 0 else 0.1)
    events = run.directory / "events.jsonl"
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    idle = [e | {"requests": 0} if e["event"] == "rank" and e["rank"] else e for e in lines]
    events.write_text("".join(json.dumps(event) + "\n" for event in idle))
    assert last_ranks(load(run.directory)) == {}


# proves measuring: outliers-of-six, outlier-slow, outlier-no-rank
def test_an_outlier_of_one_rank_names_no_rank(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        rate=lambda repetition: 400 if repetition == 3 else 1000 + repetition,
        late=lambda repetition, rank: 2.5 if (repetition, rank) == (3, 5) else 1.0,
    )
    assert said(run) == [
        "Outlier: repetition 3 of write through posix (segmented, 1 MiB, 8 clients) "
        "had 0.399 × the median rate; "
        "its last rank took 2.5 × as long as the median of the others."
    ]


# proves measuring: outlier-slow
def test_an_outlier_of_all_ranks_is_one_of_all(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        rate=lambda repetition: 400 if repetition == 3 else 1000 + repetition,
        late=lambda repetition, rank: 2.5 if repetition == 3 else 1.0,
    )
    (sentence,) = said(run)
    assert "all ranks were slow" in sentence


# proves measuring: outliers-kept
def test_an_outlier_counts_all_the_same(tmp_path: Path) -> None:
    run = run_of(tmp_path, rate=lambda repetition: 400 if repetition == 3 else 1000)
    (summary,) = summarize(run)
    assert summary.rate is not None
    assert (summary.n, summary.rate.minimum) == (8, 400)


@pytest.mark.parametrize(("slope", "verb"), [(-0.03, "fell by 21 %"), (0.03, "rose by 21 %")])
# proves measuring: trend-line, claims-trend
def test_a_trend_is_no_steady_state(tmp_path: Path, slope: float, verb: str) -> None:
    run = run_of(tmp_path, rate=lambda repetition: 1000 * (1 + slope * repetition))
    (sentence,) = said(run)
    where = "write through posix (segmented, 1 MiB, 8 clients)"
    assert sentence.startswith(f"No steady state: the rate of {where}")
    assert verb in sentence


# proves limits: single-repetition, uneven
def test_one_repetition_is_uneven_and_names_no_rank(tmp_path: Path) -> None:
    def late(repetition: int, rank: int) -> float:
        return 2.0 if rank == 7 else 1.0 + 0.01 * rank

    run = run_of(tmp_path, late=late, repetitions=1)
    assert said(run) == [
        "Uneven: in the only repetition of write through posix (segmented, 1 MiB, 8 clients) the last rank "
        "took 1.9 × as long as the median of the others; more repetitions show whether it is always the "
        "same rank."
    ]
    spread = run_of(tmp_path / "spread", late=lambda _, rank: 1.0 + 0.1 * rank, repetitions=1)
    assert said(spread) == []


# proves limits: unused-phases
def test_a_hiccup_in_one_of_four_short_phases_is_not_the_only_repetition(tmp_path: Path) -> None:
    def late(repetition: int, rank: int) -> float:
        return 0.5 if (repetition, rank) == (2, 7) else 0.05 + 0.0001 * rank

    assert said(run_of(tmp_path, late=late, repetitions=4)) == []


def test_nor_where_the_other_phases_were_no_result(tmp_path: Path) -> None:
    """Four repetitions were measured, and of three the ranks had unequal work."""
    run = run_of(tmp_path, late=lambda _, rank: 2.0 if rank == 7 else 1.0 + 0.01 * rank, repetitions=4)
    last = last_ranks(run)
    last = {phase: replace(one, equal_work=phase[1] == 2) for phase, one in last.items()}
    assert uneven(run, last) == []


def test_many_operations_of_one_repetition_name_no_rank(tmp_path: Path) -> None:
    case = CaseSpec(
        operations=("write", "rewrite", "read", "reread", "read-modify-write"),
        clients=CLIENTS,
        slow_ranks={5: 3.0},
    )
    once, twice = (
        load(RunBuilder([case], repetitions=number).write(tmp_path / str(number))) for number in (1, 2)
    )
    assert stragglers(once, last_ranks(once)) == []
    assert [found.rank for found in stragglers(twice, last_ranks(twice))] == [5]


# proves limits: time-of-rank, phases-needed
def test_two_ranks_are_compared_with_each_other(tmp_path: Path) -> None:
    few = run_of(tmp_path / "few", late=lambda _, rank: 1.0 + rank, repetitions=4, clients=2)
    assert said(few) == [], "four phases of two ranks may be chance"
    run = run_of(tmp_path / "many", late=lambda _, rank: 1.0 + rank, repetitions=10, clients=2)
    (found,) = stragglers(run, last_ranks(run))
    assert (found.rank, round(found.lateness, 3)) == (1, 2.0)


# proves limits: unused-phases
def test_ranks_with_more_work_are_no_stragglers(tmp_path: Path) -> None:
    run = run_of(tmp_path, late=lambda _, rank: 2.0 if rank == 7 else 1.0)
    events = run.directory / "events.jsonl"
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    more = [
        e | {"bytes": 2 * e["bytes"], "requests": 2 * e["requests"]}
        if e["event"] == "rank" and e["rank"] == 7
        else e
        for e in lines
    ]
    events.write_text("".join(json.dumps(event) + "\n" for event in more))
    assert stragglers(run, last_ranks(load(run.directory))) == []


def test_a_single_rank_is_never_late(tmp_path: Path) -> None:
    assert said(run_of(tmp_path, late=lambda repetition, rank: 9.0, clients=1)) == []
