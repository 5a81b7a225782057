"""Headlines rest on trusted results alone, and name those that do not differ from the best one."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from builders import KIB, MIB, CaseSpec, RunBuilder, sweep
from strider.report.labels.facets import Facets
from strider.report.words.headlines import best_rates, headline_remark
from strider.statistics import summarize
from strider.store import Run, load
from trusted import trusted


def run_of(tmp_path: Path, cases: list[CaseSpec], repetitions: int = 5) -> Run:
    return load(RunBuilder(cases, repetitions=repetitions).write(tmp_path / "run"))


def cards_of(run: Run) -> list[tuple[str, str, str]]:
    facets = Facets.of(list(run.cases.values()))
    return [(card.name, card.value, card.how) for card in best_rates(summarize(run), facets)]


# proves measuring: headline
def test_the_best_of_several_is_the_one_that_leads_beyond_chance(tmp_path: Path) -> None:
    run = trusted(run_of(tmp_path, sweep(transfers=(4 * KIB, MIB), operations=("write",))))
    ((name, value, how),) = cards_of(run)
    best = max(summary.rate.centre for summary in summarize(run) if summary.rate)
    assert name == "write"
    assert float(value.split()[0]) == pytest.approx(best, rel=0.01)
    assert how == "through posix, 2 clients, segmented, 1 MiB per transfer (of 4 trusted results; trust A)"


# proves measuring: drawn-to-mean, not-distinguishable
def test_results_that_chance_may_have_ordered_share_the_headline(tmp_path: Path) -> None:
    run = trusted(run_of(tmp_path, [CaseSpec(name=name, operations=("write",)) for name in "abcd"]))
    base = next(sample.rate_mib_s for sample in run.samples)
    lucky = [
        sample.model_copy(update={"rate_mib_s": base * (1 + 0.004 * (sample.case == 3)) * factor})
        for sample, factor in zip(run.samples, [1.0, 0.99, 1.02, 0.985, 1.01] * 4, strict=True)
    ]
    run = run.model_copy(update={"samples": lucky})
    ((_, value, how),) = cards_of(run)
    summaries = summarize(run)
    centres = [summary.rate.centre for summary in summaries if summary.rate]
    assert "not distinguishable from 3 others" in how
    assert float(value.split()[0]) == pytest.approx(sum(centres) / 4, rel=0.002)


# proves measuring: no-c-or-d, no-headline
def test_results_that_are_not_trusted_have_no_headline_and_one_reason(tmp_path: Path) -> None:
    """The verified case, the short one and the cached read are in tables alone."""
    run = trusted(run_of(tmp_path, [CaseSpec()]))
    assert [name for name, _, _ in cards_of(run)] == ["write", "read"]
    assert headline_remark(summarize(run)) == ""
    cases = {1: run.cases[1].model_copy(update={"verify": "full"})}
    verified = run.model_copy(update={"cases": cases})
    assert cards_of(verified) == []
    assert headline_remark(summarize(verified)) == (
        "No headline for write, read (best grade: C verified): "
        "headlines need trust A or B, 5 repetitions, and intervals within ±10 % (root mean square of the "
        "results)."
    )
    cached = [
        sample.model_copy(update={"served_bytes": 0, "served_by_storage": 0.0})
        if sample.operation == "read"
        else sample
        for sample in run.samples
    ]
    reads = run.model_copy(update={"samples": cached})
    assert [name for name, _, _ in cards_of(reads)] == ["write"]
    assert headline_remark(summarize(reads)) == (
        "No headline for read (best grade: D cache): headlines need trust A or B, 5 repetitions, and "
        "intervals within ±10 % (root mean square of the results)."
    )
    short = run.model_copy(update={"samples": [s.model_copy(update={"elapsed_s": 0.5}) for s in run.samples]})
    assert cards_of(short) == []


# proves measuring: headline-needs
def test_three_repetitions_are_no_headline_though_they_agree(tmp_path: Path) -> None:
    run = trusted(run_of(tmp_path, [CaseSpec(operations=("write",))], repetitions=3))
    assert [summary.trust.grade for summary in summarize(run) if summary.trust] == ["B"]
    assert cards_of(run) == []


def test_results_that_are_narrow_by_luck_are_no_headline(tmp_path: Path) -> None:
    """Of noisy results some have a narrow interval by chance, and the highest of these is too high."""
    run = trusted(run_of(tmp_path, [CaseSpec(operations=("write",)) for _ in range(3)]))
    assert len(cards_of(run)) == 1
    noisy = [
        sample.model_copy(update={"rate_mib_s": sample.rate_mib_s * (0.8 if sample.repetition % 2 else 1.2)})
        if sample.case > 1
        else sample
        for sample in run.samples
    ]
    unsteady = run.model_copy(update={"samples": noisy})
    assert [summary.trust.grade for summary in summarize(unsteady) if summary.trust] == ["A", "C", "C"]
    assert cards_of(unsteady) == []


@pytest.mark.parametrize(
    ("usual", "wild", "leads"),
    [
        pytest.param(0.03, 0.15, True, id="some are unsteady beside steady ones"),
        pytest.param(0.055, 0.15, False, id="half are narrow by luck"),
        pytest.param(0.055, 0.055, True, id="all are narrow enough"),
    ],
)
# proves measuring: headline-needs
def test_all_results_say_how_much_they_vary(tmp_path: Path, usual: float, wild: float, leads: bool) -> None:
    """Half of the intervals are within 10 % by chance in 8 % of runs that vary by 10 %."""
    run = trusted(run_of(tmp_path, [CaseSpec(operations=("write",)) for _ in range(5)]))
    factors = {
        case: [math.exp(deviation * one) for one in (-1.2, -0.6, 0.0, 0.6, 1.2)]
        for case, deviation in enumerate((usual, wild, usual, wild, usual), 1)
    }
    order = (2, 4, 0, 3, 1)  # no trend
    samples = [
        sample.model_copy(update={"rate_mib_s": 1000 * factors[sample.case][order[sample.repetition % 5]]})
        for sample in run.samples
    ]
    assert bool(cards_of(run.model_copy(update={"samples": samples}))) is leads


# proves measuring: no-c-or-d
def test_one_repetition_is_no_headline_however_high(tmp_path: Path) -> None:
    run = trusted(run_of(tmp_path, [CaseSpec(operations=("write",)), CaseSpec(operations=("write",))]))
    few = [
        sample.model_copy(update={"rate_mib_s": 9 * sample.rate_mib_s}) if sample.case == 2 else sample
        for sample in run.samples
        if sample.case == 1 or sample.repetition == 0
    ]
    ((_, value, how),) = cards_of(run.model_copy(update={"samples": few}))
    assert float(value.split()[0]) < 3000
    assert "the only trusted result of 2" in how


def test_interface_null_never_leads(tmp_path: Path) -> None:
    cases = [CaseSpec(operations=("write",)), CaseSpec(interface={"name": "null"}, operations=("write",))]
    ((_, _, how),) = cards_of(trusted(run_of(tmp_path, cases)))
    assert "through posix" in how
