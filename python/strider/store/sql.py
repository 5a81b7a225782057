"""The SQL that turns event streams and plans into tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from strider.store.events import FILE_CHECK, lines_of_run
from strider.store.schema import FieldSchema, results_schema

#: Smallest buffer for one JSON value; DuckDB's own default.
MINIMUM_OBJECT_BYTES = 1 << 24

_SQL_TYPES = {
    "flag": "BOOLEAN",
    "integer": "INTEGER",
    "count": "BIGINT",
    "real": "DOUBLE",
    "text": "VARCHAR",
    "texts by name": "JSON",
    "counter groups": 'STRUCT("source" VARCHAR, "instance" VARCHAR, "values" MAP(VARCHAR, DOUBLE))[]',
    "count pair": "BIGINT[]",
}

#: Beginning of the columns of a record within a sample, where it is not the name of its field.
_PREFIXES = {"rank_rate_mib_s": "rank_rate", "rank_rate_requests_s": "rank_requests"}


def _sql_type(field: FieldSchema) -> str:
    """The type of a field's column; that of a field of the event stream where it is a record."""
    kind, is_list, _ = field.type.partition(" list")
    if kind == "record":
        members = results_schema().records[field.record or ""].fields
        inner = ", ".join(f'"{each.name}" {_sql_type(each)}' for each in members)
        plain = f"STRUCT({inner})"
    else:
        plain = _SQL_TYPES[kind]
    return plain + ("[]" if is_list else "")


def _columns(field: FieldSchema) -> list[tuple[str, str]]:
    """The columns that a field becomes, with the expression of each: several for a record within."""
    if field.type != "record":
        return [(f'"{field.name}"', f'event."{field.name}"')]
    members = results_schema().records[field.record or ""].fields
    return [(_column_of(field.name, each), f'event."{field.name}"."{each.name}"') for each in members]


def _column_of(outer: str, field: FieldSchema) -> str:
    """The name of a column of a record within: `latency_p50_s`, `rank_rate_min_mib_s`."""
    if outer in _PREFIXES and field.type == "real":
        # The unit is that of the field that holds the record.
        return f"rank_rate_{field.name}{outer.removeprefix('rank_rate')}"
    if field.name.startswith(f"{outer}_"):
        return field.name
    return f"{_PREFIXES.get(outer, outer)}_{field.name}"


def _event_types(table: str) -> dict[str, str]:
    """Types of the JSON fields that a table is made of. A field that a line lacks is NULL."""
    fields = results_schema().event_fields(_EVENT_OF_TABLE[table])
    return {"event": "VARCHAR", "time_s": "DOUBLE"} | {each.name: _sql_type(each) for each in fields}


#: The directory of the file that a row was read from.
_DIRECTORY = "parse_dirpath(filename)"

_EVENT_OF_TABLE = {
    "samples": "sample",
    "parts": "sample",
    "distributions": "sample",
    "ranks": "rank",
    "clocks": "clock",
    "timelines": "timeline",
    "requests": "values",
    "counters": "counters",
    "errors": "error",
}

#: Columns of a table of single events that no field of theirs has.
_ADDED = {"samples": frozenset({"start"})}

#: Fields that are tables of their own.
_OWN_TABLES = {"samples": ("parts", "rank_distributions")}

_CASE_COLUMNS = (
    'case_name, interface, pattern, tree, transfer_bytes, "order", sharing, '
    "interface_parameters, pattern_parameters, tree_parameters, case_parameters"
)

ORDER = {
    "samples": "ORDER BY start_s",
    "parts": "ORDER BY start_s, part",
    "distributions": 'ORDER BY "case", repetition, operation, quantity',
    "ranks": 'ORDER BY "case", repetition, start_s, rank',
    "counters": 'ORDER BY "case", repetition, operation, node, source, instance, counter',
    "clocks": 'ORDER BY "case", repetition, operation, node',
    "timelines": 'ORDER BY "case", repetition, operation, node, rank, interval',
    "requests": 'ORDER BY "case", repetition, operation, rank, request',
    "errors": "ORDER BY time_s",
    "cases": 'ORDER BY "case"',
}


def quote(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("'", "''") + "'"


def _paths(run_dirs: Sequence[Path], name: str) -> str:
    return "[" + ", ".join(quote(str(run_dir / name)) for run_dir in run_dirs) + "]"


def _object_bytes(paths: Sequence[Path]) -> int:
    """Buffer that holds the largest JSON value of some files: a document may be as large as its file."""
    return max([MINIMUM_OBJECT_BYTES, *(2 * path.stat().st_size for path in paths if path.exists())])


def create_runs(run_dirs: Sequence[Path]) -> str:
    """The table `runs`: the id of each run, with its directory as key for the other tables."""
    infos = [run_dir / "run.json" for run_dir in run_dirs]
    return f"""
CREATE TABLE runs AS
SELECT {_DIRECTORY} AS directory, run, started, ended, status, "check", environment
FROM read_json({_paths(run_dirs, "run.json")}, filename = true, maximum_object_size = {_object_bytes(infos)},
    columns = {{run: 'VARCHAR', started: 'VARCHAR', ended: 'VARCHAR', status: 'VARCHAR', "check": 'JSON',
        environment: 'JSON'}})
"""  # noqa: S608 - paths are quoted


def create_cases(run_dirs: Sequence[Path]) -> str:
    """The table `cases`: one row per case of each run of the table `runs`."""
    plans = [run_dir / "plan.json" for run_dir in run_dirs]
    return f"""
CREATE TABLE cases AS
WITH checked AS (
    SELECT directory, (entry ->> '$.case')::INTEGER AS number,
        (entry ->> '$.request_bytes')::BIGINT AS request_bytes
    FROM (SELECT directory, unnest(from_json("check" -> '$.cases', '["JSON"]')) AS entry FROM runs)
), planned AS (
    SELECT {_DIRECTORY} AS directory, unnest(cases) AS entry
    FROM read_json({_paths(run_dirs, "plan.json")}, columns = {{cases: 'JSON[]'}}, filename = true,
        maximum_object_size = {_object_bytes(plans)})
)
SELECT runs.run, planned.directory, (entry ->> '$.case')::INTEGER AS "case", entry ->> '$.name' AS case_name,
    entry ->> '$.interface.name' AS interface, entry ->> '$.pattern.name' AS pattern,
    entry ->> '$.tree.name' AS tree,
    CASE WHEN (entry ->> '$.tree.name') IS NULL
        THEN coalesce(try_cast(entry ->> '$.pattern.transfer' AS BIGINT), request_bytes) END
        AS transfer_bytes,
    (entry ->> '$.clients')::INTEGER AS clients, entry ->> '$.order' AS "order",
    entry ->> '$.sharing' AS sharing,
    entry -> '$.operations' AS operations, entry -> '$.interface' AS interface_parameters,
    entry -> '$.pattern' AS pattern_parameters, entry -> '$.tree' AS tree_parameters,
    json_merge_patch(entry, '{{"case": null, "name": null, "interface": null, "pattern": null, "tree": null,
        "clients": null, "operations": null, "repetitions": null, "order": null, "sharing": null,
        "manifest": null}}')
        AS case_parameters
FROM planned JOIN runs USING (directory)
LEFT JOIN checked
    ON checked.directory = planned.directory AND checked.number = (entry ->> '$.case')::INTEGER
"""  # noqa: S608 - paths are quoted


def create_view(table: str, raw: Sequence[Path], derived: Sequence[Path]) -> str:
    """A view of a table that is no other's part, over event streams (`raw`) and Parquet files (`derived`).

    Parquet files of an earlier Strider may lack columns that the events, even if none, bring along.
    """
    parts = [_from_events(table, raw)]
    if derived:
        files = _paths(derived, f"{table}.parquet")
        parts.append(f"SELECT * FROM read_parquet({files}, union_by_name = true)")  # noqa: S608 - quoted
    return f"CREATE VIEW {table} AS " + " UNION ALL BY NAME ".join(parts)


def create_parts(run_dirs: Sequence[Path]) -> str:
    """The view `parts`: one row per operation of a mix and sample, from event streams."""
    fields = [each for each in results_schema().records["Part"].fields if each.type == "record"]
    found = [column for field in fields for column in _columns(field)]
    columns = ", ".join(f"{value.replace('event.', 'part.', 1)} AS {name}" for name, value in found)
    return f"""
CREATE VIEW parts AS
SELECT runs.run, event."case", event.repetition, event.warmup, event.operation, part.operation AS part,
    event.measured, event.valid, event.start_s, part.requests, part.requests / event.elapsed_s AS requests_s,
    {columns}
FROM (SELECT *, unnest(parts) AS part FROM {_judged("parts", run_dirs)} WHERE event = 'sample') AS event
    JOIN runs USING (directory)
"""  # noqa: S608 - names of ours


def create_distributions(run_dirs: Sequence[Path]) -> str:
    """The view `distributions`: one row per quantity of the ranks and sample, from event streams."""
    fields = results_schema().records["RankDistribution"].fields
    columns = ", ".join(f'one."{each.name}"' for each in fields)
    return f"""
CREATE VIEW distributions AS
SELECT runs.run, event."case", event.repetition, event.warmup, event.operation, event.measured, event.valid,
    {columns}
FROM (SELECT *, unnest(rank_distributions) AS one
        FROM {_judged("distributions", run_dirs)} WHERE event = 'sample') AS event
    JOIN runs USING (directory)
"""  # noqa: S608 - names of ours


def create_counters(run_dirs: Sequence[Path]) -> str:
    """The view `counters`: one row per counter of each node and sample, from event streams."""
    return f"""
CREATE VIEW counters AS
SELECT run, "case", repetition, warmup, operation, node, nodes, elapsed_s, sampling_s, source, instance,
    entry.key AS counter, entry.value AS value
FROM (SELECT * EXCLUDE (groups), groups.source, groups.instance,
        unnest(map_entries(groups."values")) AS entry
    FROM (SELECT runs.run, event."case", event.repetition, event.warmup, event.operation, event.node,
            coalesce(event.nodes, 1) AS nodes, event.elapsed_s, event.sampling_s,
            unnest(event.counters) AS groups
        FROM {_lines("counters", run_dirs)} AS event JOIN runs USING (directory)
        WHERE event.event = 'counters'))
"""  # noqa: S608 - names of ours


def _lines(table: str, run_dirs: Sequence[Path]) -> str:
    """The fields of event streams that a table is made of; no row where there is no stream."""
    types = _event_types(table)
    if not run_dirs:
        empty = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in types.items())
        return f"(SELECT {empty}, NULL::VARCHAR AS directory WHERE false)"
    # The only errors to ignore are a torn last line's: all else was checked before (`check_whole`).
    columns = ", ".join(f'"{name}": {quote(kind)}' for name, kind in types.items())

    def read(some: Sequence[Path], more: str = "") -> str:
        return f"""SELECT *, {_DIRECTORY} AS directory{more} FROM read_ndjson({_paths(some, "events.jsonl")},
            columns = {{{columns}}}, filename = true, ignore_errors = true,
            maximum_object_size = {MINIMUM_OBJECT_BYTES})"""  # noqa: S608 - paths are quoted

    # What follows the end of a run is no part of it.
    ends = {run_dir: _lines_of_run(run_dir / "events.jsonl", _state(run_dir)) for run_dir in run_dirs}
    numbered = ", row_number() OVER () AS line"
    cut = [
        f"SELECT * EXCLUDE (line) FROM ({read([run_dir], numbered)}) WHERE line <= {end}"  # noqa: S608 - a number
        for run_dir, end in ends.items()
        if end is not None
    ]
    whole = [run_dir for run_dir, end in ends.items() if end is None]
    return "(" + " UNION ALL ".join([*([read(whole)] if whole else []), *cut]) + ")"


def _state(run_dir: Path) -> tuple[int, int, int]:
    """What changes with the events of a run."""
    found = (run_dir / "events.jsonl").stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


@lru_cache(maxsize=4096)
def _lines_of_run(events: Path, _changed: tuple[int, int, int]) -> int | None:
    return lines_of_run(events)


def _judged(table: str, run_dirs: Sequence[Path]) -> str:
    """`_lines` of samples and errors; void where the check of the whole files of a repetition failed.

    A check that found something has an invalid sample; one that could not read has errors alone. The column
    `start` has the number of the start in which a line was written, from 1: a resumed run has several.
    """
    before = "PARTITION BY directory ORDER BY time_s, event ROWS UNBOUNDED PRECEDING"
    starts = f"count(*) FILTER (WHERE event = 'run') OVER ({before})"
    failed = f"bool_or(operation = {quote(FILE_CHECK)} AND valid IS NOT TRUE)"
    repetition = 'PARTITION BY directory, "case", repetition'
    return f"""(SELECT * REPLACE (valid AND NOT {failed} OVER ({repetition}) AS valid),
            greatest(1, {starts})::INTEGER AS start
        FROM {_lines(table, run_dirs)} WHERE event IN ('run', 'sample', 'error'))"""  # noqa: S608 - names of ours


def _from_events(table: str, run_dirs: Sequence[Path]) -> str:
    """SELECT of a table's columns from event streams, joined with the cases."""
    if table == "timelines":
        return _timelines_from_events(run_dirs)
    case_columns = f"{_CASE_COLUMNS}, event.start, " if table == "samples" else ""
    lines = (_judged if table == "samples" else _lines)(table, run_dirs)
    return f"""
SELECT runs.run, event."case", {case_columns}{_event_columns(table)}
FROM {lines} AS event JOIN runs USING (directory) LEFT JOIN cases
    ON cases.directory = event.directory AND cases."case" = event."case"
WHERE event.event = '{_EVENT_OF_TABLE[table]}'
"""  # noqa: S608 - names of ours


def _timelines_from_events(run_dirs: Sequence[Path]) -> str:
    """The long form: one row per interval; number, and the second within the run at which it starts."""
    lists = ("bytes", "requests", "busy_s", "latency_max_s")
    columns = ", ".join(f"unnest({name}) AS {name}" for name in lists)
    return f"""
SELECT run, "case", repetition, warmup, operation, rank, node, coalesce(nodes, 1) AS nodes, interval,
    start_s + interval * interval_s AS t_s, interval_s, {", ".join(lists)}
FROM (SELECT runs.run, event.* EXCLUDE ({", ".join(lists)}), unnest(range(len(bytes))) AS interval, {columns}
    FROM {_lines("timelines", run_dirs)} AS event JOIN runs USING (directory)
    WHERE event.event = 'timeline')
"""  # noqa: S608 - names of ours


def create_requests(run_dirs: Sequence[Path]) -> str:
    """The view `requests`: one row per recorded request of a rank, with its values in hexadecimal."""
    lists = ("offset", "bytes", "first", "middle", "last")
    columns = ", ".join(f'unnest("{name}") AS "{name}"' for name in lists)
    values = ", ".join(f"""printf('%08x', "{name}") AS "{name}\"""" for name in lists[2:])
    without = ", ".join(f'"{name}"' for name in lists)
    return f"""
CREATE VIEW requests AS
SELECT run, "case", repetition, warmup, operation, rank, request, "offset", bytes, {values}
FROM (SELECT runs.run, event.* EXCLUDE ({without}), unnest(range(len(event."offset"))) AS request, {columns}
    FROM {_lines("requests", run_dirs)} AS event JOIN runs USING (directory)
    WHERE event.event = 'values')
"""  # noqa: S608 - names of ours


def event_columns(table: str) -> frozenset[str]:
    """Names of the columns that a table of single events takes from them; none for one of intervals."""
    if table == "timelines":
        return frozenset()
    fields = results_schema().event_fields(_EVENT_OF_TABLE[table])
    kept = [field for field in fields if field.name not in _OWN_TABLES.get(table, ())]
    found = frozenset(name.strip('"') for field in kept for name, _ in _columns(field))
    return found | _ADDED.get(table, frozenset())


def _event_columns(table: str) -> str:
    """The event's own columns; records within are flattened."""
    left_out = ("case", *_OWN_TABLES.get(table, ()))
    columns = ["event.time_s"] if table == "errors" else []
    for field in results_schema().event_fields(_EVENT_OF_TABLE[table]):
        if field.name not in left_out:
            columns += [f"{value} AS {name}" for name, value in _columns(field)]
    return ", ".join(columns)
