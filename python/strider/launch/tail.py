"""Follows `events.jsonl` while the engine writes it."""

import errno
import json
from dataclasses import dataclass, field
from pathlib import Path

from strider.errors import DamagedRunError
from strider.store.checked_events import Event, checked
from strider.text_file import json_of, open_regular, open_unfollowed

_MOST_BYTES = 1 << 26
"""Read at a time; a longer line is damage."""


@dataclass
class Tail:
    """Reads the lines appended since the last call.

    Attributes:
        path: The file; it may not exist yet.
    """

    path: Path
    _offset: int = 0
    _torn: bytes = field(default=b"")
    _lines: int = 0

    def new_events(self) -> list[Event]:
        """Returns the events of complete new lines; keeps an incomplete line for the next call.

        Raises:
            DamagedRunError: A line holds no event, or one with a value that it cannot have.
            OSError: The file cannot be read.
        """
        events: list[Event] = []
        try:
            with open_regular(self.path) as file:
                file.seek(self._offset)
                while added := file.read(_MOST_BYTES):
                    self._offset += len(added)
                    events += self._events_of(added)
        except OSError as error:
            # The file does not exist yet, or a network file system requires reopening it.
            if error.errno not in (errno.ENOENT, errno.ESTALE):
                raise
        return events

    def _events_of(self, added: bytes) -> list[Event]:
        *lines, self._torn = (self._torn + added).split(b"\n")
        if len(self._torn) > _MOST_BYTES:
            raise DamagedRunError(f"{self.path} holds a line of more than {_MOST_BYTES} bytes: it is damaged")
        return [event for line in lines if (event := self._event_of(line)) is not None]

    def _event_of(self, line: bytes) -> Event | None:
        self._lines += 1
        if not line.strip():
            return None
        try:
            event: Event = json_of(line)
        except ValueError as error:
            raise DamagedRunError(
                f"{self.path} line {self._lines} is not an event ({error}): the file is damaged"
            ) from error
        checked(self.path, self._lines, event)
        return event


def close_events(path: Path, end: Event) -> None:
    """Completes the events of a dead engine: removes an incomplete last line, adds the `end` event."""
    with open_unfollowed(path, "ab+") as file:
        file.seek(0)
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)
        file.write(json.dumps(end).encode() + b"\n")
