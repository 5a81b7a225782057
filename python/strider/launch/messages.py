"""Error events as lines that a person can act upon."""

import errno as errors
import os

from strider.launch.tail import Event
from strider.units import format_bytes


def message(event: Event) -> str:
    """Who, where, what, and what to do about it."""
    host = f" on {event['host']}" if event.get("host") else ""
    parts = [f"case {event['case']}"] if event["case"] else []
    parts += [f"{event['operation']}, repetition {event['repetition'] + 1}"] if event.get("operation") else []
    where = ", ".join([*parts, f"rank {event['rank']}{host}"])
    what = _mismatch(event) if event["kind"] == "verify" else _failure(event)
    more = f" ({event['count']} times)" if event.get("count", 1) > 1 else ""
    remedy = f": {event['remedy']}" if event.get("remedy") else ""
    return f"{where}: {what}{more}{remedy}"


def _failure(event: Event) -> str:
    call = f"{event['call']}: " if event.get("call") else ""
    code = event.get("errno") or 0
    text = event["message"] or os.strerror(code)
    name = f" ({errors.errorcode[code]})" if code in errors.errorcode else ""
    return f"{call}{text}{name}{_place(event)}"


def _mismatch(event: Event) -> str:
    kind = f"{event['class']} data" if event.get("class") else "wrong data"
    contents = ""
    if event.get("expected") is not None and event.get("found") is not None:
        contents = f": expected {event['expected']}, found {event['found']}"
    return f"{kind}{_place(event)}{contents}"


def _place(event: Event) -> str:
    if not event.get("file"):
        return ""
    length = f", {format_bytes(event['length'])}" if event.get("length") else ""
    offset = f" at offset {event['offset']}{length}" if event.get("offset") is not None else ""
    return f" in {event['file']}{offset}"
