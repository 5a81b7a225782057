"""One picture for each operation that several interfaces did, and a sentence on their difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from builders import KIB, MIB, CaseSpec, RunBuilder, sweep
from printed import printed
from strider.report.charts import costs as charts
from strider.report.charts.costs import Comparison, comparisons
from strider.report.figures import costs as figure
from strider.report.figures import svg
from strider.report.results.results import Results
from strider.report.sections import costs as section
from strider.statistics.costs import Costs, costs_of
from strider.store import Run, load


def run_of(folder: Path, cases: list[CaseSpec]) -> Run:
    return load(RunBuilder(cases, repetitions=2).write(folder / "run"))


def compared(run: Run) -> list[Comparison]:
    results = Results(run)
    found = [one for summary in results.data if (one := costs_of(summary)) is not None]
    return comparisons(found, results.of_data)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Specifications of the figures that are drawn."""
    found: list[dict[str, Any]] = []

    def draw(specification: dict[str, Any], description: str) -> str:
        found.append(specification)
        return f"<svg aria-label='{description}'/>"

    monkeypatch.setattr(svg, "draw", draw)
    return found


def test_interfaces_that_did_the_same_work_are_compared(tmp_path: Path) -> None:
    found = compared(run_of(tmp_path, sweep(transfers=(64 * KIB, MIB))))
    assert [(one.operation, one.transfer_bytes, list(one.costs)) for one in found] == [
        ("write", 64 * KIB, ["posix", "mpiio"]),
        ("read", 64 * KIB, ["posix", "mpiio"]),
        ("write", MIB, ["posix", "mpiio"]),
        ("read", MIB, ["posix", "mpiio"]),
    ]


def test_one_interface_is_compared_with_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec()])
    assert compared(run) == []
    assert section.SECTION.page(Results(run)) == []
    assert "No two interfaces" in printed(run, option="costs")


def test_each_operation_has_one_picture_of_the_work_that_differs_most(
    tmp_path: Path, drawn: list[dict[str, Any]]
) -> None:
    found = compared(run_of(tmp_path, sweep(transfers=(4 * KIB, MIB))))
    made = charts.charts(found)
    assert [chart.operation for chart in made] == ["write", "read"]
    widest = {
        operation: max((one for one in found if one.operation == operation), key=lambda one: one.spread)
        for operation in ("write", "read")
    }
    assert [chart.title for chart in made] == [widest[name].title for name in ("write", "read")]
    assert len(drawn) == 2


def costs(time_s: float, user_s: float | None, system_s: float | None, **more: float | None) -> Costs:
    return Costs(None, time_s, user_s, system_s, **more)  # type: ignore[arg-type]


def of(**by_series: Costs) -> Comparison:
    return Comparison("segmented", 2, MIB, "write", by_series)


def test_the_sentence_names_the_parts_of_the_difference() -> None:
    slow, fast = costs(10e-3, 1e-3, 3e-3), costs(4e-3, 2e-3, 1e-3)
    assert charts.difference(of(posix=slow, listio=fast)) == (
        "posix takes 10.0 ms for each MiB, listio 4.00. The difference in time of the ranks: +5.00 waiting, "
        "+2.00 the kernel, −1.00 user mode (ms)."
    )


def test_without_processor_times_the_sentence_has_the_times_alone() -> None:
    slow, fast = costs(10e-3, None, None), costs(4e-3, None, None)
    assert charts.difference(of(posix=slow, listio=fast)) == "posix takes 10.0 ms for each MiB, listio 4.00."


def test_parts_of_a_bar_follow_each_other_and_the_sum_stands_beside_it(drawn: list[dict[str, Any]]) -> None:
    charts.chart(of(posix=costs(10e-3, 1e-3, 3e-3), listio=costs(4e-3, 2e-3, 1e-3)))
    (time,) = drawn[0]["hconcat"]
    bars, numbers = (layer["data"]["values"] for layer in time["layer"])
    own = [(row["part"], row["begin"], row["end"]) for row in bars if row["series"] == "posix"]
    assert own == [
        ("user", 0, pytest.approx(1)),
        ("system", pytest.approx(1), pytest.approx(4)),
        ("waiting", pytest.approx(4), pytest.approx(10)),
    ]
    assert [(row["series"], row["text"]) for row in numbers] == [("listio", "4.00"), ("posix", "10.0")]


def test_what_was_not_counted_has_no_panel_and_a_missing_number_a_dash(drawn: list[dict[str, Any]]) -> None:
    charts.chart(of(posix=costs(10e-3, 1e-3, 3e-3, calls=7.0), listio=costs(4e-3, 2e-3, 1e-3)))
    titles = [panel["layer"][0]["encoding"]["x"]["title"][0] for panel in drawn[0]["hconcat"]]
    assert titles == ["time of the ranks", "system calls"]
    numbers = drawn[0]["hconcat"][1]["layer"][1]["data"]["values"]
    assert [(row["series"], row["text"]) for row in numbers] == [("listio", "–"), ("posix", "7.00")]


def test_of_many_interfaces_the_fastest_and_the_slowest_are_drawn(drawn: list[dict[str, Any]]) -> None:
    many = {f"i{number:02}": costs(number * 1e-3, 1e-4, 1e-4) for number in range(1, 15)}
    charts.chart(of(**many))
    rows = drawn[0]["hconcat"][0]["layer"][1]["data"]["values"]
    assert [row["series"] for row in rows] == [f"i{number:02}" for number in (*range(1, 6), *range(10, 15))]


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    (one, *_) = compared(run_of(tmp_path, sweep(transfers=(MIB,))))
    text = charts.chart(one).svg
    assert "time of the ranks" in text
    assert "waiting" in text
    assert "could not be drawn" not in text


def test_the_terminal_has_a_row_for_each_interface(tmp_path: Path) -> None:
    text = printed(run_of(tmp_path, sweep(transfers=(MIB,))), option="costs")
    assert "Costs for each MiB" in text
    assert [
        line.split()[:2] for line in text.splitlines() if line.split()[1:2] in (["posix"], ["mpiio"])
    ] == [
        ["write", "posix"],
        ["write", "mpiio"],
        ["read", "posix"],
        ["read", "mpiio"],
    ]


def test_numbers_have_room_beside_the_longest_bar() -> None:
    panel = figure.Panel(["t"], [figure.Part("a", "ranks", 10.0)], {"a": "10.0"})
    specification = figure.figure([panel], ["a"])
    low, high = specification["hconcat"][0]["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert low == 0
    assert high > 14
