"""The map of slow ranks and the course of rates: right at two ranks and at thousands, in few charts."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder, sweep
from strider.report.charts import timelines
from strider.report.charts.rank_maps import rank_map_of
from strider.report.figures import rank_map, rate_over_time
from strider.report.figures.rank_map import Field
from strider.report.labels.facets import Facets
from strider.statistics import summarize
from strider.statistics.relative_rates import relative_rates
from strider.store import Run, Timeline, load, load_events
from strider.units import MIB


def run_of(directory: Path, cases: list[CaseSpec], repetitions: int = 2) -> Run:
    return load(RunBuilder(cases, repetitions=repetitions).write(directory / "run"))


def facets_of(run: Run) -> Facets:
    return Facets.of(list(run.cases.values()))


def test_a_rank_is_compared_with_the_median_rank(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(clients=4, operations=("write",), slow_ranks={2: 2.0})])
    rates = {one.place: round(one.relative, 3) for one in relative_rates(run, "rank")}
    assert rates == {0: 1.0, 1: 1.0, 2: 0.5, 3: 1.0}


def test_of_two_ranks_each_is_compared_with_the_other(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(operations=("write",), slow_ranks={1: 1.25})])
    assert [round(one.relative, 3) for one in relative_rates(run, "rank")] == [1.25, 0.8]


def test_of_neighbours_the_slowest_is_reported(tmp_path: Path) -> None:
    slow = {5: 4.0, 6: 2.0, 7: 2.0}
    run = run_of(tmp_path, [CaseSpec(clients=8, operations=("write",), ranks_per_node=2, slow_ranks=slow)])
    by_rank = relative_rates(run, "rank", width=4)
    assert [(one.place, one.slowest_rank, one.slowest_node) for one in by_rank] == [(0, 0, 0), (4, 5, 2)]
    by_node = {one.place: round(one.relative, 3) for one in relative_rates(run, "node")}
    assert by_node == {0: 1.0, 1: 1.0, 2: 0.625, 3: 0.5}


def test_thousands_of_ranks_are_shown_by_node(tmp_path: Path) -> None:
    cases = [CaseSpec(clients=2048, operations=("write",), ranks_per_node=8, slow_ranks={8: 2.0})]
    run = run_of(tmp_path, cases, repetitions=1)
    found = rank_map_of(run, facets_of(run))
    assert found is not None
    chart = found.chart
    assert found.is_alarming is False
    assert chart.title == "Rate of each node relative to the median"
    assert "A column shows the slowest of 2 neighbouring nodes" in chart.caption
    assert chart.svg.count("<title>") == 128
    assert len(chart.svg) < 100_000


# proves limits: map-open
def test_a_slow_rank_is_said_in_words(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(clients=3, slow_ranks={1: 2.0})], repetitions=4)
    found = rank_map_of(run, facets_of(run))
    assert found is not None
    assert found.is_alarming
    assert (
        found.words == "Rate of each rank relative to the median: rank 1 took 2.0 times as long as the others"
    )
    assert rank_map._SHADES[0] in found.chart.svg or "rgb(61, 13, 2)" in found.chart.svg


# proves limits: map-open
def test_a_rank_that_was_slow_once_raises_no_alarm(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(clients=3, slow_ranks={1: 2.0})], repetitions=1)
    found = rank_map_of(run, facets_of(run))
    assert found is not None
    assert not found.is_alarming
    assert found.words == "Rate of each rank relative to the median: one repetition shows no slow rank"
    assert "rgb(61, 13, 2)" not in found.chart.svg, "no field is dark"


def test_a_map_needs_several_ranks_and_phases_that_are_no_moment(tmp_path: Path) -> None:
    alone = run_of(tmp_path / "alone", [CaseSpec(clients=1)])
    assert rank_map_of(alone, facets_of(alone)) is None
    run = run_of(tmp_path / "short", [CaseSpec()])
    short = [sample.model_copy(update={"elapsed_s": 0.01}) for sample in run.samples]
    assert rank_map_of(run.model_copy(update={"samples": short}), facets_of(run)) is None


def test_a_field_says_how_slow_in_numbers_where_there_is_room() -> None:
    fields = [Field("write", rank, str(rank), 1 - 0.3 * rank, "") for rank in range(2)]
    figure = rank_map.figure(fields, "rank")
    assert [row["text"] for row in figure["data"]["values"]] == ["1.00", "0.70"]
    assert [row["dark"] for row in figure["data"]["values"]] == [False, True]
    assert len(figure["layer"]) == 2
    extremes = [Field("write", rank, str(rank), rate, "") for rank, rate in enumerate([0.1, 0.8, 1.3])]
    shades = [row["shade"] for row in rank_map.figure(extremes, "rank")["data"]["values"]]
    assert shades == [rank_map.DARKEST, 0.8, 1.0]
    many = rank_map.figure([Field("write", rank, str(rank), 1.0, "") for rank in range(64)], "rank")
    assert len(many["layer"]) == 1
    assert (
        len(
            many["encoding"]["x"]["axis"]["values"]
            if "encoding" in many
            else many["layer"][0]["encoding"]["x"]["axis"]["values"]
        )
        == 16
    )


def test_the_ranks_rates_add_up_over_time(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(operations=("write",), timelines=[[1, 2, 3, 4, 0], [1, 0, 1, 0, 0]])], 1)
    (chart,), left_out = timelines.charts(
        load_events(run.directory, Timeline), summarize(run), facets_of(run)
    )
    assert left_out == ""
    assert chart.title == "write, case 1: posix, segmented, 1 MiB, 2 clients"
    together = timelines._together(load_events(run.directory, Timeline), "", run.cases[1])
    assert [round(rate) for rate in together.rates] == [20, 20, 40, 40, 0]


def test_a_caption_names_the_repetitions_that_are_drawn(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(operations=("write",), timelines=[[8] * 6])], 7)
    rows = load_events(run.directory, Timeline)
    short = [
        row.model_copy(update={"bytes": row.bytes[:2]}) if row.repetition in (0, 2) else row for row in rows
    ]
    (chart,), _ = timelines.charts(short, summarize(run), facets_of(run))
    assert chart.caption.endswith("; repetitions 1, 3, 4 and 5 of 7 that count.")
    (whole,), _ = timelines.charts(
        rows[:3], summarize(run.model_copy(update={"samples": run.samples[:3]})), facets_of(run)
    )
    assert "repetition" not in whole.caption


def test_the_least_steady_operations_are_drawn(tmp_path: Path) -> None:
    cases = sweep(
        transfers=[1 << power for power in range(10, 24)], interfaces=("posix",), operations=("write",)
    )
    for case in cases:
        case.timelines = [[8] * 8]
    cases[-1].timelines = [[8, 0] * 4]
    run = run_of(tmp_path, cases, repetitions=1)
    drawn, left_out = timelines.charts(load_events(run.directory, Timeline), summarize(run), facets_of(run))
    assert len(drawn) == 12
    assert drawn[-1].title.startswith("write, case 14")
    assert left_out == "The least steady ones; 2 steadier operations left out."


def test_rows_of_a_phase_that_are_far_apart_have_wider_intervals(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec(operations=("write",), timelines=[[8] * 6, [8] * 6])], 1)
    first, second = load_events(run.directory, Timeline)
    late = second.model_copy(update={"start_s": first.start_s + 1e6})
    together = timelines._together([first, late], "", run.cases[1])
    assert len(together.rates) < 10_000
    moved = sum(together.rates) * together.interval_s
    assert moved == pytest.approx((sum(first.bytes) + sum(late.bytes)) / MIB)


def test_a_long_timeline_is_drawn_in_wider_steps() -> None:
    line = rate_over_time.Timeline("one", 0.0, 0.1, [float(k % 2) for k in range(1000)])
    rows = rate_over_time.figure([line], "MiB/s")["data"]["values"]
    assert len(rows) <= rate_over_time.MAXIMUM_STEPS + 1
    assert rows[-1]["t"] == 100.0
    assert 0.4 <= rows[0]["rate"] <= 0.6
