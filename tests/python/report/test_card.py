"""The card in the report of a run of `strider quick`."""

from pathlib import Path

import report_runs
from strider.card import read_card
from strider.report.blocks import Facts, Table, Text
from strider.report.results.results import Results
from strider.report.sections.card import SECTION


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
