"""Temporary folders that the next run removes if their process was killed.

A process that is killed cannot remove its folder. It is therefore marked like the folder in the target, and
removed by the same rules: only if the marked process of this host has ended, and without following links.
"""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from strider.errors import ExitCode, StriderError
from strider.launch import folder, leftovers

_NAME = "temporary-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Creates a folder for temporary files, and removes it at the end of the context.

    Raises:
        StriderError: It cannot be created.
    """
    where = Path(tempfile.gettempdir())
    try:
        own = folder.create(where, f"{_NAME}{secrets.token_hex(6)}")
    except StriderError as error:
        raise _with_remedy(str(error)) from error
    try:
        yield own.path
    finally:
        folder.remove(own)


def cannot_create(error: OSError) -> StriderError:
    """Returns the error for temporary files that cannot be created."""
    return _with_remedy(f"cannot create temporary files in {tempfile.gettempdir()}: {error.strerror}")


def _with_remedy(problem: str) -> StriderError:
    return StriderError(f"{problem}: free space there, or set TMPDIR", ExitCode.CANNOT_RUN)


def remove_abandoned() -> None:
    """Removes this user's temporary folders whose processes have ended; after an error, leaves the rest."""
    with suppress(OSError, StriderError):
        for left in leftovers.abandoned(Path(tempfile.gettempdir())):
            if left.path.name.startswith(f"{folder.PREFIX}{_NAME}") and _is_own(left.path):
                leftovers.clean(left)


def _is_own(path: Path) -> bool:
    return path.lstat().st_uid == os.geteuid()
