"""Any number of runs can be asked with SQL; Parquet and events give the same answers."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import get_args

import duckdb
import pytest

from builders import KIB, MIB, CaseSpec, RunBuilder, sweep
from continued_builders import program, resumed
from strider.errors import ExitCode, StriderError
from strider.store import ClockRow, Timeline, derive, export, load, load_events, query, sql, tables
from strider.store.cells import defused, defused_sql
from strider.store.tables import Table

RUN = "2026-11-21-101112-synthetic-abcd"
QUESTION = """
    SELECT interface, transfer_bytes, clients, operation, count(*) AS n, median(rate_mib_s) AS rate_mib_s,
        sum(latency_count) AS requests, any_value(case_parameters ->> 'readback') AS readback
    FROM samples WHERE measured AND valid AND NOT warmup GROUP BY ALL ORDER BY ALL
"""


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    cases = sweep(transfers=(64 * KIB, 256 * KIB))
    return RunBuilder(cases, repetitions=2, warmup=1).write(tmp_path / RUN)


def test_documents_larger_than_the_buffers_of_the_database_are_read(run_dir: Path) -> None:
    """A value may be as large as its file; DuckDB refuses one that is larger than its limit."""
    path = run_dir / "run.json"
    document = json.loads(path.read_text())
    document["environment"]["note"] = "x" * (3 * sql.MINIMUM_OBJECT_BYTES)
    path.write_text(json.dumps(document))
    (row,) = query([run_dir], "SELECT count(*) AS n FROM runs")
    assert row["n"] == 1


def test_samples_are_joined_with_their_cases(run_dir: Path) -> None:
    rows = query([run_dir], QUESTION)
    assert len(rows) == 2 * 2 * 2
    assert {row["n"] for row in rows} == {2}
    run = load(run_dir)
    rates = sorted(s.rate_mib_s for s in run.samples if s.case == 1 and s.operation == "write" and s.counts)
    row = next(
        r for r in rows if (r["interface"], r["transfer_bytes"], r["operation"]) == ("posix", 65536, "write")
    )
    assert row["rate_mib_s"] == pytest.approx(sum(rates) / 2)
    assert row["readback"] == "shift"


def test_parquet_and_events_give_the_same_answers(run_dir: Path) -> None:
    from_events = query([run_dir], QUESTION)
    ranks = query([run_dir], "SELECT * FROM ranks ORDER BY ALL")
    assert [path.name for path in derive(run_dir)] == [
        "samples.parquet",
        "ranks.parquet",
        "timelines.parquet",
    ]
    (run_dir / "events.jsonl").unlink()
    assert query([run_dir], QUESTION) == from_events
    assert query([run_dir], "SELECT * FROM ranks ORDER BY ALL") == ranks


def test_a_run_is_checked_once_until_it_changes(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[Path] = []
    monkeypatch.setattr(tables, "check_whole", checked.append)
    counts = [query([run_dir], "SELECT count(*) AS n FROM samples") for _ in range(3)]
    assert counts == counts[:1] * 3
    assert checked == [run_dir]
    events = run_dir / "events.jsonl"
    events.write_text("".join(line for line in events.open() if '"rank"' not in line))
    assert query([run_dir], "SELECT count(*) AS n FROM ranks") == [{"n": 0}]
    assert checked == [run_dir] * 2


def test_samples_have_the_start_that_measured_them(tmp_path: Path) -> None:
    run_dir = resumed(tmp_path / RUN, (1, 3))
    question = "SELECT repetition, any_value(start) AS start FROM samples GROUP BY ALL ORDER BY ALL"
    expected = [(0, 1), (1, 2), (2, 2), (3, 3), (4, 3), (5, 3)]
    assert [(row["repetition"], row["start"]) for row in query([run_dir], question)] == expected
    derive(run_dir)
    assert [(row["repetition"], row["start"]) for row in query([run_dir], question)] == expected
    (row,) = query([run_dir], "SELECT count(*) AS parts FROM parts")
    assert row["parts"] == 0


def test_samples_name_their_data_set_without_its_manifest(tmp_path: Path) -> None:
    run_dir = program(tmp_path / RUN)
    question = (
        "SELECT DISTINCT case_parameters ->> 'dataset' AS name, case_parameters ->> 'manifest' AS manifest"
    )
    (row,) = query([run_dir], f"{question} FROM samples")
    assert row == {"name": "kept", "manifest": None}


def test_parquet_older_than_the_events_is_not_believed(run_dir: Path) -> None:
    derive(run_dir)
    lines = (run_dir / "events.jsonl").read_text().splitlines(keepends=True)
    (run_dir / "events.jsonl").write_text("".join(line for line in lines if '"sample"' not in line))
    later = (run_dir / "samples.parquet").stat().st_mtime + 10
    os.utime(run_dir / "events.jsonl", (later, later))
    assert query([run_dir], "SELECT count(*) AS n FROM samples") == [{"n": 0}]


def test_parquet_that_lacks_a_column_of_today_is_not_believed(run_dir: Path) -> None:
    """As a Strider wrote it that did not have the column."""
    derive(run_dir)
    parquet = run_dir / "ranks.parquet"
    duckdb.sql(f"COPY (SELECT * EXCLUDE (user_s) FROM '{parquet}') TO '{run_dir}/older.parquet'")
    (run_dir / "older.parquet").replace(parquet)
    (row,) = query([run_dir], "SELECT count(user_s) AS n FROM ranks")
    assert row["n"] > 0


def test_many_runs_are_asked_at_once_derived_or_not(tmp_path: Path, run_dir: Path) -> None:
    derive(run_dir)
    other = RunBuilder([CaseSpec()], repetitions=5).write(tmp_path / "2026-11-22-101112-synthetic-efgh")
    rows = query([run_dir, other], "SELECT run, count(*) AS n FROM samples GROUP BY run ORDER BY run")
    assert rows == [{"run": RUN, "n": 24}, {"run": other.name, "n": 10}]


def test_nested_values_are_flat_columns_with_units(run_dir: Path) -> None:
    row = query([run_dir], "SELECT * FROM samples WHERE operation = 'read' LIMIT 1")[0]
    for name in ("latency_p99_s", "rank_rate_min_mib_s", "verify_checked_bytes", "histogram_scheme"):
        assert row[name] is not None
    assert row["deadline_s"] is None
    assert sum(count for _, count in row["histogram_buckets"]) == row["latency_count"]


# proves measuring: not-counted
def test_calls_are_columns_and_null_where_not_counted(tmp_path: Path) -> None:
    cases = [CaseSpec(calls_per_request=2048), CaseSpec(calls_per_request=None)]
    directory = RunBuilder(cases, repetitions=1).write(tmp_path / RUN)
    question = 'SELECT requests, read_calls, write_calls FROM samples ORDER BY "case", operation'
    counted = [
        {"requests": 128, "read_calls": 128 * 2048, "write_calls": 0},
        {"requests": 128, "read_calls": 0, "write_calls": 128 * 2048},
    ]
    nobody = {"requests": 128, "read_calls": None, "write_calls": None}
    assert query([directory], question) == [*counted, nobody, nobody]
    derive(directory)
    assert query([directory], question) == [*counted, nobody, nobody]


# proves measuring: counters-shown
def test_each_counter_of_a_node_is_a_row(tmp_path: Path) -> None:
    directory = RunBuilder([CaseSpec(counting_nodes=2)], repetitions=2).write(tmp_path / RUN)
    question = (
        "SELECT node, repetition, elapsed_s, value FROM counters "
        "WHERE counter = 'context_switches' AND operation = 'read' ORDER BY repetition, node"
    )
    assert query([directory], question) == [
        {
            "node": node,
            "repetition": repetition,
            "elapsed_s": 2.0 + repetition,
            "value": 1000 * (2.0 + repetition),
        }
        for repetition in (0, 1)
        for node in (0, 1)
    ]
    out = export(directory, "csv", tmp_path / "counters.csv", "counters")
    head, *lines = out.read_text().splitlines()
    phase = "run,case,repetition,warmup,operation"
    assert head == f"{phase},node,nodes,elapsed_s,sampling_s,source,instance,counter,value"
    assert len(lines) == 2 * 2 * 2 * 15
    assert f"{RUN},1,0,false,read,0,1,2.0,0.001,network,eth0,sent_packets,20.0" in lines


def test_runs_without_counters_have_none(run_dir: Path) -> None:
    assert query([run_dir], "SELECT * FROM counters") == []


def test_what_served_a_read_is_in_columns(tmp_path: Path) -> None:
    prepared = {"policy": "cold", "action": "fsync", "cached_share": 0.25, "examined_by": "mincore"}
    directory = RunBuilder([CaseSpec(served=0.5, prepared=prepared)], repetitions=1).write(tmp_path / RUN)
    question = "SELECT served_by_storage, served_source, cache_policy, cache_cached_share FROM samples"
    expected = {
        "served_by_storage": 0.5,
        "served_source": "process",
        "cache_policy": "cold",
        "cache_cached_share": 0.25,
    }
    assert query([directory], f"{question} WHERE operation = 'read'") == [expected]
    assert query([directory], f"{question} WHERE operation = 'write'") == [dict.fromkeys(expected)]


TIMELINES = "SELECT * EXCLUDE (run) FROM timelines ORDER BY ALL"


# proves measuring: timelines
def test_timelines_are_one_row_for_each_interval(tmp_path: Path) -> None:
    case = CaseSpec(timelines=[[5, 0, 7], [4, 3, 2]])
    directory = RunBuilder([case], repetitions=1).write(tmp_path / RUN)
    rows = query([directory], TIMELINES)
    assert len(rows) == 2 * 2 * 3
    write = [row for row in rows if row["operation"] == "write" and row["rank"] == 0]
    assert [row["interval"] for row in write] == [0, 1, 2]
    assert [row["requests"] for row in write] == [5, 0, 7]
    assert [row["bytes"] for row in write] == [5 * MIB, 0, 7 * MIB]
    assert [row["busy_s"] for row in write] == [0.09, 0.0, 0.09]
    assert [row["latency_max_s"] for row in write] == [0.05, 0.0, 0.05]
    start_s = write[0]["t_s"]
    assert [row["t_s"] - start_s for row in write] == pytest.approx([0, 0.1, 0.2])
    derive(directory)
    (directory / "events.jsonl").unlink()
    assert query([directory], TIMELINES) == rows


def test_timelines_are_read_back(tmp_path: Path) -> None:
    directory = RunBuilder([CaseSpec(timelines=[[1], [2]])], repetitions=1).write(tmp_path / RUN)
    found = load_events(directory, Timeline)
    assert [(one.operation, one.rank, one.requests) for one in found] == [
        ("write", 0, [1]),
        ("write", 1, [2]),
        ("read", 0, [1]),
        ("read", 1, [2]),
    ]


def test_requests_are_one_row_each_with_values_in_hexadecimal(tmp_path: Path) -> None:
    case = CaseSpec(values=[[0xFF, 0x12345678], [7]])
    directory = RunBuilder([case], repetitions=1).write(tmp_path / RUN)
    rows = query([directory], "SELECT * EXCLUDE (run) FROM requests ORDER BY ALL")
    assert [(row["rank"], row["request"], row["offset"], row["first"]) for row in rows] == [
        (0, 0, 0, "000000ff"),
        (0, 1, MIB, "12345678"),
        (1, 0, 0, "00000007"),
    ]
    assert (rows[1]["middle"], rows[1]["last"], rows[1]["bytes"]) == ("12345679", "1234567a", MIB)
    out = export(directory, "csv", tmp_path / "requests.csv", "requests")
    head, first, *_ = out.read_text().splitlines()
    assert head == "run,case,repetition,warmup,operation,rank,request,offset,bytes,first,middle,last"
    assert first.endswith(f",0,0,0,{MIB},000000ff,00000100,00000101")


def test_a_run_without_values_has_no_requests(run_dir: Path) -> None:
    assert query([run_dir], "SELECT * FROM requests") == []


# proves measuring: clock-events
def test_clocks_are_in_a_table(tmp_path: Path) -> None:
    directory = RunBuilder([CaseSpec(clock_error_s=2e-5)], repetitions=1).write(tmp_path / RUN)
    (first, _) = query([directory], "SELECT * EXCLUDE (run) FROM clocks")
    assert (first["node"], first["offset_start_s"], first["offset_end_s"]) == (1, -3.0, -3.001)
    assert (first["error_s"], first["drift_ppm"], first["drift_error_ppm"]) == (1e-5, 100.0, 0.5)
    (row,) = query([directory], "SELECT DISTINCT clock_error_s, start_skew_s, flags FROM samples")
    assert row == {"clock_error_s": 2e-5, "start_skew_s": 0.0001, "flags": []}
    assert [clock.node for clock in load_events(directory, ClockRow)] == [1, 1]
    out = export(directory, "csv", tmp_path / "clocks.csv", "clocks")
    assert (
        out.read_text()
        .splitlines()[0]
        .startswith("run,case,repetition,warmup,operation,node,offset_start_s,")
    )


def test_runs_of_one_clock_have_no_clocks_and_no_timelines(run_dir: Path) -> None:
    assert query([run_dir], "SELECT * FROM clocks") == []
    assert query([run_dir], "SELECT * FROM timelines") == []


def test_errors_without_a_case_are_kept(run_dir: Path) -> None:
    *lines, end = (run_dir / "events.jsonl").read_text().splitlines()
    error = '{"event":"error","time_s":9,"kind":"stall","message":"rank 3 is silent"}'
    (run_dir / "events.jsonl").write_text("\n".join([*lines, error, end, ""]))
    assert query([run_dir], "SELECT run, kind, message FROM errors") == [
        {"run": RUN, "kind": "stall", "message": "rank 3 is silent"}
    ]


def test_a_torn_last_line_is_passed_over(run_dir: Path) -> None:
    with (run_dir / "events.jsonl").open("a") as events:
        events.write('{"event":"sample","case":1,')
    assert query([run_dir], "SELECT count(*) AS n FROM samples") == [{"n": 24}]


@pytest.mark.parametrize("kind", ["sample", "rank", "error", "progress"])
def test_a_damaged_line_in_the_middle_does_not_vanish(run_dir: Path, tmp_path: Path, kind: str) -> None:
    events = run_dir / "events.jsonl"
    head, *rest = events.read_text().splitlines(keepends=True)
    events.write_text("".join([head, f'{{"event":"{kind}","case":1,\n', *rest]))
    with pytest.raises(StriderError, match=r"events.jsonl line 2 is not an event"):
        query([run_dir], "SELECT 1")
    with pytest.raises(StriderError, match="line 2"):
        derive(run_dir)
    with pytest.raises(StriderError, match="line 2"):
        export(run_dir, "csv", tmp_path / "out.csv")


@pytest.mark.parametrize("derived", [False, True])
@pytest.mark.parametrize("name", ["run.json", "plan.json", "events.jsonl"])
def test_an_unknown_version_is_refused(run_dir: Path, name: str, derived: bool) -> None:
    path = run_dir / name
    path.write_text(path.read_text().replace('"version": 1', '"version": 7', 1))
    if derived:
        for table in ("samples", "ranks"):
            (run_dir / f"{table}.parquet").touch()
    with pytest.raises(StriderError, match=rf"{name}: .* of version 7, but this Strider reads version 1"):
        query([run_dir], "SELECT 1")


def test_no_half_table_is_left_where_none_can_be_written(run_dir: Path) -> None:
    (run_dir / "samples.parquet").mkdir()
    with pytest.raises(StriderError, match=r"cannot write .*samples\.parquet") as caught:
        derive(run_dir)
    assert caught.value.exit_code == ExitCode.CANNOT_RUN
    assert not list(run_dir.glob(".*.part"))


def test_a_run_without_events_has_empty_tables(run_dir: Path) -> None:
    (run_dir / "events.jsonl").unlink()
    assert query([run_dir], "SELECT * FROM samples") == []
    assert query([run_dir], "SELECT * FROM errors") == []
    assert len(query([run_dir], "SELECT * FROM cases")) == 4


def test_names_with_quotes_are_names(tmp_path: Path) -> None:
    directory = RunBuilder([CaseSpec(name="o'brien")], repetitions=1).write(tmp_path / "it's; DROP TABLE")
    assert query([directory], "SELECT DISTINCT case_name FROM samples") == [{"case_name": "o'brien"}]


def test_a_wrong_statement_is_answered_with_what_is_wrong(run_dir: Path) -> None:
    with pytest.raises(StriderError, match="rate_gib_s"):
        query([run_dir], "SELECT rate_gib_s FROM samples")


def test_exports_hold_one_row_per_sample_in_the_order_of_the_run(run_dir: Path, tmp_path: Path) -> None:
    starts = sorted(sample.start_s for sample in load(run_dir).samples)
    with export(run_dir, "csv", tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["start_s"]) for row in rows] == pytest.approx(starts)
    document = json.loads(export(run_dir, "json", tmp_path / "out.json").read_text())
    assert [row["start_s"] for row in document] == pytest.approx(starts)
    assert export(run_dir, "parquet", tmp_path / "out.parquet").read_bytes()[:4] == b"PAR1"


def test_any_table_can_be_exported(run_dir: Path, tmp_path: Path) -> None:
    cases = json.loads(export(run_dir, "json", tmp_path / "cases.json", table="cases").read_text())
    assert [row["case"] for row in cases] == [1, 2, 3, 4]
    assert cases[0]["interface_parameters"] == {"name": "posix"}


def test_an_export_that_cannot_be_written_says_so(run_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(StriderError, match="cannot write"):
        export(run_dir, "csv", tmp_path / "missing" / "out.csv")


@pytest.mark.parametrize("table", get_args(Table))
def test_no_cell_of_a_csv_file_begins_as_a_formula(table: Table, tmp_path: Path) -> None:
    signs = "=+-@\t\r"
    RunBuilder([CaseSpec(name=f"{sign}1+cmd") for sign in signs]).write(tmp_path / RUN)
    out = export(tmp_path / RUN, "csv", tmp_path / "out.csv", table)
    cells = [cell for row in csv.reader(out.open(newline="")) for cell in row]
    assert not [cell for cell in cells if cell.startswith(tuple(signs)) and not is_number(cell)]
    assert table != "cases" or "'=1+cmd" in cells


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "text", ["", "x", "-1", "+1.5e-3", "-3 %", "+7%", "-1 – +2", "-1 % – +2 %", "a=b", "–", ".5", "-.5"]
)
def test_numbers_and_plain_texts_are_as_they_were(text: str) -> None:
    assert defused(text) == text


@pytest.mark.parametrize("text", ["=1", "-1+2", "+cmd", "@x", "\t=1", "\r", "-", "- 1", "+7 %%"])
def test_what_a_spreadsheet_takes_for_a_formula_is_quoted(text: str) -> None:
    assert defused(text) == f"'{text}"
    found = duckdb.execute(f"SELECT {defused_sql('x')} FROM (SELECT ? AS x)", [text]).fetchall()
    assert found == [(f"'{text}",)]
