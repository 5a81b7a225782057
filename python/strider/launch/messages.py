"""Formats error events as lines for the user."""

import errno as errors
import os
from collections.abc import Iterable, Mapping

from strider.engine import Json
from strider.store.checked_events import Event
from strider.units import format_bytes


def messages(events: Iterable[Event], clients: Mapping[int, int]) -> list[str]:
    """Returns one line for each case, phase and error, for all ranks together.

    Args:
        events: Error events.
        clients: Number of clients of each case.
    """
    alike: dict[tuple[Json, ...], list[Event]] = {}
    for event in events:
        alike.setdefault(_likeness(event), []).append(event)
    return [_group_message(group, clients) for group in alike.values()]


def _likeness(event: Event) -> tuple[Json, ...]:
    """Returns the key by which errors of several ranks are grouped."""
    keys = ("case", "warmup", "repetition", "operation", "kind", "call", "errno", "class")
    # Errors with an errno or a class differ only in their location.
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
    """Returns rank, location, error and remedy; `who` may precede the rank."""
    rank = _rank(event)
    where = ", ".join([*_phase(event), *([before_rank + rank[0]] if rank else [])])
    what = _mismatch(event) if event["kind"] == "verify" else _failure(event)
    more = f" ({event['count']} times)" if event.get("count", 1) > 1 else ""
    remedy = f": {event['remedy']}" if event.get("remedy") else ""
    return f"{where}: {what}{more}{remedy}"


def _phase(event: Event) -> list[str]:
    """Returns case, operation and repetition if known; otherwise names the run."""
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
        # Metadata or a whole file: a size, a kind, a number of entries.
        return f"{' '.join(event['message'].split())}{_place(event)}{server}"
    contents = ""
    if event.get("expected") is not None and event.get("found") is not None:
        contents = f": expected {event['expected']}, found {event['found']}"
    return f"{_causes(event)}{_place(event)}{server}{contents}"


def _causes(event: Event) -> str:
    """Returns the class of the wrong data; several causes with their shares."""
    causes = event.get("causes") or []
    if not causes:
        return f"{event['class']} data" if event.get("class") else "wrong data"
    if len(causes) == 1:
        return str(causes[0]["text"])
    parts = (f"{format_bytes(cause['bytes'])} from offset {cause['offset']}" for cause in causes)
    return ", ".join(f"{cause['text']} ({part})" for cause, part in zip(causes, parts, strict=True))


def _place(event: Event) -> str:
    if not event.get("file"):
        return ""
    length = f", {format_bytes(event['length'])}" if event.get("length") else ""
    # Calls that transfer no data, such as open and connect, have no offset.
    offset = f" at offset {event['offset']}{length}" if length or event.get("offset") else ""
    return f" in {event['file']}{offset}"
