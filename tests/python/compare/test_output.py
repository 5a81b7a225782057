"""A comparison as a table, as JSON and as a page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from builders import MIB, CaseSpec, RunBuilder, sweep
from comparison_builders import in_turns, run_of, started
from strider.compare import Comparison, compare, compare_within
from strider.compare.document import as_document
from strider.compare.page import as_html, write_html
from strider.compare.sections import SECTIONS
from strider.compare.wording import change_text, interval_text, p_text
from strider.errors import StriderError
from strider.report.figures import change_by_case
from strider.report.output import terminal

WRITE = CaseSpec(operations=("write",))


def printed(comparison: Comparison, width: int = 160) -> str:
    console = Console(width=width, record=True, color_system=None)
    terminal.show(SECTIONS, comparison, console)
    return console.export_text()


def slowed(tmp_path: Path, cases: list[CaseSpec], factor: float = 0.9, repetitions: int = 12) -> Comparison:
    return compare(*in_turns(tmp_path, cases, factor=lambda *_: factor, pairs=repetitions))


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.0, "+0.0 %"), (0.947, "−5.3 %"), (0.5, "−50 %"), (1.12, "+12 %"), (2.0, "× 2.00"), (14.2, "× 14.2")],
)
def test_changes_are_percentages_and_large_ones_factors(ratio: float, text: str) -> None:
    assert change_text(ratio) == text


def test_an_interval_has_one_unit(tmp_path: Path) -> None:
    (row, *_) = slowed(tmp_path, [CaseSpec()], factor=1.95).rows
    assert row.change is not None
    wide = replace(row, change=replace(row.change, ratio=1.95, low=1.83, high=2.09))
    assert interval_text(wide) == "× 1.83 … × 2.09"
    narrow = replace(row, change=replace(row.change, ratio=1.9, low=1.83, high=1.95))
    assert interval_text(narrow) == "+83 % … +95 %"


@pytest.mark.parametrize(("p", "text"), [(1e-9, "< 0.001"), (0.0324, "0.032"), (0.9999, "1")])
def test_probabilities_are_short(p: float, text: str) -> None:
    assert p_text(p) == text


def test_the_table_says_what_is_compared_and_with_what_result(tmp_path: Path) -> None:
    text = printed(slowed(tmp_path, sweep()))
    assert "A: 12 runs, the first, a-0, /mnt/synthetic, on synthetic" in text
    assert len(re.findall("▼ slower", text)) == 12
    assert "12 slower (expected false discovery rate: at most 5 %" in text
    assert "−10 %" in text


# proves comparing: suite
def test_the_suite_comes_first(tmp_path: Path) -> None:
    comparison = slowed(tmp_path, sweep())
    assert printed(comparison).startswith("Over all 12 operations B is ")
    page = as_html(comparison)
    assert page.index("Over all 12 operations B is ") < page.index("What is compared") < page.index("<svg")


def test_rows_without_a_verdict_say_why_once(tmp_path: Path) -> None:
    base, other = (run_of(tmp_path / name, sweep()) for name in "ab")
    text = printed(compare([base], [started(other, 9)]))
    assert len(re.findall(r"\? no verdict", text)) == 12
    assert text.count("how much runs differ by chance is unknown") == 1
    assert "Grade of all comparisons: D single runs." in " ".join(text.split())
    assert "no verdict" in as_html(compare([base], [started(other, 9)]))


def test_several_reasons_for_no_verdict_are_counted_below_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunBuilder, "client_bytes", 4 * MIB)
    base, other = (run_of(tmp_path / name, sweep()) for name in "ab")
    text = " ".join(printed(compare([base], [started(other, 9)], ["rate", "latency-p50"])).split())
    assert (
        "24 no verdict. No verdict because: all repetitions of a side are shorter than 0.2 s (12); single "
        "runs: how much runs differ by chance is unknown (12)."
    ) in text
    assert text.count("all repetitions of a side are shorter") == 1


def test_a_large_comparison_shows_what_differs(tmp_path: Path) -> None:
    cases = sweep(transfers=[2**k for k in range(12, 24)], clients=(1, 2), operations=["write", "read"])
    sides = in_turns(tmp_path, cases, pairs=6, seed=2, factor=lambda case, _: 0.6 if case.number < 3 else 1.0)
    text = printed(compare(*sides))
    assert len(re.findall("▼ slower", text)) == 4
    assert "… 92 more rows" in text


def test_a_narrow_terminal_drops_columns_and_cuts_no_number(tmp_path: Path) -> None:
    comparison = slowed(tmp_path, sweep())
    assert "adjusted" in printed(comparison)
    narrow = printed(comparison, width=80)
    assert "adjusted" not in narrow
    assert "…\n" not in narrow
    assert "▼ slower" in narrow


# proves comparing: json
def test_the_document_is_plain_json_with_everything(tmp_path: Path) -> None:
    comparison = slowed(tmp_path, [WRITE, CaseSpec(wrong_data=True, common={"order": "random"})])
    document = json.loads(json.dumps(as_document(comparison), allow_nan=False))
    assert (document["format"], document["version"]) == ("strider-comparison", 1)
    assert document["counts"] == {
        "slower": 2,
        "faster": 0,
        "no difference shown": 0,
        "no verdict": 0,
        "not comparable": 1,
    }
    row = document["rows"][0]
    assert (row["operation"], row["metric"], row["unit"], row["verdict"]) == (
        "write",
        "rate",
        "MiB/s",
        "slower",
    )
    assert row["change"]["low"] < row["change"]["ratio"] < row["change"]["high"] < 1
    assert row["base"]["n"] == row["base"]["samples"] == 12
    assert {"mean", "median", "minimum", "maximum", "deviation", "variation"} <= set(row["base"])
    assert document["rows"][2]["change"] is None


class _Links(HTMLParser):
    """Collects the resources that a page would load, and its elements."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [
            value or ""
            for name, value in attrs
            if name in ("src", "href") and not (value or "").startswith("#")
        ]


@pytest.mark.parametrize("rows", [1, pytest.param(1000, marks=pytest.mark.slow)])
# proves comparing: output-file
def test_the_page_stands_alone_with_one_row_and_with_a_thousand(tmp_path: Path, rows: int) -> None:
    cases = (
        [WRITE]
        if rows == 1
        else sweep(
            interfaces=("posix", "mpiio"),
            transfers=[2**k for k in range(11, 21)],
            clients=(1, 2, 3, 4, 5),
            patterns=("segmented", "strided", "random", "tiled", "vector"),
        )
    )
    page = as_html(slowed(tmp_path, cases, repetitions=3))
    found = _Links()
    found.feed(page)
    assert found.loads == []
    assert "script" not in found.tags
    assert 1 <= found.tags.count("svg") <= 6
    assert page.count("<tr") >= 2 * rows
    assert "url(" not in page


def test_a_comparison_of_nothing_is_a_page_too(tmp_path: Path) -> None:
    base = run_of(tmp_path / "a", [WRITE])
    other = run_of(tmp_path / "b", [CaseSpec(interface={"name": "mpiio"}, operations=("read",))])
    comparison = compare([base], [other])
    page = as_html(comparison)
    assert "not comparable" in page
    assert "<svg" not in page
    assert "2 not comparable" in printed(comparison)


def test_what_users_write_is_text(tmp_path: Path) -> None:
    case = CaseSpec(name="<script>alert(1)</script>", operations=("write",))
    page = as_html(slowed(tmp_path, [case, WRITE]))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


# proves comparing: exit-0, exit-2-and-3
def test_a_page_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    comparison = compare_within(run_of(tmp_path / "a", sweep(transfers=[MIB])), "interface")
    with pytest.raises(StriderError, match="cannot write"):
        write_html(comparison, tmp_path / "missing" / "page.html")
    assert write_html(comparison, tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_verdicts_are_distinguished_without_colours() -> None:
    verdicts = ("slower", "faster", "no difference shown")
    bars = [
        change_by_case.Bar(verdict, verdict, ratio, ratio * 0.95, ratio * 1.05, "")
        for verdict, ratio in zip(verdicts, (0.8, 1.2, 1.0), strict=True)
    ]
    specification = json.dumps(change_by_case.figure(bars, 1.3, 0.05))
    shapes = re.findall(r'"(triangle-left|triangle-right|circle)"', specification)
    assert sorted(set(shapes)) == ["circle", "triangle-left", "triangle-right"]


@pytest.mark.parametrize("reach", [1.001, 1.05, 1.3, 2.5, 9.0, 500.0])
def test_the_axis_has_a_few_ticks_within_it(reach: float) -> None:
    bar = change_by_case.Bar("one", "slower", 1.0, 1 / reach, reach, "")
    specification = change_by_case.figure([bar], reach, 0.0)
    axis = specification["layer"][-1]["encoding"]["x"]
    low, high = axis["scale"]["domain"]
    assert high <= change_by_case.WIDEST
    assert all(low <= tick <= high for tick in axis["axis"]["values"])
    assert 2 <= len(axis["axis"]["values"]) <= 7
