"""Error events as lines that a person can act upon."""

import errno as errors
import os
from collections.abc import Iterable, Mapping

from strider.engine import Json
from strider.launch.tail import Event
from strider.units import format_bytes


def messages(events: Iterable[Event], clients: Mapping[int, int]) -> list[str]:
    """One line for each case, phase and error, however many ranks had it.

    Args:
        events: Error events.
        clients: Number of clients of each case.
    """
    alike: dict[tuple[Json, ...], list[Event]] = {}
    for event in events:
        alike.setdefault(_likeness(event), []).append(event)
    return [_group_message(group, clients) for group in alike.values()]


def _likeness(event: Event) -> tuple[Json, ...]:
    """What errors of several ranks have in common that are one for a reader."""
    keys = ("case", "warmup", "repetition", "operation", "kind", "call", "errno", "class")
    # Texts of an error with a number or a class differ in nothing but its place.
    text = None if event.get("errno") or event.get("class") else event.get("message")
    return (*(event.get(key) for key in keys), text)


def _group_message(group: list[Event], clients: Mapping[int, int]) -> str:
    first = group[0]
    count = len({event.get("rank") for event in group})
    if count == 1:
        return message({**first, "count": sum(event.get("count", 1) for event in group)})
    of_all = f" of {clients[first['case']]}" if first.get("case") in clients else ""
    return message(first, f"{count}{of_all} ranks, the first: ")


def message(event: Event, before_rank: str = "") -> str:
    """Who, where, what, and what to do about it; a few words may come before the rank."""
    rank = _rank(event)
    where = ", ".join([*_phase(event), *([before_rank + rank[0]] if rank else [])])
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
    server = f" on server {event['server']}" if event.get("server") else ""
    of_size = event.get("class") in ("missing end", "outside") and event.get("expected") is None
    if event.get("message") and (not event.get("class") or of_size):
        # Of metadata, or of a whole file: a size, a kind, a number of entries.
        return f"{' '.join(event['message'].split())}{_place(event)}{server}"
    contents = ""
    if event.get("expected") is not None and event.get("found") is not None:
        contents = f": expected {event['expected']}, found {event['found']}"
    return f"{_causes(event)}{_place(event)}{server}{contents}"


def _causes(event: Event) -> str:
    """What the wrong data looks like; several causes with the part that each has."""
    causes = event.get("causes") or []
    if not causes:
        return f"{event['class']} data" if event.get("class") else "wrong data"
    if len(causes) == 1:
        return str(causes[0]["text"])
    parts = (f"{format_bytes(cause['bytes'])} from offset {cause['offset']} on" for cause in causes)
    return ", ".join(f"{cause['text']} ({part})" for cause, part in zip(causes, parts, strict=True))


def _place(event: Event) -> str:
    if not event.get("file"):
        return ""
    length = f", {format_bytes(event['length'])}" if event.get("length") else ""
    # What moves no bytes, such as open and connect, is at no offset.
    offset = f" at offset {event['offset']}{length}" if length or event.get("offset") else ""
    return f" in {event['file']}{offset}"
