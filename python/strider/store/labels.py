"""Tags and a note that a user gives to a run: `labels.json` of its directory."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ValidationError

from strider.engine import to_json
from strider.errors import ExitCode, StriderError
from strider.text_file import read_regular, write_whole

LABELS_FILE = "labels.json"
MOST_TAGS, MOST_TAG, MOST_NOTE = 20, 40, 4000
"""Tags of a run, and characters of a tag and of a note."""
_MOST_BYTES = 1 << 20
"""Size limit of the file, in bytes."""


class Labels(BaseModel):
    """Labels that a user gives a run."""

    tags: list[str] = []
    note: str = ""


def read_labels(directory: Path) -> Labels:
    """Returns the labels of a run; none where there are none that can be read."""
    try:
        return Labels.model_validate_json(read_regular(directory / LABELS_FILE, _MOST_BYTES))
    except (OSError, ValidationError):
        return Labels()


def write_labels(directory: Path, tags: str, note: str) -> Labels:
    """Replaces the labels of a run.

    Args:
        directory: Of the run.
        tags: Words, separated by commas or spaces.
        note: Any text.

    Raises:
        StriderError: They are too long, or cannot be written.
    """
    words = list(dict.fromkeys(tags.replace(",", " ").split()))
    if len(words) > MOST_TAGS or any(len(word) > MOST_TAG for word in words) or len(note) > MOST_NOTE:
        raise StriderError(
            f"a run has at most {MOST_TAGS} tags of {MOST_TAG} characters, and a note of {MOST_NOTE}"
        )
    labels = Labels(tags=words, note=note.strip())
    try:
        write_whole(directory / LABELS_FILE, to_json(labels.model_dump()))
    except OSError as error:
        raise StriderError(
            f"cannot write {directory / LABELS_FILE}: {error.strerror}", ExitCode.CANNOT_RUN
        ) from error
    return labels
