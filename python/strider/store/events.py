"""Reading `events.jsonl`, the truth about a run, also where the run was killed in the middle of a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from strider.errors import StriderError
from strider.text_file import json_of, open_regular

EVENTS_VERSION = 1
_MOST_LINE_BYTES = 1 << 28
"""Of a longer line each part counts as a line, which is torn."""

#: What the engine calls the check of whole files at the end of a repetition.
FILE_CHECK = "check"

Event = dict[str, Any]


def read_events(path: Path, without: Sequence[str] = ()) -> Iterator[Event]:
    """Yields the events of a file in order, up to its last whole line.

    A torn line is skipped where it is the last one or where the launcher sealed the file behind it: both are
    what a killed engine leaves. Anywhere else it means a damaged file.

    Args:
        path: The event stream.
        without: Kinds of events that the caller does not need; lines that begin with one are not even parsed,
            though some may still be yielded.

    Raises:
        StriderError: The file is damaged, or of a version that this Strider does not know.
    """
    torn_line = 0
    skipped = tuple(f'{{"event":"{kind}"'.encode() for kind in without)
    with _opened(path) as file:
        lines = iter(lambda: file.readline(_MOST_LINE_BYTES), b"")
        for number, line in enumerate(lines, start=1):
            if not line.strip() or line.startswith(skipped):
                continue
            event = _parse(line)
            if event is None:
                if torn_line:
                    raise _damaged(path, torn_line)
                torn_line = number
                continue
            if torn_line and event.get("event") != "end":
                raise _damaged(path, torn_line)
            if event.get("event") == "run":
                require_version(path, "event stream", event.get("version"), EVENTS_VERSION)
            yield event


def _opened(path: Path) -> BinaryIO:
    try:
        return open_regular(path)
    except OSError as error:
        raise StriderError(f"cannot read {path}: {error.strerror}: the run directory is damaged") from error


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
    """The last whole event of a file, reading no more than its last 64 KiB; None where there is none."""
    tail_bytes = 1 << 16
    try:
        with open_regular(path) as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - tail_bytes))
            rest = file.read()
    except OSError:
        return None
    while rest:  # mostly the last line is the one
        rest, _, line = rest.rpartition(b"\n")
        if (event := _parse(line)) is not None:
            return event
    return None


def _parse(line: bytes) -> Event | None:
    """The event on a line; None where the line is torn (also: torn, and the next event glued to it)."""
    try:
        event = json_of(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None


def _damaged(path: Path, line: int) -> StriderError:
    return StriderError(
        f"{path} line {line} is not an event, but events follow it: the file was damaged after the run"
    )
