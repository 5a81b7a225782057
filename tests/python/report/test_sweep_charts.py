"""Rate against clients and servers, and heat maps: drawn where something was swept, with all of it."""

from __future__ import annotations

from pathlib import Path

from builders import KIB, MIB, CaseSpec, RunBuilder, sweep
from strider.report.charts.sweep_charts import client_charts, heat_maps, server_charts
from strider.report.figures import rate_heat_map
from strider.report.figures.rate_heat_map import Cell
from strider.report.labels.facets import Facets
from strider.report.results.interface_facts import InterfaceFacts
from strider.statistics import summarize
from strider.store import Run, load


def run_of(directory: Path, cases: list[CaseSpec]) -> Run:
    return load(RunBuilder(cases, repetitions=2).write(directory / "run"))


def facets_of(run: Run) -> Facets:
    return Facets.of(list(run.cases.values()))


def test_rates_are_drawn_against_clients_at_a_few_transfer_sizes(tmp_path: Path) -> None:
    sizes = [1 << power for power in range(12, 21, 2)]
    run = run_of(tmp_path, sweep(transfers=sizes, clients=(1, 2, 4), operations=("write",)))
    titles = [chart.title for chart in client_charts(summarize(run), facets_of(run))]
    assert titles == [f"write, {size}: against clients" for size in ("4 KiB", "64 KiB", "1 MiB")]


def test_two_numbers_of_clients_are_no_sweep(tmp_path: Path) -> None:
    run = run_of(tmp_path, sweep(clients=(1, 2)))
    assert client_charts(summarize(run), facets_of(run)) == []


def test_servers_are_an_axis_and_no_part_of_the_interface(tmp_path: Path) -> None:
    listio = [{"name": "listio", "servers": count} for count in (1, 2, 4)]
    run = run_of(tmp_path, sweep(interfaces=listio, transfers=(MIB,), clients=(1, 2), operations=("write",)))
    charts = server_charts(summarize(run), InterfaceFacts.of(run))
    assert [chart.title for chart in charts] == [
        "write, segmented, 1 client, 1 MiB: against servers",
        "write, segmented, 2 clients, 1 MiB: against servers",
    ]
    assert all("listio, 1 MiB: " in chart.svg and "servers 2" not in chart.svg for chart in charts)


def test_a_heat_map_has_a_field_for_each_transfer_size_clients_and_interface(tmp_path: Path) -> None:
    run = run_of(tmp_path, sweep(transfers=(4 * KIB, 64 * KIB, MIB), clients=(1, 4), operations=("read",)))
    (chart,) = heat_maps(summarize(run), facets_of(run))
    assert chart.svg.count("<title>") == 2 * 3 * 2
    assert "mpiio, 64 KiB, 4 clients: " in chart.svg


def test_a_heat_map_of_one_row_is_none(tmp_path: Path) -> None:
    run = run_of(tmp_path, sweep(clients=(2,)))
    assert heat_maps(summarize(run), facets_of(run)) == []


def test_numbers_on_dark_fields_are_white_and_wide_ranges_logarithmic() -> None:
    cells = [
        Cell("posix", "1 MiB", clients, mean, "", "") for clients, mean in ((1, 1.0), (2, 10.0), (4, 1000.0))
    ]
    figure = rate_heat_map.figure(cells, ["1 MiB"])
    assert [row["dark"] for row in figure["data"]["values"]] == [False, False, True]
    colour = figure["spec"]["layer"][0]["encoding"]["color"]
    assert (colour["scale"]["type"], colour["title"]) == ("log", "rate [MiB/s], logarithmic")
    narrow = rate_heat_map.figure(cells[1:2], ["1 MiB"])
    assert narrow["spec"]["layer"][0]["encoding"]["color"]["scale"]["domain"] == [0.0, 10.0]
