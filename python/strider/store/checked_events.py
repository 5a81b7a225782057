"""The one place where events of a run are checked: their kinds, fields, types and ranges.

Everything that reads `events.jsonl`, of a run that has ended or is active, checks them here. Kinds and fields
of a later Strider pass; they are ignored.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from strider.errors import DamagedRunError
from strider.store.model import (
    CaseStart,
    CeilingReport,
    ClockRow,
    Cut,
    DataSetEvent,
    End,
    ErrorRow,
    NodeCounters,
    Progress,
    RankRow,
    RepetitionEnd,
    RequestValues,
    Sample,
    Start,
    Timeline,
)
from strider.store.values import LATEST_S
from strider.text import shortened

Event = dict[str, Any]

EVENT_TYPES: dict[str, type[BaseModel]] = {
    "run": Start,
    "case": CaseStart,
    "repetition": RepetitionEnd,
    "progress": Progress,
    "sample": Sample,
    "rank": RankRow,
    "clock": ClockRow,
    "counters": NodeCounters,
    "ceilings": CeilingReport,
    "timeline": Timeline,
    "values": RequestValues,
    "error": ErrorRow,
    "data_set": DataSetEvent,
    "cut": Cut,
    "end": End,
}


def checked(path: Path, line: int | None, event: object) -> BaseModel | None:
    """Returns an event as its type; None for a kind that this Strider does not know.

    Args:
        path: The events, for messages.
        line: Its line; None: the last one.
        event: The event.

    Raises:
        DamagedRunError: It is no event, or has a field with a value that it cannot have.
    """
    kind = event.get("event") if isinstance(event, dict) else None
    if not isinstance(event, dict) or not isinstance(kind, str):
        raise DamagedRunError(f"{_place(path, line)} is not an event: the file is damaged")
    time_s = event.get("time_s")
    if time_s is not None and not (type(time_s) in (int, float) and -LATEST_S < time_s < LATEST_S):
        what = f"{_place(path, line)}: {shortened(kind)} with an invalid time_s"
        raise DamagedRunError(f"{what}: it is no time: the file is damaged")
    model = EVENT_TYPES.get(kind)
    if model is None:
        return None
    try:
        return model.model_validate(event)
    except ValidationError as error:
        raise invalid(f"{_place(path, line)}: {kind}", error) from error


def invalid(what: str, error: ValidationError) -> DamagedRunError:
    """Returns the error that names the first wrong field of a document or an event."""
    first = error.errors(include_url=False, include_context=False)[0]
    field = shortened(".".join(map(str, first["loc"])))
    return DamagedRunError(f"{what} with an invalid {field}: {first['msg']}: the file is damaged")


def _place(path: Path, line: int | None) -> str:
    return f"{path} line {line}" if line else f"{path} last line"
