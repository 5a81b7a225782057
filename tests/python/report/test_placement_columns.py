"""Nodes and ranks per node: columns where they differ, and an axis like the number of clients."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import MIB, CaseSpec, RunBuilder, sweep
from metadata_builders import MetadataBuilder, trees
from strider.report.blocks import Fold, Table
from strider.report.charts.sweep_charts import client_charts, node_charts
from strider.report.labels.facets import Facets
from strider.report.results.results import Results
from strider.report.sections import metadata, rates, summary
from strider.report.tables.data import short_table
from strider.statistics import summarize
from strider.store import Run, load


def run_of(directory: Path, cases: list[CaseSpec]) -> Run:
    return load(RunBuilder(cases, repetitions=2).write(directory / "run"))


def on_nodes(*placements: tuple[int, int]) -> list[CaseSpec]:
    """Cases on some nodes with some ranks on each."""
    return [
        case
        for nodes, per_node in placements
        for case in sweep(
            interfaces=("posix",),
            transfers=(MIB,),
            clients=(nodes * per_node,),
            operations=("write",),
            nodes=[nodes],
            per_node=[per_node],
        )
    ]


def columns(run: Run, *names: str) -> list[tuple[str, ...]]:
    """The texts of some columns of the short table, row by row."""
    table = short_table(summarize(run), Facets.of(list(run.cases.values())))
    places = [table.columns.index((name, "")) for name in names]
    return [tuple(row[place] for place in places) for row in table.rows]


def test_nodes_that_follow_from_the_clients_are_a_column_and_no_part_of_the_label(tmp_path: Path) -> None:
    run = run_of(tmp_path, on_nodes((1, 2), (2, 2), (4, 2)))
    assert columns(run, "clients", "nodes") == [("2", "1"), ("4", "2"), ("8", "4")]
    assert set(Facets.of(list(run.cases.values())).group.values()) == {"segmented"}
    (fold, by_nodes) = [block for block in rates.SECTION.page(Results(run)) if isinstance(block, Fold)]
    table = next(block for block in fold.blocks if isinstance(block, Table))
    assert {("nodes", ""), ("per node", "")} <= set(table.columns)
    assert by_nodes.title == "By nodes"
    axes = repr(summary.SECTION.page(Results(run)))
    assert "'1 · 2 · 4'" in axes


def test_rates_are_drawn_against_nodes_with_as_many_ranks_on_each(tmp_path: Path) -> None:
    run = run_of(tmp_path, on_nodes(*((nodes, each) for nodes in (1, 2, 4) for each in (1, 4))))
    assert [chart.title for chart in node_charts(summarize(run))] == [
        "write, segmented, 1 per node, 1 MiB: against nodes",
        "write, segmented, 4 per node, 1 MiB: against nodes",
    ]


def test_rates_of_the_same_clients_are_drawn_against_nodes(tmp_path: Path) -> None:
    cases = sweep(interfaces=("posix",), clients=(8,), operations=("write",), nodes=[1, 2, 4])
    run = run_of(tmp_path, cases)
    groups = set(Facets.of(list(run.cases.values())).group.values())
    assert groups == {f"segmented, nodes {nodes}" for nodes in (1, 2, 4)}
    titles = [chart.title for chart in node_charts(summarize(run))]
    assert titles == [f"write, {size}: against nodes" for size in ("64 KiB", "256 KiB", "1 MiB")]
    assert client_charts(summarize(run), Facets.of(list(run.cases.values()))) == []


def test_two_numbers_of_nodes_are_no_sweep(tmp_path: Path) -> None:
    run = run_of(tmp_path, on_nodes((1, 2), (2, 2)))
    assert columns(run, "nodes") == [("1",), ("2",)]
    assert "By nodes" not in repr(rates.SECTION.page(Results(run)))


def test_uneven_nodes_have_the_fewest_and_the_most_ranks(tmp_path: Path) -> None:
    run = run_of(tmp_path, sweep(transfers=(MIB,), clients=(5,), operations=("write",), nodes=[1, 2]))
    assert set(columns(run, "nodes", "per node")) == {("1", "5"), ("2", "2–3")}


@pytest.mark.parametrize("clients", [(2,), (1, 2, 4)])
def test_runs_on_one_node_have_no_such_columns(tmp_path: Path, clients: tuple[int, ...]) -> None:
    run = run_of(tmp_path, sweep(clients=clients))
    page = repr(rates.SECTION.page(Results(run)))
    assert "('nodes', '')" not in page
    assert "('per node', '')" not in page


def test_operations_of_metadata_have_them_too(tmp_path: Path) -> None:
    cases = trees(clients=[1, 2])
    run = load(MetadataBuilder(cases).write(tmp_path / "run"))
    samples = [sample.model_copy(update={"nodes": sample.clients}) for sample in run.samples]
    page = repr(metadata.SECTION.page(Results(run.model_copy(update={"samples": samples}))))
    assert "2 clients, 2 nodes" in page
