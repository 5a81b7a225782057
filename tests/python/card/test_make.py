"""A card from a run."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import KIB, MIB, CaseSpec, RunBuilder
from card_builders import append, line, place
from limits_builders import of_clients
from strider.card import Budget, Card, Machine, PlaceFacts, make_card, read_card, write_card
from strider.card.make import others_share, touched
from strider.card.model import CARD_FILE, NotMeasured
from strider.card.ratios import word_of
from strider.statistics import summarize
from strider.statistics.counters import CounterSummary
from strider.store import load
from strider.store.model import Confinement

BUDGET = Budget(asked_s=60, took_s=59.0)
MACHINE = Machine(cores=2, memory=24 * 10**9)


def sequential(**more: object) -> CaseSpec:
    values = {"name": "sequential", "clients": 1, "interface": {"name": "posix", "direct": True}}
    return CaseSpec(**{**values, **more})  # type: ignore[arg-type]


def made(
    folder: Path, cases: list[CaseSpec], repetitions: int = 5, missing: list[NotMeasured] | None = None
) -> Card:
    run = load(RunBuilder(cases, repetitions=repetitions).write(folder / "run"))
    return make_card(run, summarize(run), place(), MACHINE, BUDGET, missing=missing or [])


def test_a_line_is_an_operation_with_the_grade_of_its_result(tmp_path: Path) -> None:
    run = load(RunBuilder([sequential()], repetitions=5).write(tmp_path / "run"))
    summaries = summarize(run)
    card = make_card(run, summaries, place(), MACHINE, BUDGET)
    by_operation = {summary.operation: summary for summary in summaries}
    for name, operation in (("write.sequential", "write"), ("read.sequential", "read")):
        line, summary = card.line(name), by_operation[operation]
        assert line
        assert line.rate
        assert summary.rate
        assert summary.trust
        assert line.rate.value == pytest.approx(summary.rate.centre * MIB)
        assert (line.grade, line.reasons) == (summary.trust.grade, list(summary.trust.reasons))
        assert len(line.rounds) == 5
    assert card.budget.rounds == 5


def test_a_card_has_the_confinement_of_its_run(tmp_path: Path) -> None:
    directory = RunBuilder([sequential()]).write(tmp_path / "run")
    assert made(tmp_path, [sequential()]).confinement is None
    first, *rest = (directory / "events.jsonl").read_text(encoding="utf-8").splitlines()
    lost = {"state": "none", "missing": "the kernel has no Landlock"}
    events = [json.dumps({**json.loads(first), "confinement": lost}), *rest]
    (directory / "events.jsonl").write_text("\n".join(events), encoding="utf-8")
    run = load(directory)
    card = make_card(run, summarize(run), place(), MACHINE, BUDGET)
    assert card.confinement == Confinement(**lost)
    assert card.cautions[0].id == "confinement"


def test_small_requests_are_counted(tmp_path: Path) -> None:
    pattern = {"name": "random", "transfer": 4 * KIB, "size": MIB}
    card = made(tmp_path, [sequential(name="random", pattern=pattern, operations=("read",))])
    line = card.line("read.random")
    assert line
    assert line.rate
    assert line.rate.unit == "1/s"
    assert line.rate.value == pytest.approx(line.rounds[0].requests / line.rounds[0].seconds, rel=0.5)


def test_a_read_from_the_cache_has_no_grade_and_only_then_a_line(tmp_path: Path) -> None:
    for served, shown in ((0.0, True), (1.0, False)):
        case = sequential(name="cached", served=served, interface={"name": "posix"})
        line = made(tmp_path / str(served), [case]).line("read.cached")
        assert (line is not None) is shown
        assert line is None or line.grade == ""


def test_ratios_are_paired_by_round_and_two_rounds_have_no_word(tmp_path: Path) -> None:
    cases = [
        CaseSpec(name="large", interface={"name": name}, operations=("write",))
        for name in ("posix", "mpiio", "uring")
    ]
    assert {ratio.id for ratio in made(tmp_path / "5", cases).ratios} == {"large.mpiio", "large.uring"}
    for ratio in made(tmp_path / "2", cases, repetitions=2).ratios:
        assert (ratio.pairs, ratio.low, ratio.word) == (2, None, None)


def test_what_is_missing_is_named_with_its_reason(tmp_path: Path) -> None:
    missing = [NotMeasured(id="read.random", why="no space")]
    card = made(tmp_path, [sequential()], missing=missing)
    line = card.line("read.random")
    assert line
    assert (line.rate, line.why) == (None, "no space")
    assert card.not_measured[0] == missing[0]


def test_it_is_kept_beside_the_run(tmp_path: Path) -> None:
    card = made(tmp_path, [sequential()])
    assert read_card(tmp_path) is None
    write_card(card, tmp_path)
    assert read_card(tmp_path) == card
    (tmp_path / CARD_FILE).write_text("{", encoding="utf-8")
    assert read_card(tmp_path) is None


@given(low=st.floats(0.01, 100), width=st.floats(1, 100))
def test_a_word_needs_an_interval_on_one_side_of_1(low: float, width: float) -> None:
    word = word_of(low, low * width)
    assert (word == "faster") is (low > 1.1)
    assert (word == "slower") is (low * width < 1 / 1.1)
    if word == "same":
        assert low > 1 / 1.1
        assert low * width < 1.1


def test_clients_are_set_against_one_client_of_the_same_phases(tmp_path: Path) -> None:
    """A burst makes short phases faster: a long phase of one client would not be the same work."""
    cases = [
        sequential(clients=1),
        *(
            sequential(name="clients", clients=count, common={"sharing": sharing})
            for count, sharing in SHARINGS
        ),
    ]
    card = made(tmp_path, cases)
    run = load(tmp_path / "run")
    rates = {
        (case.clients, case.sharing, case.name): [one for one in run.samples if one.case == case.number]
        for case in run.plan.cases
    }
    alone = [one.rate_mib_s for one in rates[1, "per-rank", "clients"] if one.operation == "write"]
    both = [one.rate_mib_s for one in rates[2, "per-rank", "clients"] if one.operation == "write"]
    (found,) = (ratio for ratio in card.ratios if ratio.id == "clients.write")
    wanted = [two / one for one, two in zip(alone, both, strict=True)]
    assert min(wanted) <= found.value <= max(wanted)
    assert found.value == pytest.approx(float(np.exp(np.log(wanted).mean())))


SHARINGS = ((1, "per-rank"), (2, "per-rank"), (2, "shared"))


@pytest.mark.parametrize(("status", "cut"), [("complete", False), ("interrupted", True), ("failed", True)])
def test_a_run_that_did_not_complete_is_cut(tmp_path: Path, status: str, cut: bool) -> None:
    run = load(RunBuilder([sequential()], repetitions=2).write(tmp_path / "run", status=status))
    assert make_card(run, summarize(run), place(), MACHINE, BUDGET).budget.cut is cut


@pytest.mark.parametrize(("native", "ids"), [("gfapi", {"native.large"}), ("", set())])
def test_the_library_of_the_file_system_is_divided_by_posix(
    tmp_path: Path, native: str, ids: set[str]
) -> None:
    cases = [
        CaseSpec(name="large", interface={"name": name}, operations=("write",)) for name in ("posix", "gfapi")
    ]
    run = load(RunBuilder(cases, repetitions=3).write(tmp_path / "run"))
    facts = place("network", native=native)
    found = make_card(run, summarize(run), facts, MACHINE, BUDGET).ratios
    assert {ratio.id for ratio in found} == ids


def test_clients_of_a_library_are_compared_through_it(tmp_path: Path) -> None:
    cases = [
        CaseSpec(name="clients", interface={"name": "nfs"}, clients=count, common={"sharing": "per-rank"})
        for count in (1, 2)
    ]
    run = load(RunBuilder(cases, repetitions=3).write(tmp_path / "run"))
    facts = place("network", interface="nfs", native="nfs")
    found = make_card(run, summarize(run), facts, MACHINE, BUDGET).ratios
    assert {ratio.id for ratio in found} == {"clients.write", "clients.read"}


@pytest.mark.parametrize(
    ("facts", "name", "touch_us", "grade"),
    [
        (place(direct=False), "write.sequential", 4.0, "C"),  # 256 pages of 4 us: all of the time
        (place(direct=False), "write.sequential", 0.9, "A"),
        (place(), "write.sequential", 4.0, "A"),
        (place(), "append.fsync", 4.0, "A"),  # a page in 200 us
        (place(), "append.fsync", 40.0, "C"),
        (place("memory"), "write.sequential", 4.0, "C"),
        (place("memory"), "read.sequential", 4.0, "A"),
        (place("network", interface="nfs", direct=False), "write.sequential", 4.0, "A"),
    ],
)
def test_new_memory_that_takes_a_tenth_of_the_time_lowers_the_grade(
    facts: PlaceFacts, name: str, touch_us: float, grade: str
) -> None:
    machine = MACHINE.model_copy(update={"first_touch_us": touch_us})
    made = append(request=4096, rounds=[]) if name == "append.fsync" else line(name, 1e9, request=MIB)
    found = touched(made, facts, machine)
    assert found.grade == grade
    assert list(found.reasons) == (["touch"] if grade == "C" else [])


def test_a_lower_grade_keeps_its_reasons() -> None:
    machine = MACHINE.model_copy(update={"first_touch_us": 4.0})
    for grade, reasons in (("C", ["touch", "spread"]), ("D", ["spread"])):
        made = line("write.sequential", 1e9, request=MIB, grade=grade, reasons=["spread"])
        assert list(touched(made, place(direct=False), machine).reasons) == reasons


@pytest.mark.parametrize(("spread", "has_limit"), [(0.1, True), (0.2, False), (None, False)])
def test_a_steady_memory_copy_is_the_limit_of_memory(
    tmp_path: Path, spread: float | None, has_limit: bool
) -> None:
    run = load(RunBuilder([sequential()], repetitions=3).write(tmp_path / "run"))
    report = of_clients(memory_copy=9000.0)
    copies = [one.model_copy(update={"spread": spread}) for one in report.ceilings]
    run = run.model_copy(update={"ceilings": [report.model_copy(update={"ceilings": copies})]})
    made = make_card(run, summarize(run), place("memory"), MACHINE, BUDGET)
    assert (made.limit is not None) is has_limit
    found = made.line("write.sequential")
    assert found
    assert found.rate
    assert found.limit == (pytest.approx(found.rate.value / (9000 * MIB)) if has_limit else None)
    assert make_card(run, summarize(run), place(), MACHINE, BUDGET).limit is None


@pytest.mark.parametrize(("busy_s", "share"), [(3.0, 0.25), (1.0, 0.0), (4.0, 0.5)])
def test_others_are_what_the_processors_ran_beside_the_ranks(
    tmp_path: Path, busy_s: float, share: float
) -> None:
    """Two processors for 2 s, of which the ranks used 2 s."""
    (summary, *_) = summarize(load(RunBuilder([sequential()], repetitions=3).write(tmp_path / "run")))
    totals = {("cpu", "user_s"): busy_s, ("cpu", "idle_s"): 4 - busy_s}
    samples = [one.model_copy(update={"user_s": 1.5, "system_s": 0.5}) for one in summary.samples]
    counted = replace(summary, samples=samples, counters=CounterSummary(2.0, 1, totals, 0.0))
    assert others_share([counted]) == pytest.approx(share)
    assert others_share([replace(counted, counters=None)]) is None
    few = {name: value / 100 for name, value in totals.items()}
    assert others_share([replace(counted, counters=CounterSummary(0.02, 1, few, 0.0))]) is None
