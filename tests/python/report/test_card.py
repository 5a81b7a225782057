"""The card in the report of a run of `strider quick`."""

from io import StringIO
from pathlib import Path

from rich.console import Console

import report_runs
from strider.card import card_lines, read_card
from strider.report import document_of, show
from strider.report.blocks import Facts, Table, Text
from strider.report.results.results import Results
from strider.report.sections.card import SECTION
from strider.store import load


def test_it_shows_the_sentence_the_graded_rates_and_the_ratios(tmp_path: Path) -> None:
    run = report_runs.make("card", tmp_path)
    card = read_card(run.directory)
    assert card
    sentence, *blocks = SECTION.page(Results(run))
    assert sentence == Text(card.verdict, "bold")
    (table,) = (block for block in blocks if isinstance(block, Table))
    assert [row[0] for row in table.rows] == ["write, 1 MiB, stable", "read, 1 MiB, cold"]
    assert [row[-1].split()[0] for row in table.rows] == [line.grade for line in card.lines]
    ratios, missing = (block.rows for block in blocks if isinstance(block, Facts))
    assert ratios[0][0] == "1 MiB / POSIX"
    assert "io_uring x" in ratios[0][1]
    assert list(missing) == [("pieces", "no time")]


def test_other_runs_have_none(tmp_path: Path) -> None:
    assert not SECTION.applies(Results(report_runs.make("one case", tmp_path)))


def test_a_terminal_shows_the_card_after_the_table(tmp_path: Path) -> None:
    run = report_runs.make("card", tmp_path / "before")
    moved = load(run.directory.rename(tmp_path / "moved"))
    card = read_card(moved.directory)
    assert card
    console = Console(width=120, record=True, file=StringIO())
    show(Results(moved), console)
    lines = console.export_text().splitlines()
    own = [line.text for line in card_lines(card)]
    assert lines[-len(own) : -1] == own[:-1]
    assert lines[-1] == f"report: {moved.directory}/report.html"
    assert lines[0].split()[:2] != own[0].split()[:2]


def test_programs_get_the_card(tmp_path: Path) -> None:
    run = report_runs.make("card", tmp_path)
    card = read_card(run.directory)
    assert card
    assert document_of(Results(run))["card"] == card.document()
