"""Reading `events.jsonl`, the truth about a run, also where the run was killed in the middle of a line."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel

from strider.errors import DamagedRunError, StriderError
from strider.store.checked_events import Event, checked
from strider.text import printable_json
from strider.text_file import json_of, open_regular

EVENTS_VERSION = 1
_START_OR_END = re.compile(rb'^\{"event": ?"(?P<kind>run|cut|end)"', re.MULTILINE)
_MOST_LINE_BYTES = 1 << 28
"""Of a longer line each part counts as a line, which is torn."""

#: The engine's name of the check of whole files at the end of a repetition.
FILE_CHECK = "check"

_OF_STARTS = ("run", "cut", "end")
"""Kinds of events with which a start of a run begins and ends."""


def read_events(
    path: Path, without: Sequence[str] = (), ignored: Callable[[int], None] | None = None
) -> Iterator[Event]:
    """Yields the events of a file; see `typed_events`."""
    return (event for event, _ in typed_events(path, without, ignored))


def typed_events(
    path: Path, without: Sequence[str] = (), ignored: Callable[[int], None] | None = None
) -> Iterator[tuple[Event, BaseModel | None]]:
    """Yields the events of a file in order, up to its last whole line, each also as its type.

    A torn line is skipped where it is the last one or where the launcher sealed the file behind it: a killed
    engine leaves both. Anywhere else it means a damaged file.

    The first `end` event of a start is its last: what follows comes from ranks that did not learn that their
    run was over, and is no result.

    Args:
        path: The event stream.
        without: Kinds of events that the caller does not need; lines that begin with one are not even parsed,
            though some may still be yielded.
        ignored: Called at the end with the number of lines behind an `end`; not called where there are none.

    Raises:
        StriderError: It is of a version that this Strider does not know; `DamagedRunError` if damaged.
    """
    torn_line = after_end = 0
    is_over = False
    skipped = tuple(f'{{"event":"{kind}"'.encode() for kind in without if kind not in _OF_STARTS)
    with _opened(path) as file:
        lines = iter(lambda: file.readline(_MOST_LINE_BYTES), b"")
        for number, line in enumerate(lines, start=1):
            if not line.strip() or (line.startswith(skipped) and not is_over):
                continue
            event = _parse(line)
            if is_over and (event is None or event["event"] not in ("run", "cut")):
                after_end += 1
                continue
            if event is None:
                if torn_line:
                    raise _damaged(path, torn_line)
                torn_line = number
                continue
            if torn_line and event.get("event") != "end":
                raise _damaged(path, torn_line)
            if event.get("event") == "run":
                require_version(path, "event stream", event.get("version"), EVENTS_VERSION)
            is_over = event["event"] == "end"
            yield event, checked(path, number, event)
    if after_end and ignored:
        ignored(after_end)


def lines_of_run(path: Path) -> int | None:
    """Returns how many events a file has up to the end of the run; None where none follow it."""
    if not _goes_on_after_end(path):
        return None
    found: list[int] = []
    count = deque(enumerate(read_events(path, ignored=found.append), start=1), maxlen=1)
    return count[0][0] if found else None


def _goes_on_after_end(path: Path) -> bool:
    """Returns whether lines follow an `end` event; reads without parsing."""
    with _opened(path) as file:
        is_over = False
        for line in file:
            if is_over and not line.startswith((b'{"event": "cut"', b'{"event":"cut"', b'{"event":"run"')):
                return True
            is_over = line.startswith((b'{"event":"end"', b'{"event": "end"'))
    return False


def _opened(path: Path) -> BinaryIO:
    try:
        return open_regular(path)
    except OSError as error:
        raise DamagedRunError(
            f"cannot read {path}: {error.strerror}: the run directory is damaged"
        ) from error


def require_version(path: Path, what: str, found: object, known: int) -> None:
    """Refuses a format version that this Strider does not know.

    Raises:
        StriderError: `found` is not `known`; the message names the file and the remedy.
    """
    if found == known:
        return
    raise StriderError(
        f"{path}: {what} of version {found!r}, but this Strider reads version {known}: "
        "use the Strider that wrote the run, or a newer one"
    )


def read_last_event(path: Path) -> Event | None:
    """The last whole event of a run, from no more than the last 64 KiB of its file; None if there is none."""
    tail_bytes = 1 << 16
    try:
        with open_regular(path) as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - tail_bytes))
            rest = file.read()
    except OSError:
        return None
    marks = list(_START_OR_END.finditer(rest))
    starts = [place for place, mark in enumerate(marks) if mark["kind"] != b"end"]
    first = starts[-1] + 1 if starts else 0
    if first < len(marks):  # what follows it is not the run's
        return _parse(rest[marks[first].start() :].partition(b"\n")[0])
    while rest:  # mostly the last line is the one
        rest, _, line = rest.rpartition(b"\n")
        if (event := _parse(line)) is not None:
            return event
    return None


def _parse(line: bytes) -> Event | None:
    """The event on a line; None where the line is torn (also: torn, and the next event glued to it)."""
    try:
        event = json_of(printable_json(line.decode("utf-8")))
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None


def _damaged(path: Path, line: int) -> DamagedRunError:
    return DamagedRunError(
        f"{path} line {line} is not an event, but events follow it: the file was damaged after the run"
    )
