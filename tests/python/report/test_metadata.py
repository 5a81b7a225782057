"""Tables, charts and report of operations of metadata: operations per second, latencies, mixes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from builders import CaseSpec, sweep
from metadata_builders import MIX, MetadataBuilder, TreeSpec, trees
from printed import printed, rows_of
from strider.report import write_html
from strider.report.charts.metadata_charts import latency_charts, rate_charts
from strider.report.figures import latency_percentiles, rate_by_operation
from strider.report.figures.latency_percentiles import Line
from strider.report.figures.rate_by_operation import Bar
from strider.report.figures.style import Ends, styles
from strider.report.labels.facets import Facets
from strider.report.results.results import Results
from strider.report.tables.metadata import case_labels
from strider.report.words.headlines import best_rates
from strider.statistics import summarize
from strider.statistics.histogram import LatencyDistribution
from strider.store import Run, load
from strider.units import grouped
from trusted import trusted

OPERATIONS = ("create", "stat", "mix")


def run_of(tmp_path: Path, cases: Sequence[CaseSpec], repetitions: int = 3) -> Run:
    return load(MetadataBuilder(cases, repetitions=repetitions).write(tmp_path / "run"))


def rendered(run: Run, width: int = 140) -> str:
    return printed(run, width)


def page(tmp_path: Path, run: Run) -> str:
    return write_html([run], tmp_path / "report.html").read_text(encoding="utf-8")


class TestTable:
    def test_each_operation_is_a_row_with_its_rate(self, tmp_path: Path) -> None:
        run = run_of(tmp_path, trees(sharing=["shared"], operations=("create", "stat", "unlink")))
        text = rendered(run)
        for row in rows_of(run):
            line = next(line for line in text.splitlines() if line.startswith(f"{row['operation']} "))
            assert grouped(row["rate_requests_s"]) in line
            assert grouped(row["rate_min_requests_s"]) in line
            assert grouped(row["rate_max_requests_s"]) in line

    def test_units_are_in_the_heading(self, tmp_path: Path) -> None:
        names, units = rendered(run_of(tmp_path, trees(sharing=["shared"]))).splitlines()[:2]
        expected = "rate std. dev. 95 % interval min max p50 p99 max"
        assert names.split() == expected.split()
        assert units.split() == ["operation", "op/s", "%", *["op/s"] * 3, *["µs"] * 3, "trust"]

    def test_the_operations_of_a_mix_stand_below_it(self, tmp_path: Path) -> None:
        lines = rendered(run_of(tmp_path, trees(sharing=["shared"], operations=("mix",)))).splitlines()
        start = next(number for number, line in enumerate(lines) if line.startswith("mix "))
        parts = [line.split("  ")[0] for line in lines[start + 1 : start + 5]]
        assert parts == ["· stat, 60 %", "· small-read, 25 %", "· create, 10 %", "· unlink, 5.0 %"]

    def test_what_differs_between_cases_is_a_column(self, tmp_path: Path) -> None:
        text = rendered(run_of(tmp_path, trees(clients=[1, 2])))
        assert re.search(r"^create +1 +shared ", text, re.MULTILINE)
        assert re.search(r"^create +2 +per-rank ", text, re.MULTILINE)
        assert "tree balanced · order forward · items 1000 · 3 repetitions" in text

    def test_cases_that_differ_only_in_their_operations_are_reported_by_number(self, tmp_path: Path) -> None:
        cases = [TreeSpec(operations=("create", "unlink")), TreeSpec(operations=("mknod", "unlink"))]
        text = rendered(run_of(tmp_path, cases))
        assert re.search(r"^unlink +1 ", text, re.MULTILINE)
        assert re.search(r"^unlink +2 ", text, re.MULTILINE)

    def test_data_and_metadata_have_a_table_each(self, tmp_path: Path) -> None:
        text = rendered(run_of(tmp_path, [*sweep(), *trees()]))
        assert text.index("MiB/s") < text.index("op/s")
        assert "pattern segmented · block 64 MiB" in text

    @pytest.mark.parametrize("width", [70, 80, 100, 140])
    def test_it_fits_and_cuts_no_number(self, tmp_path: Path, width: int) -> None:
        text = rendered(run_of(tmp_path, trees(clients=[1, 2], operations=OPERATIONS)), width)
        assert max(map(len, text.splitlines())) <= width
        assert "…" not in text

    def test_a_large_run_is_condensed_to_a_column_for_each_case(self, tmp_path: Path) -> None:
        cases = trees(clients=range(1, 12), operations=("create", "stat", "unlink"))
        text = rendered(run_of(tmp_path, cases), 120)
        assert "Rate in operations per second" in text
        assert sum(line.startswith("create ") for line in text.splitlines()) < 5
        assert max(map(len, text.splitlines())) <= 120

    def test_what_was_found_wrong_is_said(self, tmp_path: Path) -> None:
        text = rendered(run_of(tmp_path, [TreeSpec(wrong_data=True)]))
        assert "3 void; 6 wrong" in text
        assert "WRONG METADATA: 6 items differ from what was created." in text
        assert "Metadata verified: all completed operations, 6 wrong." in text

    def test_what_was_found_right_is_said(self, tmp_path: Path) -> None:
        text = rendered(run_of(tmp_path, [TreeSpec()]))
        assert "Metadata verified: all completed operations, 0 wrong." in text


class TestRows:
    def test_rows_have_the_units_of_their_kind(self, tmp_path: Path) -> None:
        rows = {row["operation"]: row for row in rows_of(run_of(tmp_path, [*sweep(), *trees()]))}
        assert rows["write"]["rate_mean_mib_s"] > 0
        assert "rate_mean_requests_s" not in rows["write"]
        assert rows["create"]["rate_mean_requests_s"] > 1000
        assert "rate_mean_mib_s" not in rows["create"]
        assert (rows["create"]["tree"], rows["create"]["tree_parameters"]["items"]) == ("balanced", 1000)

    def test_a_mix_has_its_parts(self, tmp_path: Path) -> None:
        (row,) = rows_of(run_of(tmp_path, trees(sharing=["shared"], operations=("mix",))))
        assert [part["operation"] for part in row["parts"]] == list(MIX)
        assert row["parts"][0]["share"] == pytest.approx(0.6)
        assert row["parts"][0]["latency_p99_s"] > row["parts"][0]["latency_p50_s"]


class TestLatencyTable:
    def test_percentiles_of_all_operations_are_listed(self, tmp_path: Path) -> None:
        text = printed(run_of(tmp_path, [*sweep(), *trees(operations=OPERATIONS)]), 160, "latency")
        assert text.count("p95") == 2
        for start in ("write ", "create ", "· stat, 60 %"):
            assert any(line.startswith(start) for line in text.splitlines())

    def test_they_do_not_decrease(self, tmp_path: Path) -> None:
        run = run_of(tmp_path, trees(sharing=["shared"], operations=("create",)))
        text = printed(run, 160, "latency")
        line = next(line for line in text.splitlines() if line.startswith("create"))
        texts = line.replace("6 000", "").split()[1:]
        assert "p99.9" not in text, "2000 requests in a repetition do not show p99.9 and p99.99"
        percentiles = [float(text) for text in texts if text != "–"]
        assert len(percentiles) == 9
        assert percentiles == sorted(percentiles)


class TestLabels:
    def test_mixes_that_are_the_same_make_no_difference(self, tmp_path: Path) -> None:
        cases = [*trees(operations=("mix",)), TreeSpec(common={"sharing": 4})]
        summaries = summarize(run_of(tmp_path, cases))
        labels = case_labels(summaries, Facets.of([summary.case for summary in summaries]))
        assert labels == {1: "shared", 2: "per-rank", 3: "4 files"}

    def test_mixes_that_differ_are_distinguished(self, tmp_path: Path) -> None:
        cases = [TreeSpec(operations=("mix",), mix={"stat": weight, "create": 1.0}) for weight in (1.0, 9.0)]
        summaries = summarize(run_of(tmp_path, cases))
        labels = case_labels(summaries, Facets.of([summary.case for summary in summaries]))
        assert labels == {1: "stat=1 create=1", 2: "stat=9 create=1"}

    def test_shapes_of_trees_are_distinguished(self, tmp_path: Path) -> None:
        shapes: list[dict[str, Any]] = [
            {"name": "balanced", "items": 10, "depth": depth, "file_size": 3901} for depth in (0, 3)
        ]
        summaries = summarize(run_of(tmp_path, [TreeSpec(tree=shape) for shape in shapes]))
        facets = Facets.of([summary.case for summary in summaries])
        assert case_labels(summaries, facets) == {1: "depth 0", 2: "depth 3"}
        assert ("file size", "3 901 B") in facets.constants


def bar(operation: str, case: str, mean: float) -> Bar:
    return Bar(operation, "posix", case, mean, mean * 0.9, mean * 1.1, grouped(mean), f"{operation} {case}")


def scales(specification: Any) -> list[Any]:  # noqa: ANN401 - any JSON
    """All scales of horizontal axes in a specification."""
    found = []
    if isinstance(specification, dict):
        x = specification.get("encoding", {}).get("x", {})
        found += [x["scale"]] if "scale" in x else []
        found += [one for value in specification.values() for one in scales(value)]
    elif isinstance(specification, list):
        found += [one for value in specification for one in scales(value)]
    return found


class TestFigures:
    def test_bars_begin_at_zero_where_rates_are_alike(self) -> None:
        bars = [bar("create", "", 1000.0), bar("stat", "", 9000.0)]
        figure = rate_by_operation.figure(bars, styles(["posix"]), Ends(1000.0, 9900.0))
        assert {scale["domain"][0] for scale in scales(figure)} == {0}

    def test_bars_are_logarithmic_where_small_ones_would_vanish(self) -> None:
        bars = [bar("create", "", 1000.0), bar("lseek", "", 9e6)]
        figure = rate_by_operation.figure(bars, styles(["posix"]), Ends(900.0, 9.9e6))
        assert {(scale["type"], scale["domain"][0]) for scale in scales(figure)} == {("log", 100.0)}
        assert "operations per second, logarithmic" in str(figure)

    def test_a_whisker_that_reaches_zero_makes_no_axis_logarithmic(self) -> None:
        bars = [Bar("stat", "posix", "", 1000.0, 0.0, 9000.0, "1 000", ""), bar("create", "", 900.0)]
        figure = rate_by_operation.figure(bars, styles(["posix"]), Ends(901.0, 9000.0))
        assert "log" not in str(scales(figure))

    def test_on_a_logarithmic_axis_it_ends_with_the_axis(self) -> None:
        bars = [Bar("stat", "posix", "", 1000.0, 0.0, 9000.0, "1 000", ""), bar("lseek", "", 1e6)]
        figure = rate_by_operation.figure(bars, styles(["posix"]), Ends(1000.0, 1.1e6))
        (values,) = figure["datasets"].values()
        assert values[0]["low"] == 100.0

    def test_bars_of_several_cases_are_named_one_by_one(self) -> None:
        bars = [bar("create", case, 1000.0) for case in ("shared", "per-rank")]
        figure = rate_by_operation.figure(bars, styles(["posix"]), Ends(900.0, 1100.0))
        assert figure["facet"]["row"]["field"] == "operation"
        assert "'sort': ['shared', 'per-rank']" in str(figure)

    # proves measuring: figures-end
    def test_a_line_ends_where_ten_requests_are_slower(self) -> None:
        latencies = LatencyDistribution({10: 900, 100: 99, 120: 1})
        line = Line("stat", latencies, styles(["stat"])["stat"])
        (data,) = latency_percentiles.figure([line])["datasets"].values()
        assert (data[0]["nines"], data[-1]["nines"]) == (0.0, pytest.approx(2.0))
        assert data[0]["latency"] == pytest.approx(10e-9)
        assert data[-1]["latency"] == pytest.approx(100e-9, rel=0.01), "not the slowest, 120"

    def test_one_case_has_a_line_for_each_operation(self, tmp_path: Path) -> None:
        summaries = summarize(run_of(tmp_path, trees(sharing=["shared"], operations=OPERATIONS)))
        facets = Facets.of([summary.case for summary in summaries])
        titles = [chart.title for chart in latency_charts(summaries, facets)]
        assert titles == ["Latency: create, stat, mix", "Latency: operations of mix"]

    def test_several_cases_have_a_chart_for_each_operation(self, tmp_path: Path) -> None:
        summaries = summarize(run_of(tmp_path, trees(operations=OPERATIONS)))
        facets = Facets.of([summary.case for summary in summaries])
        titles = [chart.title for chart in latency_charts(summaries, facets)]
        assert titles == [
            "Latency: create",
            "Latency: stat",
            "Latency: mix",
            "Latency: operations of mix, shared",
            "Latency: operations of mix, per-rank",
        ]

    def test_a_single_bar_is_no_chart(self, tmp_path: Path) -> None:
        summaries = summarize(run_of(tmp_path, trees(sharing=["shared"], operations=("create",))))
        assert rate_charts(summaries, Facets.of([summaries[0].case])) == []

    def test_null_is_not_drawn_beside_real_interfaces(self, tmp_path: Path) -> None:
        summaries = summarize(run_of(tmp_path, trees(interfaces=["posix", "null"], sharing=["shared"])))
        (chart,) = rate_charts(summaries, Facets.of([summary.case for summary in summaries]))
        assert "null" not in chart.svg
        assert "create" in chart.svg


class TestPage:
    def test_metadata_has_a_section_of_its_own(self, tmp_path: Path) -> None:
        text = page(tmp_path, run_of(tmp_path, [*sweep(), *trees(operations=OPERATIONS)]))
        assert text.index(">Rates</h2>") < text.index(">Metadata</h2>")
        assert "Metadata operations: rate and latency: table of" in text
        assert "Latency distribution: 5 charts" in text
        assert "Common to all metadata cases: interface posix · tree balanced" in text
        assert "Common to all cases of data: pattern segmented" in text

    def test_a_run_of_data_has_none(self, tmp_path: Path) -> None:
        text = page(tmp_path, run_of(tmp_path, sweep()))
        assert ">Metadata</h2>" not in text
        assert "Common to all cases: pattern segmented" in text

    def test_the_highest_rates_have_the_units_of_their_kind(self, tmp_path: Path) -> None:
        run = trusted(run_of(tmp_path, [*sweep(), *trees(operations=("create",))], repetitions=5))
        headlines = {
            card.name: card.value.split()[-1] for card in best_rates(summarize(run), Results(run).facets)
        }
        assert headlines == {"write": "MiB/s", "read": "MiB/s", "create": "op/s"}

    def test_wrong_metadata_is_said_first(self, tmp_path: Path) -> None:
        text = page(tmp_path, run_of(tmp_path, [TreeSpec(wrong_data=True)]))
        assert text.index("WRONG METADATA: 6 items differ") < text.index(">Metadata</h2>")
