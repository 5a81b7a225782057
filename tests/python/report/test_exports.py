"""Figures and tables of a report as files: all of them, named by their content, with stable columns."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from builders import MIB, CaseSpec, RunBuilder, sweep
from metadata_builders import MetadataBuilder, TreeSpec
from strider.errors import StriderError
from strider.report import views_of
from strider.report.output.files import FORMATS, charts_of, file_name, write_figures, write_tables
from strider.store import Run, load


def run_of(directory: Path, cases: list[CaseSpec]) -> Run:
    return load(RunBuilder(cases, repetitions=3).write(directory))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_of(tmp_path_factory.mktemp("stored") / "run", sweep(clients=(1, 2)))


def test_each_chart_of_the_report_is_a_file_of_each_format(run: Run, tmp_path: Path) -> None:
    views = views_of([run])
    charts = charts_of(views[0])
    files = write_figures(views, tmp_path, FORMATS)
    assert len(charts) > 4
    assert len(set(files)) == len(files) == 3 * len(charts)
    beginnings = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    assert all(file.read_bytes().startswith(beginnings[file.suffix[1:]]) for file in files)
    assert "rate-by-transfer-segmented-write-1-client.svg" in {file.name for file in files}
    root = ElementTree.parse(tmp_path / "rate-by-transfer-segmented-write-1-client.svg").getroot()
    assert "Line chart of rate" in (root.get("aria-label") or "")


def test_tables_have_the_rows_of_the_report_and_units_in_their_heads(run: Run, tmp_path: Path) -> None:
    write_tables(views_of([run]), tmp_path)
    rates = list(csv.DictReader((tmp_path / "rates.csv").open()))
    results = list(csv.DictReader((tmp_path / "results.csv").open()))
    assert len(rates) == len(results) == len(run.cases) * 2
    assert float(rates[0]["rate [MiB/s]"]) == pytest.approx(float(results[0]["rate_mib_s"]), rel=0.01)
    times = list(csv.DictReader((tmp_path / "time-breakdown-mean-per-repetition.csv").open()))
    assert float(times[0]["elapsed [s]"]) == pytest.approx(float(results[0]["elapsed_s"]), rel=0.01)


def test_times_are_in_seconds_whatever_the_report_shows(tmp_path: Path) -> None:
    found = []
    for transfer in (512, 64 * MIB):
        own = tmp_path / str(transfer)
        one = run_of(own / "run", [CaseSpec(pattern={"name": "segmented", "transfer": transfer})])
        write_tables(views_of([one]), own / "tables")
        file = own / "tables" / "latency-of-requests-over-all-ranks-and-repetitions.csv"
        rows = list(csv.DictReader(file.open()))
        results = list(csv.DictReader((own / "tables" / "results.csv").open()))
        assert float(rows[0]["mean [s]"]) == pytest.approx(float(results[0]["latency_mean_s"]), rel=0.01)
        found.append(set(rows[0]))
    assert found[0] == found[1]


def test_numbers_have_no_spaces_whatever_their_unit(tmp_path: Path) -> None:
    run = load(MetadataBuilder([TreeSpec()], repetitions=3).write(tmp_path / "run"))
    write_tables(views_of([run]), tmp_path)
    results = {row["operation"]: row for row in csv.DictReader((tmp_path / "results.csv").open())}
    file = tmp_path / "metadata-operations-rate-and-latency.csv"
    rows = list(csv.DictReader(file.open()))
    assert [row["operation"] for row in rows] == ["create", "stat", "unlink"]
    for row in rows:
        mean, low = (float(row[name]) for name in ("rate [op/s]", "min [op/s]"))
        assert mean == pytest.approx(float(results[row["operation"]]["rate_requests_s"]), rel=0.01)
        assert 1000 < low <= mean
        ends = [float(end) for end in row["95 % interval [op/s]"].split(" – ")]
        assert ends[0] < mean < ends[1]


def test_several_runs_have_folders_of_their_own(run: Run, tmp_path: Path) -> None:
    other = run_of(tmp_path / "Other Run", [CaseSpec()])
    views = views_of([run, other])
    files = [
        *write_figures(views, tmp_path / "out", ["svg"]),
        *write_tables(views, tmp_path / "out"),
    ]
    assert {file.parent.name for file in files} == {"run", "other-run"}


def test_groups_share_a_file_and_are_distinguished(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", sweep(patterns=("segmented", "strided")))
    write_tables(views_of([run]), tmp_path)
    rows = list(csv.DictReader((tmp_path / "rates.csv").open()))
    assert [row["group"] for row in rows] == ["segmented"] * 12 + ["strided"] * 12


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("rate", "", "write, 1 MiB: against clients"), "rate-write-1-mib-against-clients"),
        (("../../etc/passwd",), "etc-passwd"),
        (("\N{GREEK SMALL LETTER MU}s", "é"), "s-e"),
        (("…",), "figure"),
    ],
)
def test_names_are_of_plain_characters(words: tuple[str, ...], name: str) -> None:
    assert file_name(*words) == name


def test_a_folder_that_cannot_be_made_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StriderError, match="cannot make the folder"):
        write_figures(views_of([run]), tmp_path / "file" / "in", ["svg"])


def test_no_cell_of_a_table_begins_as_a_formula(tmp_path: Path) -> None:
    bad = "=HYPERLINK(1)"
    run = run_of(tmp_path / "run", [CaseSpec(name=bad), CaseSpec(name="other", clients=2)])
    cells = {
        cell
        for file in write_tables(views_of([run]), tmp_path / "tables")
        for row in csv.reader(file.open(newline=""))
        for cell in row
    }
    assert any(bad in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith("=")]
