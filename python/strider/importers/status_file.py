"""The status file of IOR and mdtest: the number of operations that each task completed before a deadline.

It has one whole number, as both programs print it, without a line end. A phase that writes leaves it, and a
later invocation performs exactly as many operations.
"""

import os
import re
import stat
from pathlib import Path

from strider.errors import ExitCode, StriderError
from strider.text_file import write_whole

_MOST_BYTES = 64
_NUMBER = re.compile(r"\s*\+?(?P<number>[0-9]{1,18})(\s.*)?", re.DOTALL | re.ASCII)


def read(path: Path, where: str) -> int | None:
    """Returns the number in a status file; None if there is no file.

    Args:
        path: The file.
        where: The option that names it, for messages.

    Raises:
        StriderError: It cannot be read, or begins with no number.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StriderError(f"{where}: cannot read {path}: {reason}", ExitCode.CANNOT_RUN) from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise StriderError(f"{where}: {path} is not a regular file: name the file that the write left")
        text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise StriderError(
            f"{where}: {path} does not begin with a whole number: write the files again with a deadline, "
            "which replaces it"
        )
    return int(found["number"])


def require_writable(path: Path, where: str) -> None:
    """Raises an error if a status file could not be written after a run.

    Args:
        path: The file.
        where: The option that names it, for messages.

    Raises:
        StriderError: It is not a regular file, holds something else than a number, or its directory does not
            permit to replace it.
    """
    folder = path.parent
    _require_status_file(path, where)
    if not folder.is_dir():
        raise StriderError(f"{where}: {folder} is not a directory: create it with mkdir -p {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StriderError(f"{where}: no permission to write {path}", ExitCode.CANNOT_RUN)


def _require_status_file(path: Path, where: str) -> None:
    """Raises an error if the file exists and is anything else than a status file."""
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_file():
        raise StriderError(f"{where}: {path} is not a regular file: name another file")
    if not _holds_a_number(path):
        raise StriderError(
            f"{where}: {path} exists and is not a status file: remove it, or name another file"
        )


def _holds_a_number(path: Path) -> bool:
    """Returns whether a file is empty, or has one number and nothing else."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except OSError:
        return False
    return len(text) <= _MOST_BYTES and (not text.strip() or text.strip().isdigit())


def write(path: Path, count: int, where: str) -> None:
    """Creates or replaces a status file atomically.

    Args:
        path: The file.
        count: The number of operations of each task.
        where: The option that names it, for messages.

    Raises:
        StriderError: It cannot be written.
    """
    _require_status_file(path, where)
    try:
        write_whole(path, str(count))
    except OSError as error:
        raise StriderError(f"{where}: cannot write {path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
