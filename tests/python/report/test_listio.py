"""List I/O in a report: methods against lengths of pieces, registration, and what went to servers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from builders import CaseSpec, RunBuilder
from strider.report.blocks import Chart, Charts, Table
from strider.report.figures import registration_fit
from strider.report.figures.registration_fit import Fit
from strider.report.results.references import Reference
from strider.report.results.results import Results
from strider.report.sections import listio
from strider.report.sections.listio import crossover_of, fits_of
from strider.store import Run, load

LENGTHS = (128, 1024, 8192)


def vector(method: str, piece: int, **interface: object) -> CaseSpec:
    return CaseSpec(
        interface={"name": "listio", "method": method, **interface},
        pattern={"name": "vector", "transfer": 128 * piece, "piece": piece, "pieces": 128},
        operations=("write",),
    )


def run_of(directory: Path, cases: list[CaseSpec], facts: dict[int, dict[str, str]]) -> Run:
    """A run whose cases' first repetition, a warm-up, has facts."""
    builder = RunBuilder(cases, repetitions=2, warmup=1)
    run = load(builder.write(directory / "run"))
    samples = [
        sample.model_copy(update={"facts": facts.get(sample.case, {})}) if sample.warmup else sample
        for sample in run.samples
    ]
    return run.model_copy(update={"samples": samples})


@dataclass
class View:
    """The charts and tables of the section."""

    charts: list[Chart]
    tables: list[Table]


def view_of(run: Run, reference: Reference | None = None) -> View:
    results = Results(run)
    vars(results)["reference"] = reference
    assert listio.SECTION.applies(results)
    blocks = listio.SECTION.page(results)
    charts = [chart for block in blocks if isinstance(block, Charts) for chart in block.charts]
    return View(charts, [block for block in blocks if isinstance(block, Table)])


def test_a_run_without_the_service_has_no_such_part(tmp_path: Path) -> None:
    run = run_of(tmp_path, [CaseSpec()], {})
    assert not listio.SECTION.applies(Results(run))


def test_methods_are_lines_against_the_length_of_pieces(tmp_path: Path) -> None:
    cases = [vector(method, piece) for method in ("pack", "gather") for piece in LENGTHS]
    (chart,) = view_of(run_of(tmp_path, cases, {})).charts
    assert chart.operation == "write"
    assert "length of a piece [bytes]" in chart.svg
    assert all(f">listio {method}<" in chart.svg for method in ("pack", "gather"))
    assert "the rate of pack" in chart.caption


def test_each_number_of_clients_has_a_chart_of_its_own(tmp_path: Path) -> None:
    cases = [
        replace(vector(method, piece), clients=clients)
        for clients in (1, 4)
        for method in ("pack", "gather")
        for piece in LENGTHS
    ]
    charts = view_of(run_of(tmp_path, cases, {})).charts
    assert [chart.title for chart in charts] == ["vector: write, 1 client", "vector: write, 4 clients"]
    for chart in charts:
        assert chart.svg.count(" MiB/s, ") == 2 * len(LENGTHS)


def test_lengths_swept_at_several_numbers_of_pieces_have_a_chart_for_each(tmp_path: Path) -> None:
    cases = [
        CaseSpec(
            interface={"name": "listio", "method": "pack"},
            pattern={"name": "vector", "transfer": pieces * piece, "piece": piece, "pieces": pieces},
            operations=("write",),
        )
        for pieces in (64, 100)
        for piece in LENGTHS
    ]
    charts = view_of(run_of(tmp_path, cases, {})).charts
    titles = [chart.title for chart in charts]
    assert titles == ["vector: write, 64 pieces, 2 clients", "vector: write, 100 pieces, 2 clients"]


def test_methods_are_compared_where_nothing_else_differs(tmp_path: Path) -> None:
    cases = [
        vector(method, piece, registration=registration)
        for registration in ("none", "mlock")
        for method in ("pack", "gather")
        for piece in LENGTHS
    ]
    (chart,) = view_of(run_of(tmp_path, cases, {})).charts
    assert chart.caption.count("times the rate of listio pack") == 2
    assert "gather overtakes pack" not in chart.svg


@pytest.mark.parametrize(
    ("gather", "pack", "crossover"),
    [
        ({128: 50, 512: 100, 2048: 200}, {128: 100, 512: 100, 2048: 100}, 512),
        ({128: 50, 512: 200}, {128: 100, 512: 100}, 256),
        ({128: 50, 512: 100}, {128: 100, 512: 200}, None),
        ({128: 200, 512: 200}, {128: 100, 512: 100}, None),
        ({128: 200, 512: 50, 2048: 200}, {128: 100, 512: 100, 2048: 100}, 1024),
        ({128: 200}, {}, None),
    ],
)
def test_the_crossover_is_where_gather_stays_ahead(
    gather: dict[int, float], pack: dict[int, float], crossover: float | None
) -> None:
    assert crossover_of(gather, pack) == (crossover if crossover is None else pytest.approx(crossover))


def test_registration_stands_beside_the_ideal_and_what_was_published(tmp_path: Path) -> None:
    cases = [
        vector("gather", 4096, registration="none"),
        vector("gather", 4096, registration="model", strategy="ogr"),
    ]
    facts = {
        2: {
            "registrations": "176",
            "registration_us": "40300",
            "register_us_per_page": "0.77 ± 0.001",
            "register_us": "7.42 ± 0.01",
        }
    }
    reference = Reference.model_validate(
        {
            "suite": "synthetic",
            "machine": "m",
            "year": 2003,
            "about": "",
            "source": "s",
            "table": [
                {"match": {"listio.registration": "none"}, "figures": ["write"], "rows": [[1000]]},
                {"match": {"listio.registration": "model"}, "figures": ["write"], "rows": [[950]]},
            ],
        }
    )
    found = view_of(run_of(tmp_path, cases, facts), reference)
    (table,) = (table for table in found.tables if table.caption.startswith("Memory registration"))
    cells: list[dict[str, Any]] = [
        {name: cell for (name, _), cell in zip(table.columns, row, strict=True)} for row in table.rows
    ]
    assert [row["strategy"] for row in cells] == ["ideal", "ogr"]
    assert [row["published: of the ideal"] for row in cells] == ["100", "95"]
    assert cells[0]["of the ideal"] == "100"
    assert (cells[1]["registrations"], cells[1]["time registering"]) == ("176", "40.3")
    (chart,) = found.charts
    assert "model: T = 0.77 p + 7.42 µs" in chart.svg


def test_registration_without_the_ideal_has_no_share_of_it(tmp_path: Path) -> None:
    found = view_of(run_of(tmp_path, [vector("gather", 4096, registration="model", strategy="ogr")], {}))
    (table,) = (table for table in found.tables if table.caption.startswith("Memory registration"))
    assert not any(name == "of the ideal" for name, _ in table.columns)


def test_calls_of_lists_are_compared_with_published_requests(tmp_path: Path) -> None:
    btio = {"name": "btio", "class": "A", "dumps": 40, "transfer": 1 << 20}
    cases = [
        CaseSpec(interface={"name": "listio", "calls": calls}, pattern=btio, clients=4)
        for calls in ("each", "list")
    ] + [CaseSpec(interface={"name": "posix"}, pattern=btio, clients=4)]
    facts = {
        1: {"requests": "81920", "wire_bytes": "1048576"},
        2: {"requests": "640", "wire_bytes": "524288"},
    }
    reference = Reference.model_validate(
        {
            "suite": "synthetic",
            "machine": "PVFS",
            "year": 2003,
            "about": "",
            "source": "s",
            "table": [
                {
                    "quantity": "requests",
                    "match": {"pattern": "btio"},
                    "keys": ["listio.calls"],
                    "figures": ["all"],
                    "rows": [["each", 163840], ["list", 1360]],
                }
            ],
        }
    )
    table = view_of(run_of(tmp_path, cases, facts), reference).tables[0]
    names = [name for name, _ in table.columns]
    assert names[:2] == ["interface", "operations"]
    assert names[3:] == ["requests", "requests published: PVFS, 2003", "bytes on the wire"]
    assert [list(row[3:]) for row in table.rows] == [
        ["163 840", "163 840", "2 MiB"],
        ["1 280", "1 360", "1 MiB"],
        ["–", "–", "–"],
    ]


def test_a_fit_is_a_line_with_what_was_measured() -> None:
    figure = registration_fit.figure([Fit("uring", 0.5, 2.0, [(1, 2.6), (4, 3.9)])])
    line, points = (layer["data"]["values"] for layer in figure["layer"])
    assert line[0] == {"name": "uring", "pages": 1.0, "us": 2.5}
    assert line[-1]["us"] == pytest.approx(514)
    assert [(point["pages"], point["us"]) for point in points] == [(1, 2.6), (4, 3.9)]


def test_domains_that_a_machine_lacks_are_not_drawn() -> None:
    fit = {"us_per_page": 1.0, "us": 2.0}
    told = {"domain": "uring", "problem": "", "register": fit, "samples": [{"pages": 1, "register_us": 3.0}]}
    assert fits_of([told, {"domain": "mlock", "problem": "no"}]) == [Fit("uring", 1.0, 2.0, [(1, 3.0)])]
