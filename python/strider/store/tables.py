"""Run directories as tables, by DuckDB: `samples`, `ranks`, `timelines`, `counters` and others (`Table`).

The tables come straight from `events.jsonl` and `plan.json`; where `derive` has written Parquet files that
are not older than the events, `samples`, `ranks` and `timelines` come from those. Units are in the names.
Parameters that only some interfaces, patterns or trees have are in JSON columns (`interface_parameters`,
`pattern_parameters`, `tree_parameters`, `case_parameters`): `interface_parameters ->> 'direct'`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from strider.errors import ExitCode, StriderError
from strider.store import sql
from strider.store.cells import defused_sql
from strider.store.load import check_versions, check_whole

if TYPE_CHECKING:
    import duckdb

Table = Literal[
    "samples",
    "parts",
    "distributions",
    "ranks",
    "timelines",
    "clocks",
    "counters",
    "requests",
    "errors",
    "cases",
]
ExportFormat = Literal["csv", "json", "parquet"]

_DERIVED: tuple[Table, ...] = ("samples", "ranks", "timelines")
_COPY_OPTIONS: dict[ExportFormat, str] = {
    "csv": "FORMAT csv, HEADER",
    "json": "FORMAT json, ARRAY true",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
}


def derive(run_dir: Path) -> list[Path]:
    """Writes `samples.parquet` (one row per sample, joined with its case) and those of the other tables.

    Returns:
        The files written; they replace older ones as a whole, so that a reader never sees half a file.

    Raises:
        StriderError: The run is damaged, or a file cannot be written.
    """
    connection = _connect([run_dir], use_derived=False)
    return [_derive_table(connection, run_dir, table) for table in _DERIVED]


def _derive_table(connection: duckdb.DuckDBPyConnection, run_dir: Path, table: Table) -> Path:
    import duckdb

    target = run_dir / f"{table}.parquet"
    scratch = run_dir / f".{table}.parquet.part"
    try:
        _copy(connection, f"SELECT * FROM {table}", scratch, "parquet")  # noqa: S608 - a name of ours
        scratch.replace(target)
    except (duckdb.IOException, OSError) as error:
        with suppress(OSError):
            scratch.unlink()
        raise StriderError(f"cannot write {target}: {error}", ExitCode.CANNOT_RUN) from error
    return target


def query(run_dirs: Sequence[Path], statement: str) -> list[dict[str, Any]]:
    """Answers a SQL question over any number of runs.

    Args:
        run_dirs: Run directories.
        statement: DuckDB SQL over the views `samples`, `parts`, `distributions`, `ranks`, `timelines`,
            `clocks`, `counters`, `requests`, `errors`, `cases` (each with a column `run`) and `runs`.

    Returns:
        One dictionary per row, keyed by column name.

    Raises:
        StriderError: The statement is wrong, with DuckDB's message; or a run is damaged or of an unknown
            version.
    """
    import duckdb

    try:
        result = _connect(run_dirs, use_derived=True).execute(statement)
    except duckdb.Error as error:
        raise StriderError(f"the query failed: {error}") from error
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def export(run_dir: Path, fmt: ExportFormat, out: Path, table: Table = "samples") -> Path:
    """Writes a table of a run to a file for other programs.

    Args:
        run_dir: The run directory.
        fmt: `csv`, `json` (one array of objects) or `parquet`.
        out: The file to write; an existing one is replaced.
        table: Which table. CSV gets everything but the histogram buckets of `samples` and `parts`.

    Returns:
        `out`.

    Raises:
        StriderError: The file cannot be written, or the run is damaged or of an unknown version.
    """
    import duckdb

    nested = table in ("samples", "parts") and fmt == "csv"
    columns = "* EXCLUDE (histogram_buckets)" if nested else "*"
    statement = f"SELECT {columns} FROM {table} {sql.ORDER[table]}"  # noqa: S608 - names of ours
    try:
        _copy(_connect([run_dir], use_derived=True), statement, out, fmt)
    except duckdb.IOException as error:
        raise StriderError(f"cannot write {out}: {error}") from error
    return out


def export_rows(rows: Sequence[dict[str, Any]], fmt: ExportFormat, out: Path) -> Path:
    """Writes rows that were computed to a file for other programs.

    Args:
        rows: At least one, of plain JSON values; a column that a row lacks is empty.
        fmt: As by `export`.
        out: The file to write; an existing one is replaced.

    Raises:
        StriderError: There is no row, or the file cannot be written.
    """
    import duckdb

    if not rows:
        raise StriderError("no result to export: no phase of the run was finished")
    with tempfile.TemporaryDirectory(prefix="strider-export-") as folder:
        source = Path(folder) / "rows.json"
        flat = [_flat(row) for row in rows] if fmt == "csv" else rows
        source.write_text(dumps(flat), encoding="utf-8")
        size = max(sql.MINIMUM_OBJECT_BYTES, 2 * source.stat().st_size)
        options = f"format = 'array', maximum_object_size = {size}, sample_size = -1"
        statement = f"SELECT * FROM read_json({sql.quote(str(source))}, {options})"  # noqa: S608 - quoted
        try:
            _copy(duckdb.connect(":memory:"), statement, out, fmt)
        except duckdb.IOException as error:
            raise StriderError(f"cannot write {out}: {error}") from error
    return out


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row for CSV, which has no nested values: these become JSON texts."""
    return {name: dumps(value) if isinstance(value, dict | list) else value for name, value in row.items()}


def _connect(run_dirs: Sequence[Path], use_derived: bool) -> duckdb.DuckDBPyConnection:
    """A DuckDB in memory with the views over some run directories."""
    import duckdb

    for run_dir in run_dirs:
        # What Parquet files were made from was whole then, and has not changed since.
        unchanged = use_derived and all(_is_fresh(run_dir, table) for table in _DERIVED)
        if unchanged:
            check_versions(run_dir)
        else:
            _check_whole(run_dir, _state(run_dir))
    connection = duckdb.connect(":memory:")
    connection.execute("SET enable_progress_bar = false")
    connection.execute(sql.create_runs(run_dirs))
    connection.execute(sql.create_cases(run_dirs))
    for table in _DERIVED:
        derived = [run_dir for run_dir in run_dirs if use_derived and _is_fresh(run_dir, table)]
        raw = [run_dir for run_dir in run_dirs if run_dir not in derived and _has_events(run_dir)]
        connection.execute(sql.create_view(table, raw, derived))
    with_events = [run_dir for run_dir in run_dirs if _has_events(run_dir)]
    for table in ("clocks", "errors"):
        connection.execute(sql.create_view(table, with_events, []))
    connection.execute(sql.create_parts(with_events))
    connection.execute(sql.create_distributions(with_events))
    connection.execute(sql.create_counters(with_events))
    connection.execute(sql.create_requests(with_events))
    return connection


@lru_cache(maxsize=64)
def _check_whole(run_dir: Path, state: Sequence[tuple[int, int, int] | None]) -> None:
    """`check_whole`, once for each state of a run: a report asks several times, and this is most of the time.

    Rejected files are checked again each time, as `lru_cache` keeps no exceptions.
    """
    check_whole(run_dir)


def _state(run_dir: Path) -> Sequence[tuple[int, int, int] | None]:
    """What identifies a changed run: inode, bytes and time of change of its files; None for a missing one."""
    return tuple(_file_state(run_dir / name) for name in ("run.json", "plan.json", "events.jsonl"))


def _file_state(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _is_fresh(run_dir: Path, table: Table) -> bool:
    """Whether a Parquet file is not older than the events, and has all columns of today.

    Without events, the columns of the file are all.
    """
    parquet, events = run_dir / f"{table}.parquet", run_dir / "events.jsonl"
    if not parquet.is_file():
        return False
    if not events.exists():
        return True
    if parquet.stat().st_mtime_ns < events.stat().st_mtime_ns:
        return False
    return sql.event_columns(table) <= _columns_of(parquet, parquet.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _columns_of(parquet: Path, _changed_ns: int) -> frozenset[str]:
    import duckdb

    try:
        return frozenset(duckdb.read_parquet(str(parquet)).columns)
    except duckdb.Error:
        return frozenset()  # a damaged file is as good as none


def _has_events(run_dir: Path) -> bool:
    events = run_dir / "events.jsonl"
    return events.is_file() and events.stat().st_size > 0


def _copy(connection: duckdb.DuckDBPyConnection, statement: str, out: Path, fmt: ExportFormat) -> None:
    if fmt == "csv":
        found = connection.sql(statement)
        columns = [
            f"{defused_sql(name)} AS {name}" if kind == "VARCHAR" else name
            for name, kind in (
                (_quoted(name), str(kind)) for name, kind in zip(found.columns, found.types, strict=True)
            )
        ]
        statement = f"SELECT {', '.join(columns)} FROM ({statement})"  # noqa: S608 - names are quoted
    connection.execute(f"COPY ({statement}) TO {sql.quote(str(out))} ({_COPY_OPTIONS[fmt]})")


def _quoted(name: str) -> str:
    """The name of a column as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
