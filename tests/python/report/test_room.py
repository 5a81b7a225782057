"""The page of a run with thousands of cases has a bounded number of rows, and names the omitted ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.report import write_html
from strider.report.blocks import Block, Charts, Fold, Heading, Table, Text, walk
from strider.report.output import room
from strider.report.output.room import bounded
from strider.report.sections import summary
from strider.store import load


def table(rows: int) -> Table:
    return Table(
        "t", [("case", ""), ("rate", "")], [[str(row), "1"] for row in range(rows)], 1, bad=frozenset({0, 7})
    )


def group(rows: int, number: int) -> Fold:
    return Fold(f"group {number}", [table(rows), Charts([])], anchor=f"group-{number}")


@pytest.fixture(autouse=True)
def ten_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_ROWS", 10)


def test_a_section_that_fits_is_shown_as_it_is() -> None:
    blocks: list[Block] = [Heading("h"), table(10)]
    assert bounded(blocks, "run") is blocks


def test_a_long_section_says_first_what_it_leaves_out_and_where_all_is() -> None:
    blocks: list[Block] = [Heading("h"), group(6, 1), group(6, 2), group(6, 3)]
    said, heading, first, second = bounded(blocks, "the-run")
    assert said == Text(
        "This page shows the first 10 of 18 rows of this section, without 1 group with its charts. "
        "All samples and results: strider export the-run -f csv; all sections: strider show the-run --json.",
        "doubt",
    )
    assert heading == Heading("h")
    shown = [block for _, block in walk([first, second]) if isinstance(block, Table)]
    assert [len(block.rows) for block in shown] == [6, 4]
    assert [block.bad for block in shown] == [frozenset({0}), frozenset({0})]


@pytest.mark.parametrize("cases", [3, 30])
def test_the_rows_of_a_page_do_not_grow_with_the_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cases: int
) -> None:
    monkeypatch.setattr(room, "MOST_ROWS", 40)
    specs = [CaseSpec(common={"deadline": 1.0 + number}) for number in range(cases)]
    run = load(RunBuilder(specs, repetitions=1).write(tmp_path / "run"))
    text = write_html([run], tmp_path / "report.html").read_text()
    bodies = [re.findall(r"<tbody>.*?</tbody>", section, re.DOTALL) for section in text.split("<section")[1:]]
    rows = max(sum(body.count("<tr") for body in of_section) for of_section in bodies)
    assert 2 * 3 <= rows <= 40
    assert ("This page shows the first 40 of " in text) == (cases == 30)


def test_an_axis_of_many_values_names_the_first_and_counts_the_others() -> None:
    assert summary._joined(["a", "b"]) == "a · b"
    assert summary._joined([str(number) for number in range(42)]).endswith(" · 39 · and 2 more")
    long = [f"{number:0100}" for number in range(1042)]
    assert summary._joined(long) == " · ".join([*long[:3], "and 1 039 more"])
    assert summary._joined(long[:40]) == " · ".join(long[:40])
