"""The slowdown of a group is its rate alone over its rate while the others measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.compare.work import BESIDE, items, match
from strider.report.blocks import Table, Text
from strider.report.results.results import Results
from strider.report.sections.groups import SECTION
from strider.statistics import summarize
from strider.statistics.groups import GroupEffect, covered, group_effects
from strider.statistics.served import served_by
from strider.store import load
from strider.store.model import ErrorRow, Run
from strider.store.time_limit import time_limit_cut


def run_of(tmp_path: Path, repetitions: int = 5) -> Run:
    """Cases 1 and 2 alone, 3 and 4 the same at once."""
    earlier = [{"clients": 2, "placement": "pack", "nodes": 0, "per_node": 0}]
    turns = [
        {"number": 0, "earlier": []},
        {"number": 0, "earlier": earlier},
        {"number": 1, "alone": 1, "earlier": []},
        {"number": 1, "alone": 2, "earlier": earlier},
    ]
    names = ("a alone", "b alone", "a beside b", "b beside a")
    cases = [
        CaseSpec(operations=("write",), name=name, common={"group": name[0], "turn": turn})
        for name, turn in zip(names, turns, strict=True)
    ]
    return load(RunBuilder(cases, repetitions=repetitions).write(tmp_path / "run"))


def timed(run: Run, times: dict[int, list[tuple[float, float]]], rates: dict[int, list[float]]) -> Run:
    """With start and length in seconds, and rates in MiB/s, of each repetition of cases."""
    samples = [
        sample.model_copy(
            update={
                "start_s": times[sample.case][sample.repetition][0],
                "elapsed_s": times[sample.case][sample.repetition][1],
                "rate_mib_s": rates[sample.case][sample.repetition],
            }
        )
        for sample in run.samples
    ]
    return run.model_copy(update={"samples": samples})


def effects(run: Run) -> dict[int, GroupEffect]:
    return {one.together.case.number: one for one in group_effects(run, summarize(run))}


ALONE = {1: [(0.0, 1.0)] * 5, 2: [(1.0, 1.0)] * 5}


def test_the_slowdown_is_paired_by_repetition_with_its_interval(tmp_path: Path) -> None:
    drift = [100.0, 50.0, 200.0, 25.0, 400.0]
    run = timed(
        run_of(tmp_path),
        {**ALONE, 3: [(2.0, 1.0)] * 5, 4: [(2.0, 1.0)] * 5},
        {
            1: drift,
            2: drift,
            3: [rate / 2 for rate in drift],
            4: [rate / factor for rate, factor in zip(drift, (1, 2, 4, 2, 1), strict=True)],
        },
    )
    found = effects(run)
    assert found[3].slowdown == pytest.approx(2)
    assert found[3].interval == pytest.approx((2, 2))
    assert found[4].slowdown == pytest.approx(2 ** (4 / 5))
    low, high = found[4].interval or (0, 0)
    assert low < found[4].slowdown < high
    assert (found[3].repetitions, found[3].overlap) == (5, 1)


def test_two_repetitions_have_no_interval(tmp_path: Path) -> None:
    run = run_of(tmp_path, repetitions=2)
    assert {one.interval for one in effects(run).values()} == {None}


def test_the_overlap_is_the_least_of_all_repetitions_and_groups(tmp_path: Path) -> None:
    beside = [(2.0, 1.0), (2.5, 1.0), (2.0, 0.8), (2.0, 4.0), (2.0, 1.0)]
    rates = dict.fromkeys((1, 2, 3, 4), [100.0] * 5)
    run = timed(run_of(tmp_path), {**ALONE, 3: [(2.0, 1.0)] * 5, 4: beside}, rates)
    found = effects(run)
    assert found[3].overlap == pytest.approx(0.5)
    assert found[4].overlap == pytest.approx(0.25)


def test_the_ramp_counts_as_load_but_not_in_the_rate(tmp_path: Path) -> None:
    rates = dict.fromkeys((1, 2, 3, 4), [100.0] * 5)
    # Cases 3 and 4 start at 2; case 3 counts from 3 to 5 and case 4, with a ramp too, from 3 to 4.
    run = timed(run_of(tmp_path), {**ALONE, 3: [(2.0, 2.0)] * 5, 4: [(2.0, 1.0)] * 5}, rates)
    common = {"runtime": 3.0, "ramp": 1.0}
    cases = {
        number: case.model_copy(update={**(case.model_extra or {}), **common})
        for number, case in run.cases.items()
    }
    found = effects(run.model_copy(update={"cases": cases}))
    assert found[3].overlap == pytest.approx(0.5)
    assert found[4].overlap == pytest.approx(1)


def test_a_group_that_has_no_sample_at_all_leaves_an_overlap_of_0(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    kept = [one for one in run.samples if one.case != 4]
    found = effects(run.model_copy(update={"samples": kept}))
    assert {number: one.overlap for number, one in found.items()} == {3: 0}


def test_a_group_without_a_sample_was_not_beside_the_others(tmp_path: Path) -> None:
    rates = dict.fromkeys((1, 2, 3, 4), [100.0] * 5)
    run = timed(run_of(tmp_path), {**ALONE, 3: [(2.0, 1.0)] * 5, 4: [(2.0, 1.0)] * 5}, rates)
    kept = [one for one in run.samples if (one.case, one.repetition) != (4, 2)]
    assert effects(run.model_copy(update={"samples": kept}))[3].overlap == 0


@pytest.mark.parametrize(
    ("others", "share"),
    [([], 0), ([(0, 1)], 0), ([(1, 3)], 1), ([(0, 1.5), (2.5, 9)], 0.5), ([(2, 2.5)], 0.25)],
)
def test_a_time_is_covered_by_the_others(others: list[tuple[float, float]], share: float) -> None:
    assert covered((1, 3), others) == share


def test_the_report_shows_each_alone_and_together(tmp_path: Path) -> None:
    rates = {1: [100.0] * 5, 2: [80.0] * 5, 3: [50.0] * 5, 4: [80.0] * 5}
    run = timed(run_of(tmp_path), {**ALONE, 3: [(2.0, 1.0)] * 5, 4: [(2.0, 0.9)] * 5}, rates)
    results = Results(run)
    assert SECTION.applies(results)
    _, table, remark = SECTION.terminal(results)
    assert isinstance(table, Table)
    assert isinstance(remark, Text)
    rows = [[row[0].split(",")[0], *row[1:5]] for row in table.rows]
    assert rows == [
        ["a beside b", "write", "100", "50.0", "2.00"],
        ["b beside a", "write", "80.0", "80.0", "1.00"],
    ]
    assert "below 95 %" in remark.text
    assert not SECTION.applies(Results(load(RunBuilder([CaseSpec()]).write(tmp_path / "other"))))


def test_what_limits_them_is_not_judged_by_counters_of_all_groups(tmp_path: Path) -> None:
    results = Results(run_of(tmp_path))
    assert {verdict.summary.case.number for verdict in results.analysis.verdicts} == {1, 2}


def test_a_comparison_tells_what_ran_at_the_same_time(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    cases = [*run.cases.values()]
    found = items(cases)
    assert [one.case.number for one in found if BESIDE in one.work] == [3, 4]
    assert all(one.other and not one.differences for one in match(found, found))
    larger = cases[3].model_copy(update={"pattern": {**cases[3].pattern, "block": 1 << 30}})
    changed = {one.item.case.number: one.differences for one in match(found, items([*cases[:3], larger]))}
    assert "beside" in changed[3], "the neighbour is part of what is measured"


def test_what_nodes_count_says_nothing_of_one_group(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    served = [
        one.model_copy(update={"served_bytes": one.bytes, "served_source": "network"}) for one in run.samples
    ]
    alone, together = (
        served_by(run.cases[number], "read", served, process_counts=False) for number in (1, 3)
    )
    assert alone is not None
    assert together is None


def test_a_turn_that_an_error_ended_was_not_ended_by_the_time_limit(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    error = ErrorRow.model_validate({"time_s": 1, "case": 4, "kind": "io", "message": "no space"})
    kept = [one for one in run.samples if one.case not in (3, 4) or one.repetition < 2]
    plan = run.plan.model_copy(update={"time_limit_s": 100.0})
    cut = run.model_copy(update={"samples": kept, "errors": [error], "plan": plan})
    assert time_limit_cut(cut) is None
    assert time_limit_cut(cut.model_copy(update={"errors": []})) is not None
