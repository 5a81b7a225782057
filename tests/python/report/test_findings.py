"""The first screen of a report: conclusions in the order of their evidence, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import report_runs
from builders import CaseSpec, RunBuilder, sweep
from limits_builders import Result, analysis_of
from strider.limits import said
from strider.report.blocks import Alert, Block, Cards, Conclusion, Conclusions, walk
from strider.report.figures import svg
from strider.report.output.page import rendered, view_of
from strider.report.results.results import Results
from strider.report.sections import SECTIONS
from strider.report.sections.findings import SECTION
from strider.report.words.advice import advice
from strider.statistics import summarize
from strider.store import Run, load
from strider.units import MIB
from trusted import trusted


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svg, "draw", lambda *_: "<svg/>")


def run_of(directory: Path, cases: Iterable[CaseSpec], repetitions: int) -> Run:
    return load(RunBuilder(cases, repetitions=repetitions).write(directory))


def conclusions(results: Results) -> list[Conclusion]:
    lists = [block for block in SECTION.page(results) if isinstance(block, Conclusions)]
    return [one for block in lists for one in block.conclusions]


def test_headlines_lead_to_the_figures_of_their_case(tmp_path: Path) -> None:
    run = trusted(run_of(tmp_path, sweep(transfers=(MIB,), operations=("write",)), repetitions=5))
    (cards,) = (block for block in SECTION.page(Results(run)) if isinstance(block, Cards))
    assert [card.to for card in cards.cards] == ["run-1-group-1"]


@pytest.mark.parametrize("kind", ["errors", "metadata", "card"])
def test_every_link_leads_to_a_place_of_the_page(kind: str, tmp_path: Path) -> None:
    view = view_of(SECTIONS, report_runs.make(kind, tmp_path), "run-1")
    page = rendered("report.html.j2", views=[view])
    assert {*re.findall(r'href="#([^"]+)"', page)} <= {*re.findall(r'id="([^"]+)"', page)}
    (part,) = (part for part in view.parts if part.name == "findings")
    assert part in view.parts[:2], "before all figures"
    linked = [
        one for _, block in walk(part.blocks) if isinstance(block, Conclusions) for one in block.conclusions
    ]
    assert any(one.to for one in linked)


def test_what_is_wrong_comes_first(tmp_path: Path) -> None:
    blocks: list[Block] = list(SECTION.page(Results(report_runs.make("errors", tmp_path))))
    assert isinstance(blocks[0], Alert)


def test_cached_reads_are_named_with_the_remedy(tmp_path: Path) -> None:
    texts = [one.text for one in conclusions(Results(report_runs.make("cached", tmp_path)))]
    assert "served by a cache" in texts[0]
    assert any(text.startswith("Read from storage: add --set case.cache=cold") for text in texts[1:])


def test_a_sentence_has_the_weakest_grade_of_its_results_and_none_by_definition() -> None:
    analysis = analysis_of(
        Result("write", times={"prepare_s": 0.5}), Result("write", times={"prepare_s": 0.6})
    )
    (sentence,) = said(analysis.verdicts)
    assert sentence.grade == "B"
    assert [str(one.summary.trust)[0] for one in sentence.verdicts] == ["B", "B"]
    (nothing,) = said(analysis_of(Result(interface={"name": "null"})).verdicts)
    assert (nothing.is_certain, nothing.grade) == (True, "")


# proves limits: repetitions-needed
def test_each_reason_of_a_low_grade_has_one_line_and_trusted_results_none(tmp_path: Path) -> None:
    run = trusted(run_of(tmp_path, [CaseSpec(), CaseSpec(operations=("write",))], repetitions=5))
    assert advice(summarize(run), {}) == []
    short = [sample.model_copy(update={"elapsed_s": 0.1}) for sample in run.samples]
    summaries = summarize(run.model_copy(update={"samples": short}))
    (line,) = advice(summaries, {1: "run-1-group-1"})
    assert line == Conclusion(
        "Measure phases of 1 s or more: increase block or segments about 10 times, or for writes and "
        'direct I/O set runtime = "1s" (3 results: short).',
        "run-1-group-1",
        "results",
    )
    cut = {number: case.model_copy(update={"deadline": 0.2}) for number, case in run.cases.items()}
    (line,) = advice(summarize(run.model_copy(update={"samples": short, "cases": cut})), {})
    assert line.text == "Measure phases of 1 s or more: raise the deadline (3 results: short)."
    single = run.model_copy(update={"samples": [s for s in run.samples if s.repetition == 0]})
    (line,) = advice(summarize(single), {})
    assert line.text == "Set repetitions = 5 (3 results: too few repetitions)."


def test_the_reason_of_the_most_results_comes_first(tmp_path: Path) -> None:
    cases = [CaseSpec(operations=("write",)) for _ in range(3)]
    run = trusted(run_of(tmp_path, cases, repetitions=5))
    verified = {1: run.cases[1].model_copy(update={"verify": "full"})}
    samples = [
        sample if sample.case == 1 else sample.model_copy(update={"elapsed_s": 0.1}) for sample in run.samples
    ]
    mixed = run.model_copy(update={"cases": {**run.cases, **verified}, "samples": samples})
    assert [line.text.split()[0:2] for line in advice(summarize(mixed), {})] == [
        ["Measure", "phases"],
        ["Measure", "once"],
    ]


def test_reads_of_an_unknown_source_get_the_settings_of_their_interface(tmp_path: Path) -> None:
    def advised(interface: str) -> list[str]:
        case = CaseSpec(interface={"name": interface}, operations=("read",))
        run = run_of(tmp_path / interface, [case], repetitions=5)
        samples = [sample.model_copy(update={"elapsed_s": 2.0}) for sample in run.samples]
        return [line.text for line in advice(summarize(run.model_copy(update={"samples": samples})), {})]

    remedy = "Show what served the reads: add --set case.cache=cold"
    assert f"{remedy} or --set case.posix.direct=true (1 result: source?)." in advised("posix")
    assert f"{remedy} (1 result: source?)." in advised("mmap")
    assert not any("source?" in line for line in advised("nfs")), "no setting shows the caches of servers"


def test_a_card_that_is_uncertain_or_lacks_lines_asks_for_more_time(tmp_path: Path) -> None:
    results = Results(report_runs.make("card", tmp_path))
    last = conclusions(results)[-1]
    assert "strider quick" in last.text
    assert last.text.endswith("--budget 300s")
    assert last.to == "run-1-card"
