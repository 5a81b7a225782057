"""A phase whose time is uncertain by its clocks cannot pass for one whose time is known."""

from __future__ import annotations

from pathlib import Path

from builders import CaseSpec, RunBuilder
from printed import printed
from strider.report import write_html
from strider.report.words.clocks import clock_notes, clock_remark
from strider.statistics import summarize
from strider.store import Run, load

SENTENCE = "Clock synchronisation between nodes is too inexact for"


def run_of(tmp_path: Path, clock_error_s: float | None) -> Run:
    return load(RunBuilder([CaseSpec(clock_error_s=clock_error_s)], repetitions=2).write(tmp_path / "run"))


# proves measuring: clock-flag
def test_good_clocks_need_no_words(tmp_path: Path) -> None:
    for error_s in (None, 1e-6):
        summaries = summarize(run_of(tmp_path, error_s))
        assert clock_remark(summaries) == ""
        assert [clock_notes(summary) for summary in summaries] == [[], []]


def test_inexact_clocks_are_reported_in_the_row_and_in_a_sentence(tmp_path: Path) -> None:
    run = run_of(tmp_path, 0.5)
    summaries = summarize(run)
    assert [clock_notes(summary) for summary in summaries] == [["clocks inexact"]] * 2
    shortest_s = min(sample.elapsed_s for sample in run.samples)
    sentence = clock_remark(summaries)
    assert sentence.startswith(f"{SENTENCE} 4 of 4 phases")
    assert f"(at most {100 * 0.5 / shortest_s:.0f} %)" in sentence


# proves measuring: clock-flag
def test_the_table_and_the_report_say_it(tmp_path: Path) -> None:
    run = run_of(tmp_path, 0.5)
    text = printed(run)
    assert SENTENCE in text
    assert "clocks inexact" in text
    page = tmp_path / "report.html"
    write_html([run], page)
    assert SENTENCE in page.read_text(encoding="utf-8")
