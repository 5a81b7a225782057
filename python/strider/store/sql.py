"""The SQL that turns event streams and plans into tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from strider.store.events import FILE_CHECK

#: Smallest buffer for one JSON value; DuckDB's own default.
MINIMUM_OBJECT_BYTES = 1 << 24

_LATENCY = ("count", "min_s", "mean_s", "p50_s", "p90_s", "p99_s", "p999_s", "max_s")
_RANK_RATE = ("min", "min_rank", "mean", "max", "max_rank")
_DEADLINE = (
    "deadline_s",
    "requests",
    "bytes",
    "elapsed_s",
    "rate_mib_s",
    "wear_out_s",
    "requests_per_rank_min",
    "requests_per_rank_max",
)
_VERIFY = ("checked_bytes", "wrong_bytes", "mismatches", "outside_bytes", "files")
_PHASE_TIMES = (
    "start_s",
    "elapsed_s",
    "start_skew_s",
    "end_skew_s",
    "clock_error_s",
    "rate_mib_s",
    "first_done_s",
    "rate_first_done_mib_s",
    "requests_s",
    "rate_first_done_requests_s",
    "open_s",
    "transfer_s",
    "sync_s",
    "close_s",
    "prepare_s",
    "compute_s",
    "user_s",
    "system_s",
)


def _struct(fields: Sequence[str]) -> str:
    whole = {
        "count",
        "requests",
        "bytes",
        "min_rank",
        "max_rank",
        "requests_per_rank_min",
        "requests_per_rank_max",
    }
    whole |= set(_VERIFY)
    types = [f'"{field}" {"BIGINT" if field in whole else "DOUBLE"}' for field in fields]
    return f"STRUCT({', '.join(types)})"


_PROCESS_COUNTS = (
    "read_calls",
    "write_calls",
    "call_read_bytes",
    "call_write_bytes",
    "storage_read_bytes",
    "storage_write_bytes",
)
_CACHE = ("policy", "action", "cached_share", "examined_by")
_HISTOGRAM = "STRUCT(scheme VARCHAR, unit VARCHAR, buckets BIGINT[][])"

#: Which sample it is, and whether it counts.
_OF_SAMPLE = {
    "event": "VARCHAR",
    "case": "INTEGER",
    "repetition": "INTEGER",
    "warmup": "BOOLEAN",
    "operation": "VARCHAR",
    "measured": "BOOLEAN",
    "valid": "BOOLEAN",
}

#: Types of the JSON fields that the tables are made of. A field that a line lacks is NULL.
_EVENT_TYPES: dict[str, dict[str, str]] = {
    "samples": {
        **_OF_SAMPLE,
        "clients": "INTEGER",
        "nodes": "INTEGER",
        "files": "BIGINT",
        "bytes": "BIGINT",
        "requests": "BIGINT",
        **dict.fromkeys(_PHASE_TIMES, "DOUBLE"),
        "flags": "VARCHAR[]",
        "voluntary_switches": "BIGINT",
        "involuntary_switches": "BIGINT",
        **dict.fromkeys(_PROCESS_COUNTS, "BIGINT"),
        "served_by_storage": "DOUBLE",
        "served_bytes": "BIGINT",
        "served_source": "VARCHAR",
        "cache": 'STRUCT("policy" VARCHAR, "action" VARCHAR, "cached_share" DOUBLE, "examined_by" VARCHAR)',
        "latency": _struct(_LATENCY),
        "histogram": _HISTOGRAM,
        "rank_rate_mib_s": _struct(_RANK_RATE),
        "rank_rate_requests_s": _struct(_RANK_RATE),
        "deadline": _struct(_DEADLINE),
        "verify": _struct(_VERIFY),
        "digest": "VARCHAR",
        "facts": "JSON",
    },
    "parts": {
        **_OF_SAMPLE,
        "start_s": "DOUBLE",
        "elapsed_s": "DOUBLE",
        "parts": f"STRUCT(operation VARCHAR, requests BIGINT, latency {_struct(_LATENCY)}, "
        f"histogram {_HISTOGRAM})[]",
    },
    "ranks": {
        "event": "VARCHAR",
        "case": "INTEGER",
        "repetition": "INTEGER",
        "operation": "VARCHAR",
        "rank": "INTEGER",
        "node": "INTEGER",
        "bytes": "BIGINT",
        "requests": "BIGINT",
        "start_s": "DOUBLE",
        "end_s": "DOUBLE",
        "transfer_s": "DOUBLE",
        "io_s": "DOUBLE",
        "user_s": "DOUBLE",
        "system_s": "DOUBLE",
        **dict.fromkeys(_PROCESS_COUNTS, "BIGINT"),
        "digest": "VARCHAR",
    },
    "counters": {
        "event": "VARCHAR",
        "case": "INTEGER",
        "repetition": "INTEGER",
        "warmup": "BOOLEAN",
        "operation": "VARCHAR",
        "node": "INTEGER",
        "elapsed_s": "DOUBLE",
        "counters": 'STRUCT("source" VARCHAR, "instance" VARCHAR, "values" MAP(VARCHAR, DOUBLE))[]',
    },
    "clocks": {
        "event": "VARCHAR",
        "case": "INTEGER",
        "repetition": "INTEGER",
        "operation": "VARCHAR",
        "node": "INTEGER",
        "offset_start_s": "DOUBLE",
        "offset_end_s": "DOUBLE",
        "error_s": "DOUBLE",
        "drift_ppm": "DOUBLE",
        "drift_error_ppm": "DOUBLE",
    },
    "timelines": {
        "event": "VARCHAR",
        "case": "INTEGER",
        "repetition": "INTEGER",
        "warmup": "BOOLEAN",
        "operation": "VARCHAR",
        "rank": "INTEGER",
        "node": "INTEGER",
        "start_s": "DOUBLE",
        "interval_s": "DOUBLE",
        "bytes": "BIGINT[]",
        "requests": "BIGINT[]",
        "busy_s": "DOUBLE[]",
        "latency_max_s": "DOUBLE[]",
    },
    "errors": {
        "event": "VARCHAR",
        "time_s": "DOUBLE",
        "case": "INTEGER",
        "repetition": "INTEGER",
        "operation": "VARCHAR",
        "kind": "VARCHAR",
        "rank": "INTEGER",
        "host": "VARCHAR",
        "file": "VARCHAR",
        "offset": "BIGINT",
        "length": "BIGINT",
        "call": "VARCHAR",
        "errno": "INTEGER",
        "message": "VARCHAR",
        "expected": "VARCHAR",
        "found": "VARCHAR",
        "class": "VARCHAR",
        "causes": 'STRUCT("class" VARCHAR, "offset" BIGINT, "bytes" BIGINT, "value" BIGINT, '
        '"text" VARCHAR)[]',
        "count": "BIGINT",
        "remedy": "VARCHAR",
    },
}

#: The directory of the file that a row was read from.
_DIRECTORY = "parse_dirpath(filename)"

_EVENT_OF_TABLE = {
    "samples": "sample",
    "parts": "sample",
    "ranks": "rank",
    "clocks": "clock",
    "timelines": "timeline",
    "errors": "error",
}

_CASE_COLUMNS = (
    'case_name, interface, pattern, tree, transfer_bytes, "order", sharing, '
    "interface_parameters, pattern_parameters, tree_parameters, case_parameters"
)

ORDER = {
    "samples": "ORDER BY start_s",
    "parts": "ORDER BY start_s, part",
    "ranks": 'ORDER BY "case", repetition, start_s, rank',
    "counters": 'ORDER BY "case", repetition, operation, node, source, instance, counter',
    "clocks": 'ORDER BY "case", repetition, operation, node',
    "timelines": 'ORDER BY "case", repetition, operation, node, rank, interval',
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
        "clients": null, "operations": null, "repetitions": null, "order": null, "sharing": null}}')
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
    whole = [("latency_" + field, f"latency.{field}") for field in _LATENCY]
    whole += [("histogram_scheme", "histogram.scheme"), ("histogram_buckets", "histogram.buckets")]
    columns = ", ".join(f"part.{field} AS {column}" for column, field in whole)
    return f"""
CREATE VIEW parts AS
SELECT runs.run, event."case", event.repetition, event.warmup, event.operation, part.operation AS part,
    event.measured, event.valid, event.start_s, part.requests, part.requests / event.elapsed_s AS requests_s,
    {columns}
FROM (SELECT *, unnest(parts) AS part FROM {_judged("parts", run_dirs)} WHERE event = 'sample') AS event
    JOIN runs USING (directory)
"""  # noqa: S608 - names of ours


def create_counters(run_dirs: Sequence[Path]) -> str:
    """The view `counters`: one row per counter of each node and sample, from event streams."""
    return f"""
CREATE VIEW counters AS
SELECT run, "case", repetition, warmup, operation, node, elapsed_s, source, instance,
    entry.key AS counter, entry.value AS value
FROM (SELECT * EXCLUDE (groups), groups.source, groups.instance,
        unnest(map_entries(groups."values")) AS entry
    FROM (SELECT runs.run, event."case", event.repetition, event.warmup, event.operation, event.node,
            event.elapsed_s, unnest(event.counters) AS groups
        FROM {_lines("counters", run_dirs)} AS event JOIN runs USING (directory)
        WHERE event.event = 'counters'))
"""  # noqa: S608 - names of ours


def _lines(table: str, run_dirs: Sequence[Path]) -> str:
    """The fields of event streams that a table is made of; no row where there is no stream."""
    types = _EVENT_TYPES[table]
    if not run_dirs:
        empty = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in types.items())
        return f"(SELECT {empty}, NULL::VARCHAR AS directory WHERE false)"
    # The only errors to ignore are a torn last line's: all else was checked before (`check_whole`).
    columns = ", ".join(f'"{name}": {quote(kind)}' for name, kind in types.items())
    return f"""(SELECT *, {_DIRECTORY} AS directory FROM read_ndjson({_paths(run_dirs, "events.jsonl")},
        columns = {{{columns}}}, filename = true, ignore_errors = true,
        maximum_object_size = {MINIMUM_OBJECT_BYTES}))"""  # noqa: S608 - paths are quoted


def _judged(table: str, run_dirs: Sequence[Path]) -> str:
    """`_lines` of samples and errors; void where the check of the whole files of a repetition failed.

    A check that found something has an invalid sample; one that could not read has errors alone.
    """
    failed = f"bool_or(operation = {quote(FILE_CHECK)} AND valid IS NOT TRUE)"
    repetition = 'PARTITION BY directory, "case", repetition'
    return f"""(SELECT * REPLACE (valid AND NOT {failed} OVER ({repetition}) AS valid)
        FROM {_lines(table, run_dirs)} WHERE event IN ('sample', 'error'))"""  # noqa: S608 - names of ours


def _from_events(table: str, run_dirs: Sequence[Path]) -> str:
    """SELECT of a table's columns from event streams, joined with the cases."""
    if table == "timelines":
        return _timelines_from_events(run_dirs)
    case_columns = f"{_CASE_COLUMNS}, " if table == "samples" else ""
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
SELECT run, "case", repetition, warmup, operation, rank, node, interval,
    start_s + interval * interval_s AS t_s, interval_s, {", ".join(lists)}
FROM (SELECT runs.run, event.* EXCLUDE ({", ".join(lists)}), unnest(range(len(bytes))) AS interval, {columns}
    FROM {_lines("timelines", run_dirs)} AS event JOIN runs USING (directory)
    WHERE event.event = 'timeline')
"""  # noqa: S608 - names of ours


def _event_columns(table: str) -> str:
    """The event's own columns, nested ones flattened with their name as prefix."""
    nested = {
        "latency": [("latency_" + field, field) for field in _LATENCY],
        "rank_rate_mib_s": [
            (f"rank_rate_{field}" if field.endswith("_rank") else f"rank_rate_{field}_mib_s", field)
            for field in _RANK_RATE
        ],
        "rank_rate_requests_s": [
            (f"rank_requests_{field}" if field.endswith("_rank") else f"rank_rate_{field}_requests_s", field)
            for field in _RANK_RATE
        ],
        "deadline": [(field if field == "deadline_s" else f"deadline_{field}", field) for field in _DEADLINE],
        "verify": [("verify_" + field, field) for field in _VERIFY],
        "cache": [("cache_" + field, field) for field in _CACHE],
        "histogram": [("histogram_scheme", "scheme"), ("histogram_buckets", "buckets")],
    }
    columns = []
    for name in _EVENT_TYPES[table]:
        if name in ("event", "case"):
            continue
        flattened = [f'event."{name}"."{field}" AS {column}' for column, field in nested.get(name, [])]
        columns += flattened or [f'event."{name}"']
    return ", ".join(columns)
