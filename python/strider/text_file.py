"""Text files: those that users give, and those that are replaced as a whole."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from strider.errors import StriderError

_MOST_BYTES = 1 << 24
"""Of a suite or a script; nobody types as much, and a device has no end."""


def read_text(file: Path) -> str:
    """The text of an input file.

    Raises:
        StriderError: It cannot be read, or is no text.
    """
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise StriderError(
                f"{file}: has more than {_MOST_BYTES} bytes, the most that an input file may have"
            )
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise StriderError(
            f"{file}: not a text file in UTF-8 ({error.reason} at byte {error.start})"
        ) from error
    except OSError as error:
        raise StriderError(f"{file}: {error.strerror}") from error


def write_whole(file: Path, text: str, mode: int = 0o666) -> None:
    """Replaces a text file, or makes it: a reader sees all of the old text or all of the new.

    Args:
        file: The file.
        text: Its text.
        mode: The permissions of a file, as far as the process's mask allows them.

    Raises:
        OSError: It cannot be written; the old one is as it was.
    """
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)  # of a process that had this number and was killed
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
        draft.replace(file)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
