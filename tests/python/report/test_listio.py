"""List I/O in a report: methods against lengths of pieces, registration, and what went to servers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
from strider.report.sections.listio import fits_of
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
    builder = RunBuilder(cases, repetitions=3, warmup=1)
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
    assert "crossover" not in chart.caption, "short phases are below grade B"


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
    assert "gather overtakes pack" not in chart.svg


def rated(run: Run, rates: Mapping[tuple[str, int], Sequence[float]]) -> Run:
    """With the rates of each method and length, in phases of two seconds."""
    samples = []
    for sample in run.samples:
        case = run.cases[sample.case]
        own = rates[str(case.interface["method"]), case.pattern["piece"]]
        rate = own[sample.repetition % len(own)]
        samples.append(
            sample.model_copy(update={"rate_mib_s": rate, "elapsed_s": 2.0, "bytes": round(2 * rate) << 20})
        )
    return run.model_copy(update={"samples": samples})


def caption_of(
    directory: Path, rates: Mapping[tuple[str, int], Sequence[float]], repetitions: int = 3
) -> str:
    cases = [
        replace(vector(method, piece), common={"verify": "off"})
        for method in ("pack", "gather")
        for piece in LENGTHS
    ]
    run = load(RunBuilder(cases, repetitions=repetitions).write(directory / "run"))
    (chart,) = view_of(rated(run, rates)).charts
    return chart.caption


SCATTER = (0.98, 1.0, 1.02)
OVERTAKING = {
    (method, piece): [factor * rate for factor in SCATTER]
    for method, of_lengths in (("pack", (100.0, 100.0, 100.0)), ("gather", (50.0, 100.0, 200.0)))
    for piece, rate in zip(LENGTHS, of_lengths, strict=True)
}


def test_a_crossover_has_an_interval_and_a_ratio_at_the_longest_piece(tmp_path: Path) -> None:
    caption = caption_of(tmp_path, OVERTAKING)
    assert "Gather is faster than pack from about 1 KiB (95 % interval" in caption
    assert "At 8 KiB Gather has 2.00 times the rate of pack (99.5 % interval 2.00 to 2.00)." in caption


def test_methods_that_scatter_around_each_other_have_no_crossover(tmp_path: Path) -> None:
    rates = {
        (method, piece): [
            100.0 * (1 + 0.01 * ((3 * k + 5 * piece // 128 + len(method)) % 7 - 3)) for k in range(3)
        ]
        for method in ("pack", "gather")
        for piece in LENGTHS
    }
    caption = caption_of(tmp_path, rates)
    assert "No crossover shown." in caption
    assert "faster" not in caption


# proves limits: list-methods
def test_a_length_whose_rates_agree_by_chance_is_not_preferred(tmp_path: Path) -> None:
    """Of equal methods that scatter, those with narrow intervals would differ: here those of 1 KiB."""
    wide, narrow = (0.8, 1.0, 1.25), (0.99, 1.0, 1.01)
    longest = max(LENGTHS)
    rates = {
        (method, piece): [
            rate * (1.1 if method == "gather" and piece < longest else 1.0)
            for rate in ([100.0 * one for one in (wide if piece == longest else narrow)])
        ]
        for method in ("pack", "gather")
        for piece in LENGTHS
    }
    rates["gather", longest].reverse()
    caption = caption_of(tmp_path, rates)
    assert "At 8 KiB no difference is shown" in caption
    assert "Gather has" not in caption


# proves limits: lower-grades, list-methods
def test_results_that_scatter_are_compared(tmp_path: Path) -> None:
    """The interval of the ratio has their spread: here that of pairs which rise and fall together."""
    rates = {
        (method, piece): [rate * (0.8, 1.0, 1.25)[k] * (1 + 0.01 * k * (method == "pack")) for k in range(3)]
        for method, rate in (("pack", 100.0), ("gather", 200.0))
        for piece in LENGTHS
    }
    assert "At 8 KiB Gather has" in caption_of(tmp_path, rates)


def test_one_repetition_has_neither_crossover_nor_ratio(tmp_path: Path) -> None:
    caption = caption_of(tmp_path, OVERTAKING, repetitions=1)
    assert "crossover" not in caption
    assert "times the rate" not in caption


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
    assert re.fullmatch(r"\d+ \(\d+–\d+\)", cells[1]["of the ideal"]), "with its interval"
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
    measured = {
        "domain": "uring",
        "problem": "",
        "register": fit,
        "samples": [{"pages": 1, "register_us": 3.0}],
    }
    assert fits_of([measured, {"domain": "mlock", "problem": "no"}]) == [Fit("uring", 1.0, 2.0, [(1, 3.0)])]


def test_what_could_not_be_registered_has_the_reason_and_is_packed(tmp_path: Path) -> None:
    cases = [
        vector("gather", 4096, registration="model", strategy=strategy, unregistered="pack")
        for strategy in ("single", "ogr")
    ]
    reason = (
        "model: 8384512 bytes at 0x7f0000000000 of 1024 pieces could not be registered (single): bad "
        "address: there are holes between the pieces; use strategy ogr or individual"
    )
    failed = {"registration_failures": "64", "lists_packed": "64", "registration_problem": reason}
    found = view_of(run_of(tmp_path, cases, {1: failed, 2: {"registrations": "704", "lists_packed": "0"}}))
    (table,) = (table for table in found.tables if table.caption.startswith("Memory registration"))
    heads = [head for head, _ in table.columns]
    single, ogr = (dict(zip(heads, row, strict=True)) for row in table.rows)
    assert (single["failed"], single["lists packed"]) == ("64", "64")
    assert single["why not registered"] == (
        "model: 1024 pieces could not be registered (single): bad address: there are holes between the "
        "pieces; use strategy ogr or individual"
    )
    assert (ogr["lists packed"], ogr["why not registered"]) == ("–", "–")
