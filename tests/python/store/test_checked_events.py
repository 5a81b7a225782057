"""No field of an event may have a value of another type, or beyond its range, from any writer."""

import copy
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from builders import CaseSpec, RunBuilder
from strider.engine import Json
from strider.errors import DamagedRunError
from strider.statistics.histogram import bucket_of
from strider.store.checked_events import EVENT_TYPES, Event, checked
from strider.store.schema import FieldSchema, results_schema
from strider.store.values import BUCKETS

PATH = Path("events.jsonl")
DEEP: Json = json.loads("[" * 500 + "]" * 500)
VALUES: list[Json] = [
    None, {}, [], "", "x", True, -1, 0, 0.5, 1 << 32, 1 << 63, 1 << 64, 10**400, 1e308, math.nan, math.inf,
    -math.inf, [[]], [None], ["x"], [1, 2, 3], {"x": None}, {"x": []}, DEEP,
]  # fmt: skip
ENOUGH: dict[str, Json] = {
    "flag": True, "integer": 1, "count": 1, "real": 1.0, "text": "x", "texts by name": {"x": "y"},
    "counter groups": [{"source": "cpu", "values": {"user_s": 1.0}}], "count pair": [1, 2],
}  # fmt: skip
"""A value of each type of the schema."""


def value_of(field: FieldSchema) -> Json:
    """A value that a field may have."""
    kind, is_list, _ = field.type.partition(" list")
    fields = results_schema().records[field.record].fields if kind == "record" and field.record else []
    one = {own.name: value_of(own) for own in fields} if kind == "record" else ENOUGH[kind]
    return [one] if is_list else one


def others() -> Iterator[Event]:
    """Events that are no results."""
    node = {"name": "n1", "ranks": 1, "clock_offset_s": None, "cpus": 2, "processes": [[0, 4711]]}
    state = {"state": "full", "missing": ""}
    yield {
        "event": "run",
        "version": 1,
        "run": "r",
        "engine": "e",
        "ranks": 1,
        "nodes": [node],
        "confinement": state,
    }
    yield {"event": "case", "case": 1, "repetition": 0, "warmup": False}
    yield {
        "event": "repetition",
        "case": 1,
        "repetition": 0,
        "elapsed_s": 1.0,
        "failed": False,
        "rates": {"write": None},
    }
    yield {
        "event": "progress", "case": 1, "repetition": 0, "operation": "write", "bytes_done": 0,
        "bytes_total": 1, "elapsed_s": 0.5, "planned_phases": 3,
    }  # fmt: skip
    yield {
        "event": "ceilings",
        "moment": "start",
        "ceilings": [{"name": "memory_copy", "value": 1.0, "spread": None}],
    }
    yield {"event": "cut", "time_s": 1.0, "status": "killed", "differences": ["host"]}
    yield {
        "event": "data_set", "time_s": 1.0, "case": 1, "data_set": "d", "state": "written", "generation": 1,
        "geometry": (1 << 64) - 1, "files": [[1, 2]], "parts": [[1, 2]], "tree": {"files": 1},
    }  # fmt: skip
    yield {"event": "end", "time_s": 1.0, "status": "complete", "samples": 1, "errors": 0}


def results() -> Iterator[Event]:
    """An event of each kind of the engine's schema, with each of its fields."""
    schema = results_schema()
    for event in schema.events:
        yield {"event": event, **{field.name: value_of(field) for field in schema.event_fields(event)}}


def places(value: Json) -> Iterator[tuple[Json, Json]]:
    """Each holder of a value, at any depth, with its key."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


EVENTS = [*results(), *others()]


def test_each_kind_is_known_and_passes_as_the_engine_writes_it(tmp_path: Path) -> None:
    assert {event["event"] for event in EVENTS} == set(EVENT_TYPES)
    run = RunBuilder([CaseSpec(), CaseSpec(clients=3)], repetitions=2).write(tmp_path / "run")
    written = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    for event in EVENTS + written:
        assert isinstance(checked(PATH, 1, event), EVENT_TYPES[event["event"]])


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event["event"])
def test_no_value_at_any_place_ends_in_another_error(event: Event) -> None:
    refused: list[str] = []
    for number in range(len([*places(event)])):
        for value in VALUES:
            damaged: Any = copy.deepcopy(event)
            holder, key = [*places(damaged)][number]
            holder[key] = value
            try:
                checked(PATH, 7, damaged)
            except DamagedRunError as error:
                refused.append(error.message)
    assert len(refused) > len(VALUES)
    assert all(message.startswith("events.jsonl line 7") and len(message) < 300 for message in refused)


WRONG: dict[str, list[Json]] = {
    "flag": [None, 0, "x", []],
    "integer": [True, -1, 1 << 31, 1.0, "1", [], {}, math.nan],
    "count": [True, 1 << 64, 1.0, "1", [], {}, 10**400],
    "real": [True, math.nan, math.inf, "1", [], {}],
    "text": [3, True, [], {}],
    "record": [3, "x", []],
}
"""Values that no field of a type may have."""


@pytest.mark.parametrize("event", list(results()), ids=lambda event: event["event"])
def test_what_is_no_value_of_its_type_is_named(event: Event) -> None:
    for field in results_schema().event_fields(str(event["event"])):
        kind, is_list, _ = field.type.partition(" list")
        wrong_values: list[Json] = [3, "x", {}] if is_list else WRONG.get(kind, [3, "x"])
        for wrong in wrong_values:
            with pytest.raises(
                DamagedRunError, match=rf"^events\.jsonl line 3: \w+ with an invalid {field.name}"
            ):
                checked(PATH, 3, {**event, field.name: wrong})
        if kind == "real" and not field.signed and not is_list:
            with pytest.raises(DamagedRunError, match=field.name):
                checked(PATH, 3, {**event, field.name: -0.5})


def result(kind: str) -> Event:
    return next(event for event in results() if event["event"] == kind)


@pytest.mark.parametrize("bucket", [BUCKETS, 10**18])
def test_a_histogram_has_no_more_buckets_than_the_engines(bucket: int) -> None:
    def sample(number: int) -> Event:
        histogram = {"scheme": "loglinear-7", "unit": "ns", "buckets": [[number, 1]]}
        return {**result("sample"), "histogram": histogram}

    checked(PATH, 3, sample(bucket_of((1 << 45) - 1)))
    with pytest.raises(DamagedRunError, match=r"line 3: sample with an invalid histogram\.buckets\.0\.0"):
        checked(PATH, 3, sample(bucket))


@pytest.mark.parametrize(
    ("field", "value"),
    [("interval_s", 0.0), ("interval_s", None), ("interval_s", 1e-300), ("start_s", None), ("start_s", 1e17)],
)
def test_a_timeline_has_times_that_can_be_drawn(field: str, value: float | None) -> None:
    with pytest.raises(DamagedRunError, match=f"timeline with an invalid {field}"):
        checked(PATH, 3, {**result("timeline"), field: value})


@pytest.mark.parametrize(
    ("kind", "field"),
    [("timeline", "bytes"), ("timeline", "latency_max_s"), ("values", "offset"), ("values", "last")],
)
def test_lists_side_by_side_are_equally_long(kind: str, field: str) -> None:
    with pytest.raises(DamagedRunError, match=rf"line 3: {kind}.* not equally long"):
        checked(PATH, 3, {**result(kind), field: []})
