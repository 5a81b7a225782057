"""Files generated from the engine's schema of results: the types of Python, and a page of the manual."""

import json
import textwrap
from collections.abc import Iterable

from strider.store.schema import FieldSchema, RecordSchema, ResultsSchema

MODULE_HEAD = '''\
"""Records of results, written by `make pages` from the engine's schema (`schema.json`). Do not edit.

Units are in the names: `_s` seconds, `_mib_s` MiB/s, `bytes` bytes. A number that the engine could not
compute is `null` in JSON and NaN here. docs/reference/results.md says what each field means.
"""

from __future__ import annotations

import math

from pydantic import BaseModel, ConfigDict, Field

from strider.store.values import (
    Amount,
    Bucket,
    Count,
    Duration,
    Number,
    Real,
    Seconds,
    Signed,
    Time,
    Unsigned,
)


class Record(BaseModel):
    """Base of everything read from a run directory: immutable, strict, tolerant of additions."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", populate_by_name=True, strict=True, allow_inf_nan=False
    )


class CounterGroup(Record):
    """Counters of one thing of a node, such as a block device; docs/formats.md lists them."""

    source: str
    instance: str = ""
    values: dict[str, float] = {}
'''
PYTHON_TYPES = {
    "flag": "bool",
    "integer": "Number",
    "count": "Count",
    "real": "Unsigned",
    "text": "str",
    "texts by name": "dict[str, str]",
    "counter groups": "list[CounterGroup]",
    "count pair": "Bucket",
}
NAN_FOR_NULL = {"Real": "float", "Unsigned": "Amount", "Time": "Instant", "Duration": "Seconds"}
"""Types whose null is NaN, each with the one that has no null."""
PYTHON_NAMES = {"class": "cause"}
"""Fields whose names are words of Python."""
UNITS = {
    "_mib_s": "MiB/s",
    "requests_s": "requests/s",
    "_bytes": "bytes",
    "bytes": "bytes",
    "_s": "s",
    "_ppm": "ppm",
}
WIDTH = 110
PAGE_HEAD = """\
# Fields of results

The fields of the [events](../formats.md) about phases, as the engine declares them (`strider-engine
describe`, key `results`). The tables of `strider export` have columns of the same names; those of a record
within a sample begin with the name of the field that holds it, as in `latency_p50_s`. Exceptions:
`deadline_s`, `rank_rate_min_mib_s`, `rank_requests_min_rank` and others of rank rates; `interval` and `t_s`
of timelines; `counter` and `value` of counters.

*Over ranks*: how the values of the ranks combine into the value of the phase. *Absent*: the value where
an older run lacks the field.
"""


def python_type(field: FieldSchema) -> str:
    """The annotation of a field."""
    kind, _, _ = field.type.partition(" list")
    plain = f"{field.record}" if kind == "record" else PYTHON_TYPES[kind]
    if field.signed:
        plain = {"Count": "Signed", "Unsigned": "Real"}.get(plain, plain)
    if unit_of(field.name) == "s":
        plain = {"Unsigned": "Duration", "Real": "Time"}.get(plain, plain)
    if field.type.endswith(" list"):
        plain = f"list[{plain}]"
    # A null is None; a real number that could not be computed is NaN.
    missing = field.may_be_absent and field.absent is None and plain not in NAN_FOR_NULL
    if field.nullable or missing:
        plain = NAN_FOR_NULL.get(plain, plain)
        return f"{plain} | None"
    return plain


def default_of(field: FieldSchema) -> str:
    """The value that a run without the field has; empty where every run has it."""
    if not field.may_be_absent:
        return ""
    if field.absent is None and python_type(field) in NAN_FOR_NULL:
        return "math.nan"
    return repr(field.absent).replace("'", '"')


def python_field(field: FieldSchema, known_phase: bool) -> str:
    """The line of a field in its class."""
    kind = python_type(field)
    if known_phase:
        kind = kind.removesuffix(" | None")
    default = default_of(field)
    if not known_phase and field.nullable and not default:
        default = "None" if field.name in ("case", "repetition", "operation") else ""
    if field.name in PYTHON_NAMES:
        given = f"default={default}, " if default else ""
        return f'{PYTHON_NAMES[field.name]}: {kind} = Field({given}alias="{field.name}")'
    return f"{field.name}: {kind}" + (f" = {default}" if default else "")


def python_class(name: str, base: str, about: str, fields: Iterable[tuple[FieldSchema, bool]]) -> str:
    """A record as a class; with each field whether it must not be null although the schema allows it."""
    summary, _, more = about.partition(". ")
    doc = f'"""{about}"""'
    if more:
        doc = f'"""{summary}.\n\n{textwrap.fill(more, WIDTH - 4)}\n"""'
    elif len(doc) > WIDTH - 4:
        doc += "  # noqa: E501"
    lines = [doc, "", *(python_field(field, known) for field, known in fields)]
    return f"class {name}({base}):\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


def records_module(schema: ResultsSchema) -> str:
    """The source of `python/strider/store/records.py`."""
    phase = schema.records["PhaseName"].fields
    event_of = {record: event for event, record in schema.events.items()}
    classes = []
    for name, record in schema.records.items():
        if name == "PhaseName":
            classes.append(python_class(name, "Record", record.about, [(field, True) for field in phase]))
            continue
        own = [(field, False) for field in record.fields]
        # Only errors may be of no phase.
        if event_of.get(name) == "error":
            own = [*((field, False) for field in phase), *own]
        base = "PhaseName" if event_of.get(name, "error") != "error" else "Record"
        classes.append(python_class(name, base, record.about, own))
    return "\n\n".join([MODULE_HEAD, *classes])


def schema_json(schema: ResultsSchema) -> str:
    """The text of `python/strider/store/schema.json`: a line for each field, without defaults."""
    lines = ["{", f' "events": {json.dumps(schema.events)},', ' "records": {']
    for name, record in schema.records.items():
        lines.append(f'  "{name}": {{"about": {_json(record.about)}, "fields": [')
        lines.append(",\n".join(f"   {_json(_unusual(field))}" for field in record.fields))
        lines.append("  ]}," if name != list(schema.records)[-1] else "  ]}")
    return "\n".join([*lines, " }", "}", ""])


def _unusual(field: FieldSchema) -> dict[str, object]:
    """The attributes of a field that differ from `FieldSchema`; `absent` counts if it is given."""
    return field.model_dump(exclude_defaults=True) | field.model_dump(include={"absent"}, exclude_unset=True)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def unit_of(name: str) -> str:
    """The unit that a name ends with."""
    return next((unit for end, unit in UNITS.items() if name.endswith(end)), "")


def _row(field: FieldSchema) -> str:
    kind = f"{field.type} {field.record}" if field.record else field.type
    absent = f"`{json.dumps(field.absent)}`" if field.may_be_absent else ""
    cells = [f"`{field.name}`", kind, unit_of(field.name), field.over_ranks or "", absent, field.about]
    return f"| {' | '.join(cells)} |"


def _section(title: str, record: RecordSchema) -> list[str]:
    head = ["| field | type | unit | over ranks | absent | meaning |", "|---|---|---|---|---|---|"]
    return [f"## {title}", "", record.about, "", *head, *map(_row, record.fields), ""]


def results_page(schema: ResultsSchema) -> str:
    """The page `docs/reference/results.md`."""
    lines = [PAGE_HEAD]
    lines += _section("Fields of every event", schema.records["PhaseName"])
    for event, name in schema.events.items():
        lines += _section(f"`{event}`", schema.records[name])
    within = [name for name in schema.records if name not in {*schema.events.values(), "PhaseName"}]
    for name in within:
        lines += _section(name, schema.records[name])
    return "\n".join(lines)
