"""The schema of results is that of the engine, and types, tables and columns follow it."""

from __future__ import annotations

import json
import math
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from builders import CaseSpec, RunBuilder
from strider.engine import Engine, Json
from strider.store import load, load_events, query, records
from strider.store.model import ErrorRow, Record
from strider.store.schema import FieldSchema, ResultsSchema, results_schema

RUN = "2026-11-21-040506-trial-abcd"
SCHEMA = results_schema()
TABLES = {
    "sample": "samples",
    "rank": "ranks",
    "clock": "clocks",
    "error": "errors",
    "counters": "counters",
} | {"timeline": "timelines", "values": "requests"}
events = pytest.mark.parametrize("event", SCHEMA.events)


def test_it_is_that_of_the_engine(engine: Engine) -> None:
    """What to do if this fails: `make pages`."""
    assert ResultsSchema.model_validate(engine.description.results) == SCHEMA


class Values:
    """A value for each field, unlike that of any other one."""

    def __init__(self) -> None:
        self._number = count(1001)

    def of(self, field: FieldSchema) -> Json:
        """JSON of a field."""
        if field.type.endswith(" list"):
            return [self.of(field.model_copy(update={"type": field.type.removesuffix(" list")}))]
        number = next(self._number)
        match field.type:
            case "flag":
                return True
            case "integer" | "count":
                return number
            case "real":
                return number + 0.5
            case "text":
                return f"text {number}"
            case "record":
                return self.record(field.record or "")
            case "texts by name":
                return {"name": f"text {number}"}
            case "counter groups":
                return [{"source": "cpu", "instance": "", "values": {"user_s": number + 0.5}}]
            case "count pair":
                return [number, number]
        raise LookupError(f"{field.name}: no value for the type {field.type}")

    def record(self, name: str) -> dict[str, Any]:
        """JSON of a record."""
        return {field.name: self.of(field) for field in SCHEMA.records[name].fields}


def written(folder: Path, event: str) -> tuple[Path, dict[str, Any]]:
    """A run with one event of a kind, each field of which has a value of its own; the event."""
    builder = RunBuilder([CaseSpec()], repetitions=1)
    builder.write(folder / RUN)
    known = {"case": 1, "repetition": 0, "warmup": False, "operation": "write"}
    line = {"event": event, "time_s": 1.5, **known, **Values().record(SCHEMA.events[event])}
    path = folder / RUN / "events.jsonl"
    kept = [each for each in path.read_text().splitlines() if json.loads(each)["event"] in ("run", "end")]
    path.write_text("\n".join([kept[0], json.dumps(line), kept[1]]) + "\n")
    return folder / RUN, line


def plain(value: Record | object) -> Json:
    """A record of Python as it stands in JSON."""
    return value.model_dump(by_alias=True, mode="json") if isinstance(value, Record) else value


@events
def test_each_field_is_in_the_type_of_python(tmp_path: Path, event: str) -> None:
    run, line = written(tmp_path, event)
    read: Any
    if event == "sample":
        (read,) = load(run).samples
    elif event == "error":
        (read,) = load(run).errors
    else:
        (read,) = load_events(run, getattr(records, SCHEMA.events[event]))
    found = plain(read)
    for field in SCHEMA.event_fields(event):
        assert found[field.name] == line[field.name], field.name


@pytest.mark.parametrize("event", TABLES)
def test_each_field_is_in_the_table(tmp_path: Path, event: str) -> None:
    run, line = written(tmp_path, event)
    (row,) = query([run], f"SELECT * FROM {TABLES[event]}")
    cells = [json.dumps(value, sort_keys=True, default=list) for value in row.values()]

    def expect(value: Json, where: str) -> None:
        text = json.dumps(value, sort_keys=True)
        # Counters become rows, and a column of JSON is text.
        assert text in cells or json.dumps(json.dumps(value, separators=(",", ":"))) in cells, where

    for field in SCHEMA.event_fields(event):
        value = line[field.name]
        if field.type == "record":
            for name, inner in value.items():
                expect(inner, f"{field.name}.{name}")
        elif field.name == "parts":  # a table of its own
            part = query([run], "SELECT latency_p50_s, histogram_buckets FROM parts")
            assert part[0]["latency_p50_s"] == value[0]["latency"]["p50_s"]
        elif field.name == "rank_distributions":  # likewise
            (row,) = query([run], "SELECT * FROM distributions")
            assert value[0].items() <= row.items()
        elif event in ("timeline", "values") and field.type.endswith(
            " list"
        ):  # a row for each interval, request
            is_value = field.name in ("first", "middle", "last")
            expect(f"{value[0]:08x}" if is_value else value[0], field.name)
        elif field.type == "counter groups":
            expect(value[0]["values"]["user_s"], field.name)
        elif field.name != "valid":
            expect(value, field.name)


@events
def test_a_run_without_a_field_has_the_value_that_the_schema_names(tmp_path: Path, event: str) -> None:
    """Older runs lack fields that were added since."""
    run, line = written(tmp_path, event)
    path = run / "events.jsonl"
    lines = path.read_text().splitlines()
    absent = {field.name: field.absent for field in SCHEMA.event_fields(event) if field.may_be_absent}
    assert absent, "each event has got a field since its first version"
    lines[1] = json.dumps({name: value for name, value in line.items() if name not in absent})
    path.write_text("\n".join(lines) + "\n")
    kind = {"sample": None, "error": ErrorRow}.get(event, getattr(records, SCHEMA.events[event]))
    (read,) = load(run).samples if kind is None else load_events(run, kind)
    for name, value in absent.items():
        attribute = "cause" if name == "class" else name
        found = getattr(read, attribute)
        is_nan = isinstance(found, float) and math.isnan(found)
        assert found == value or (value is None and is_nan), name
