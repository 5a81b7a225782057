"""The fields of results as the engine declares them, beside the code that measures them.

`schema.json` is the key `results` of `strider-engine describe`. `make pages` writes it, and from it the types
in `records.py` and the page `docs/reference/results.md`; `sql.py` takes its columns from it. A test compares
it with the engine.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict


class FieldSchema(BaseModel):
    """One field of a record.

    Attributes:
        name: As in the event; ends with the unit where there is one.
        type: `flag`, `integer` (32 bits), `count` (64 bits), `real`, `text`, `record`, `texts by name`,
            `counter groups`, `count pair`, or one of these followed by ` list`.
        record: Name of the record that the field holds.
        nullable: Whether the engine writes null where there is no value. A real number may always be null: it
            could not be computed, or does not apply.
        signed: Whether a number may be below 0.
        over_ranks: How the values of ranks become the one of the phase: `sum`, `least`, `most`, `mean`; None
            where the phase has one value.
        absent: The value where an older run lacks the field; unset where no run lacks it.
        about: Meaning of the field, in one sentence.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    type: str
    record: str | None = None
    nullable: bool = False
    signed: bool = False
    over_ranks: str | None = None
    absent: Any = None
    about: str

    @property
    def may_be_absent(self) -> bool:
        """Whether older runs lack the field."""
        return "absent" in self.model_fields_set


class RecordSchema(BaseModel):
    """A record: its meaning, and its fields in the order of the event."""

    about: str
    fields: list[FieldSchema]


class ResultsSchema(BaseModel):
    """All records; `events` says which one each event holds beside the fields of `PhaseName`."""

    events: dict[str, str]
    records: dict[str, RecordSchema]

    def event_fields(self, event: str) -> list[FieldSchema]:
        """The fields of an event: those that name its phase, and its own."""
        return self.records["PhaseName"].fields + self.records[self.events[event]].fields


@lru_cache(maxsize=1)
def results_schema() -> ResultsSchema:
    """The schema of the events that this Strider reads."""
    return ResultsSchema.model_validate_json(files("strider.store").joinpath("schema.json").read_bytes())
