"""Error events as lines that a person can act upon."""

import errno as errors
import os

from strider.launch.tail import Event
from strider.units import format_bytes


def message(event: Event) -> str:
    """Who, where, what, and what to do about it."""
    where = ", ".join([*_phase(event), *_rank(event)])
    what = _mismatch(event) if event["kind"] == "verify" else _failure(event)
    more = f" ({event['count']} times)" if event.get("count", 1) > 1 else ""
    remedy = f": {event['remedy']}" if event.get("remedy") else ""
    return f"{where}: {what}{more}{remedy}"


def _phase(event: Event) -> list[str]:
    """Case, operation and repetition as far as known; what concerns no case concerns the run."""
    operation, repetition = event.get("operation"), event.get("repetition")
    parts = [f"case {event['case']}" if event.get("case") else "the run"]
    parts += [operation] if operation else []
    parts += [f"repetition {repetition}"] if operation and repetition is not None else []
    return parts


def _rank(event: Event) -> list[str]:
    host = f" on {event['host']}" if event.get("host") else ""
    return [f"rank {event['rank']}{host}"] if event.get("rank") is not None else []


def _failure(event: Event) -> str:
    call = f"{event['call']}: " if event.get("call") else ""
    code = event.get("errno") or 0
    text = " ".join(event["message"].split())
    if code not in errors.errorcode:
        return f"{call}{text}{_place(event)}"
    known = os.strerror(code)
    more = f": {text}" if text and known.casefold() not in text.casefold() else ""
    return f"{call}{known} ({errors.errorcode[code]}){more}{_place(event)}"


def _mismatch(event: Event) -> str:
    if not event.get("class") and event.get("message"):
        # Of metadata: a size, a kind, a number of entries.
        return f"{' '.join(event['message'].split())}{_place(event)}"
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
