"""The report needs no other files, shows all measurements, and lets no text of the user become markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from builders import KIB, MIB, CaseSpec, RunBuilder, sweep
from strider.errors import StriderError
from strider.report import write_html
from strider.report.labels.facets import Facets
from strider.report.tables.data import result_tables
from strider.statistics import summarize
from strider.store import Run, load
from trusted import trusted

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """A parsed report: its elements with attributes, its headings, and whether elements nest properly."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data.strip()))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, tag: str = "") -> str:
        return " ".join(text for name, text in self.texts if tag in ("", name))


def run_of(directory: Path, cases: Iterable[CaseSpec], repetitions: int = 3, suite: str = "synthetic") -> Run:
    builder = RunBuilder(cases, repetitions=repetitions)
    builder.suite = suite
    return load(builder.write(directory))


def page_of(tmp_path: Path, *runs: Run) -> Page:
    page = Page(write_html(runs, tmp_path / "report.html").read_text())
    assert page.open == []
    return page


def test_a_sweep_has_one_chart_per_operation_and_clients(tmp_path: Path) -> None:
    page = page_of(tmp_path, run_of(tmp_path / "run", sweep(clients=(1, 4)), repetitions=4))
    text = page.text()
    assert sum("against transfer size" in (one["aria-label"] or "") for one in page.named("svg")) == 4
    for title in ("write, 1 client", "write, 4 clients", "read, 1 client", "read, 4 clients"):
        assert title in text
    assert "95 % confidence interval" in page.text("figcaption")


def test_rows_of_tables_are_in_the_order_of_their_transfers(tmp_path: Path) -> None:
    cases = sweep(interfaces=["posix"], transfers=(MIB, 4 * KIB, 64 * KIB), operations=["write"])
    run = run_of(tmp_path, cases)
    (table, *_) = result_tables(summarize(run), Facets.of(list(run.cases.values())))
    place = [name for name, _ in table.columns].index("transfer")
    assert [row[place] for row in table.rows] == ["4 KiB", "64 KiB", "1 MiB"]


def test_one_transfer_size_is_drawn_as_bars(tmp_path: Path) -> None:
    page = page_of(
        tmp_path, run_of(tmp_path / "run", sweep(transfers=(MIB,), patterns=("segmented", "strided")))
    )
    labels = [attributes["aria-label"] or "" for attributes in page.named("svg")]
    rates = [label for label in labels if "rate in MiB/s" in label]
    assert [label[:9] for label in rates] == ["Bar chart", "Bar chart"]


def test_a_single_rate_needs_no_chart_but_its_latencies_do(tmp_path: Path) -> None:
    page = page_of(tmp_path, trusted(run_of(tmp_path / "run", [CaseSpec()], repetitions=5)))
    labels = [attributes["aria-label"] or "" for attributes in page.named("svg")]
    assert not any("rate in MiB/s" in label for label in labels)
    assert sum("latency against percentile" in label for label in labels) == 2
    assert "Highest trusted rates:" in page.text()


def test_two_repetitions_show_their_extremes_and_say_so(tmp_path: Path) -> None:
    page = page_of(tmp_path, run_of(tmp_path / "run", sweep(), repetitions=2))
    assert "minimum and maximum (3 or fewer repetitions)" in page.text("figcaption")


# proves measuring: calls-shown
def test_calls_have_a_table_where_they_differ_from_the_requests(tmp_path: Path) -> None:
    caption = "Requests and file system calls, mean per repetition"
    collective = CaseSpec(interface={"name": "mpiio"}, calls_per_request=0.25)
    page = page_of(tmp_path, run_of(tmp_path / "run", [CaseSpec(), collective]))
    assert caption in page.text("caption")
    assert {"0.250", "1.00"} <= set(page.text("td").split())
    assert caption not in page_of(tmp_path, run_of(tmp_path / "plain", [CaseSpec()])).text("caption")


def test_interface_null_is_not_drawn_beside_real_ones(tmp_path: Path) -> None:
    page = page_of(tmp_path, run_of(tmp_path / "run", sweep(interfaces=("posix", "null"))))
    assert "Interface null transfers no data" in page.text()
    assert not any("null" in (label.get("aria-label") or "") for label in page.named("path"))


def test_the_page_loads_nothing_and_runs_nothing(tmp_path: Path) -> None:
    page = page_of(tmp_path, run_of(tmp_path / "run", sweep()))
    assert page.named("script") == page.named("link") == page.named("img") == []
    for _, attributes in page.elements:
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in ("href", "src") or (value or "").startswith("#")
    assert "url(" not in page.text("style")


def test_every_link_leads_to_a_place_in_the_page(tmp_path: Path) -> None:
    one = run_of(tmp_path / "one", [CaseSpec(wrong_data=True), CaseSpec(interface={"name": "mpiio"})])
    page = page_of(tmp_path, one, run_of(tmp_path / "two", sweep()))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {f"#{place}" for place in ids} >= {attributes["href"] for attributes in page.named("a")}


def test_tables_can_be_read_aloud(tmp_path: Path) -> None:
    page = page_of(tmp_path, run_of(tmp_path / "run", sweep()))
    assert all(attributes.get("scope") in ("col", "row") for attributes in page.named("th"))
    headings = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h\d", tag)]
    assert headings[0] == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(headings))


def test_texts_of_the_user_are_no_markup(tmp_path: Path) -> None:
    nasty = "<script>alert('x')</script>\"&"
    cases = [
        CaseSpec(name=nasty, interface={"name": "mpiio", "prefix": prefix}, pattern=pattern)
        for prefix in ("<img src=x onerror=alert(1)>", "ufs:")
        for pattern in ({"name": "segmented", "transfer": 4096}, {"name": "segmented", "transfer": 8192})
    ]
    cases.append(CaseSpec(name="b"))
    page = page_of(tmp_path, run_of(tmp_path / "run", cases, suite=nasty))
    assert page.named("script") == page.named("img") == []
    assert nasty in page.text("h1")


def test_what_is_wrong_is_said_first(tmp_path: Path) -> None:
    cases = [CaseSpec(wrong_data=True), CaseSpec(interface={"name": "mpiio"})]
    text = page_of(tmp_path, run_of(tmp_path / "run", cases)).text()
    assert text.index("Read this first") < text.index("No headline for")
    assert "3 samples void" in text
    assert "different data" in text
    assert "expected 00ff, found 0000" in text


def test_a_good_run_raises_no_alarm(tmp_path: Path) -> None:
    text = page_of(tmp_path, run_of(tmp_path / "run", sweep())).text()
    assert "Read this first" not in text
    assert "3 reads of the same data through posix, mpiio compared by digest: all agree." in text


def test_a_run_without_samples_is_reported_as_such(tmp_path: Path) -> None:
    directory = RunBuilder([CaseSpec()]).write(tmp_path / "run", status=None)
    (directory / "events.jsonl").unlink()
    text = page_of(tmp_path, load(directory)).text()
    assert "The run is incomplete: it is still active, or was killed" in text
    assert "2 of 2 planned operations have no sample" in text


def test_the_environment_is_listed_with_units(tmp_path: Path) -> None:
    text = page_of(tmp_path, run_of(tmp_path / "run", [CaseSpec()])).text()
    for fact in (
        "Invented CPU",
        "256 GiB",
        "ext4",
        "MPICH 4.0.2 (synthetic)",
        "tsc, 12.4 ns per reading",
        "data seed",
    ):
        assert fact in text


def test_reads_that_a_cache_may_have_served_are_called_so(tmp_path: Path) -> None:
    remark = "so its cache may have served reads instead of storage"
    buffered = run_of(tmp_path / "buffered", [CaseSpec()])
    direct = run_of(tmp_path / "direct", [CaseSpec(interface={"name": "posix", "direct": True})])
    assert remark in page_of(tmp_path, buffered).text()
    assert remark not in page_of(tmp_path, direct).text()


def test_what_interfaces_said_of_their_files_is_listed(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", sweep())
    samples = [s.model_copy(update={"facts": {"hint.cb_nodes": str(s.case)}}) for s in run.samples]
    page = page_of(tmp_path, run.model_copy(update={"samples": samples}))
    assert "hint.cb_nodes" in page.text("td")
    assert "1 · 2 · 3" in page.text("td")


@pytest.mark.slow
def test_a_thousand_cases_make_a_page_of_a_few_megabytes(tmp_path: Path) -> None:
    transfers = [1 << power for power in range(12, 24)]
    cases = sweep(
        interfaces=("posix", "mpiio", "uring"),
        transfers=transfers,
        clients=(1, 2, 4, 8),
        patterns=("segmented", "strided"),
        operations=("write",),
        sharing=["shared", "per-rank"],
        order=["forward", "random"],
    )
    assert len(cases) > 1000
    run = run_of(tmp_path / "run", cases, repetitions=1)
    out = write_html([run], tmp_path / "report.html")
    assert out.stat().st_size < 10_000_000
    page = Page(out.read_text())
    groups = [attributes for attributes in page.named("details") if attributes.get("class") == "group"]
    assert len(groups) == 8
    assert sum("open" in attributes for attributes in groups) == 1, "only the first is open"


def test_a_large_run_has_boxes_and_a_small_one_has_none(tmp_path: Path) -> None:
    small = page_of(tmp_path, run_of(tmp_path / "small", sweep()))
    assert small.named("input") == []
    large = page_of(tmp_path, run_of(tmp_path / "large", sweep(clients=(1, 2, 4, 8)), repetitions=1))
    boxes = [attributes["id"] for attributes in large.named("input")]
    assert len(boxes) == 2 + 2 + 4
    marked = {mark for row in large.named("tr") for mark in (row.get("class") or "").split()}
    assert {f"run-1-{mark}" for mark in marked - {"first"}} == set(boxes)
    assert all(f"#{box}:not(:checked)" in large.text("style") for box in boxes)


def test_charts_end_where_they_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strider.report.sections.rates._MAXIMUM_CHARTS", 3)
    run = run_of(
        tmp_path / "run", sweep(patterns=("segmented", "strided"), operations=("write",)), repetitions=1
    )
    page = page_of(tmp_path, run)
    assert sum("transfer size" in (one["aria-label"] or "") for one in page.named("svg")) == 2
    assert "Charts of latency are omitted: the report has its maximum of 3 charts" in page.text()
    monkeypatch.setattr("strider.report.sections.rates._MAXIMUM_CHARTS", 1)
    text = page_of(tmp_path, run).text()
    assert (
        "Charts are omitted: the report has its maximum of 1 charts. The tables contain these results" in text
    )


def test_what_ranks_and_time_show_has_a_part_of_its_own(tmp_path: Path) -> None:
    cases = [CaseSpec(slow_ranks={1: 2.0}, timelines=[[16] * 5 + [0] * 5 + [16] * 5] * 2)]
    page = page_of(tmp_path, run_of(tmp_path / "run", cases))
    assert "Ranks and time" in page.text("h2")
    assert "Rate over time: 2 charts" in page.text("summary")
    assert "rank 1 on synthetic 0.500 × the median" in page.text("title")


def test_a_small_report_is_small(tmp_path: Path) -> None:
    out = write_html([run_of(tmp_path / "run", sweep(transfers=(64 * KIB, MIB)))], tmp_path / "report.html")
    assert out.stat().st_size < 500_000


def test_a_report_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", [CaseSpec()])
    with pytest.raises(StriderError, match="cannot write"):
        write_html([run], tmp_path / "missing" / "report.html")


def test_an_error_of_the_whole_run_is_not_put_down_to_a_case(tmp_path: Path) -> None:
    directory = RunBuilder([CaseSpec()]).write(tmp_path / "run", status=None)
    with (directory / "events.jsonl").open("a") as events:
        events.write(
            '{"event":"error","time_s":9,"case":null,"repetition":null,"operation":null,"kind":"stall",'
            '"rank":3,"message":"is silent"}\n'
            '{"event":"error","time_s":9,"case":2,"repetition":0,"operation":null,"kind":"stall",'
            '"rank":3,"message":"is silent"}\n'
        )
    page = page_of(tmp_path, load(directory))
    assert "the run" in page.text("th")
    assert "2, repetition 0" in page.text("th")
    assert "is silent (the run, rank 3)" in page.text()
    assert "None" not in page.text()
