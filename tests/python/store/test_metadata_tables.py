"""Tables of runs with operations of metadata: their columns, the parts of mixes, and older Parquet files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from builders import sweep
from metadata_builders import FILES, MIX, MetadataBuilder, TreeSpec, trees
from strider.store import derive, export, load, query

RUN = "2026-11-21-101112-synthetic-abcd"


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    cases = [*sweep(transfers=(65536,)), *trees(operations=("create", "mix"))]
    return MetadataBuilder(cases, repetitions=2).write(tmp_path / RUN)


def test_a_case_has_a_tree_or_a_pattern(run_dir: Path) -> None:
    rows = query([run_dir], 'SELECT pattern, tree, transfer_bytes FROM cases ORDER BY "case"')
    assert [(row["pattern"], row["tree"]) for row in rows] == [
        ("segmented", None),
        ("segmented", None),
        (None, "balanced"),
        (None, "balanced"),
    ]
    assert [row["transfer_bytes"] for row in rows] == [65536, 65536, None, None]


def test_parameters_of_a_tree_are_in_a_column_of_their_own(run_dir: Path) -> None:
    question = """SELECT DISTINCT tree_parameters ->> 'items' AS items, case_parameters ->> 'tree' AS tree
        FROM samples WHERE samples.tree = 'balanced'"""
    assert query([run_dir], question) == [{"items": str(FILES), "tree": None}]


def test_rates_of_operations_are_columns(run_dir: Path) -> None:
    (row,) = query(
        [run_dir],
        """SELECT requests_s, rate_first_done_requests_s AS first, rank_rate_min_requests_s AS slowest,
            rank_requests_min_rank AS slowest_rank FROM samples
        WHERE operation = 'create' ORDER BY start_s LIMIT 1""",
    )
    sample = next(one for one in load(run_dir).samples if one.operation == "create")
    assert row["requests_s"] == pytest.approx(sample.requests_s)
    assert row["first"] == pytest.approx(1.05 * sample.requests_s)
    assert row["slowest"] == pytest.approx(sample.requests_s / 3)
    assert row["slowest_rank"] == 1


def test_each_operation_of_a_mix_is_a_row(run_dir: Path) -> None:
    rows = query(
        [run_dir],
        """SELECT part, sum(requests) AS requests, median(latency_p99_s) AS p99_s FROM parts
        WHERE operation = 'mix' GROUP BY part""",
    )
    assert {row["part"] for row in rows} == set(MIX)
    assert sum(row["requests"] for row in rows) == 2 * 2 * 2 * FILES
    assert all(row["p99_s"] > 0 for row in rows)


def test_parts_are_there_without_events_of_mixes(tmp_path: Path) -> None:
    run_dir = MetadataBuilder(sweep(), repetitions=1).write(tmp_path / RUN)
    assert query([run_dir], "SELECT count(*) AS n FROM parts") == [{"n": 0}]


def test_parquet_gives_the_same_answers(run_dir: Path) -> None:
    question = "SELECT * EXCLUDE (facts) FROM samples ORDER BY start_s"
    from_events = query([run_dir], question)
    derive(run_dir)
    assert query([run_dir], question) == from_events


def test_parquet_of_a_strider_that_knew_no_metadata_lacks_nothing_but_numbers(tmp_path: Path) -> None:
    import duckdb

    run_dir = MetadataBuilder(sweep(), repetitions=1).write(tmp_path / RUN)
    samples, *_ = derive(run_dir)
    older = tmp_path / "older.parquet"
    new = "tree, tree_parameters, rate_first_done_requests_s, rank_rate_mean_requests_s"
    duckdb.sql(f"COPY (SELECT * EXCLUDE ({new}) FROM '{samples}') TO '{older}' (FORMAT parquet)")
    older.replace(samples)
    rows = query([run_dir], f"SELECT {new} FROM samples")
    assert len(rows) == 12
    assert {value for row in rows for value in row.values()} == {None}


def test_parts_are_exported(run_dir: Path, tmp_path: Path) -> None:
    file = export(run_dir, "csv", tmp_path / "parts.csv", "parts")
    rows = list(csv.DictReader(file.open()))
    assert len(rows) == 2 * 2 * len(MIX)
    assert {"part", "requests", "requests_s", "latency_p999_s"} <= rows[0].keys()
    assert "histogram_buckets" not in rows[0]


def test_a_case_read_back_knows_what_it_is_of(tmp_path: Path) -> None:
    run = load(MetadataBuilder([*sweep(), TreeSpec()], repetitions=1).write(tmp_path / RUN))
    *data, metadata = run.cases.values()
    assert not any(case.is_metadata for case in data)
    assert metadata.is_metadata
    assert (metadata.shape_name, metadata.transfer_bytes) == ("balanced", None)
    assert "tree" not in metadata.common_parameters
