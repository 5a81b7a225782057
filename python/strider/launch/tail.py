"""Follows `events.jsonl` while the engine writes it."""

import errno
import json
from dataclasses import dataclass, field
from pathlib import Path

from strider.engine import Json

Event = dict[str, Json]


@dataclass
class Tail:
    """Reads the lines that have been added since the last look.

    Attributes:
        path: The file; it need not be there yet.
    """

    path: Path
    _offset: int = 0
    _torn: bytes = field(default=b"")

    def new_events(self) -> list[Event]:
        """Events of the whole lines that were added; the rest of a line is kept for the next time."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                added = file.read()
        except OSError as error:
            # A file that is not there yet, or that a network file system wants to be opened anew.
            if error.errno in (errno.ENOENT, errno.ESTALE):
                return []
            raise
        self._offset += len(added)
        *lines, self._torn = (self._torn + added).split(b"\n")
        return [json.loads(line) for line in lines if line.strip()]


def close_events(path: Path, end: Event) -> None:
    """Ends the events of an engine that died: cuts off a torn last line, then adds the `end` event."""
    with path.open("ab+") as file:
        file.seek(0)
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)
        file.write(json.dumps(end).encode() + b"\n")
