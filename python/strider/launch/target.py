"""The target, opened once: what happens to its path afterwards makes nothing go elsewhere."""

import os
from collections.abc import Sequence
from pathlib import Path

from strider.errors import ExitCode, StriderError

_DIRECTORY = os.O_PATH | os.O_DIRECTORY


def open_target(target: Path, within: Sequence[Path] = ()) -> int:
    """Opens a target to work below it; the caller closes.

    Args:
        target: The directory, absolute.
        within: Directories without links in their paths, in one of which it has to be; empty: anywhere.

    Raises:
        StriderError: It cannot be opened, or is in none of them.
    """
    try:
        if not within:
            return os.open(target, _DIRECTORY)
        place = target.resolve()
        top = next((path for path in within if place.is_relative_to(path)), None)
        return _outside(target, within) if top is None else _walk(top, place.relative_to(top).parts)
    except (NotADirectoryError, FileNotFoundError) as error:
        # A link in the place of a directory: the path led elsewhere when it was resolved.
        raise StriderError(
            f"{target} changes while it is opened ({error.strerror}): see who replaces directories there",
            ExitCode.CANNOT_RUN,
        ) from error
    except OSError as error:
        raise StriderError(f"cannot open {target}: {error.strerror}", ExitCode.CANNOT_RUN) from error


def _outside(target: Path, within: Sequence[Path]) -> int:
    names = ", ".join(map(str, within))
    raise StriderError(
        f"target {target} is outside of the directories that may be measured: choose one in {names}"
    )


def _walk(top: Path, names: Sequence[str]) -> int:
    """Opens a directory name by name, without following a link in the place of any."""
    opened = os.open(top, _DIRECTORY)
    for name in names:
        above = opened
        try:
            opened = os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
        finally:
            os.close(above)
    return opened
