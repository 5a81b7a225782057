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
        StriderError: It is not a regular file, or its directory does not permit to replace it.
    """
    folder = path.parent
    if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
        raise StriderError(f"{where}: {path} is not a regular file: name another file")
    if not folder.is_dir():
        raise StriderError(f"{where}: {folder} is not a directory: create it with mkdir -p {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StriderError(f"{where}: no permission to write {path}", ExitCode.CANNOT_RUN)


def write(path: Path, count: int, where: str) -> None:
    """Creates or replaces a status file atomically.

    Args:
        path: The file.
        count: The number of operations of each task.
        where: The option that names it, for messages.

    Raises:
        StriderError: It cannot be written.
    """
    try:
        write_whole(path, str(count))
    except OSError as error:
        raise StriderError(f"{where}: cannot write {path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
