"""Text files that users give."""

from __future__ import annotations

from pathlib import Path

from strider.errors import StriderError


def read_text(file: Path) -> str:
    """The text of an input file.

    Raises:
        StriderError: It cannot be read, or is no text.
    """
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise StriderError(
            f"{file}: not a text file in UTF-8 ({error.reason} at byte {error.start})"
        ) from error
    except OSError as error:
        raise StriderError(f"{file}: {error.strerror}") from error
