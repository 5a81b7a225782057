"""Opens the target once, so that later changes of its path have no effect."""

import os
from collections.abc import Sequence
from pathlib import Path

from strider.errors import ExitCode, StriderError

_DIRECTORY = os.O_PATH | os.O_DIRECTORY


def open_target(target: Path, within: Sequence[Path] = ()) -> int:
    """Opens a target; the caller closes the descriptor.

    Args:
        target: The directory, absolute.
        within: Resolved directories that may contain it; empty: any.

    Raises:
        StriderError: It cannot be opened, or is outside these directories.
    """
    try:
        if not within:
            return os.open(target, _DIRECTORY)
        place = target.resolve()
        top = next((path for path in within if place.is_relative_to(path)), None)
        return _outside(target, within) if top is None else _walk(top, place.relative_to(top).parts)
    except (NotADirectoryError, FileNotFoundError) as error:
        # A directory was replaced by a link after the path was resolved.
        raise StriderError(
            f"{target} changed while it was opened ({error.strerror}): check which process replaces "
            "directories there",
            ExitCode.CANNOT_RUN,
        ) from error
    except OSError as error:
        raise StriderError(f"cannot open {target}: {error.strerror}", ExitCode.CANNOT_RUN) from error


def _outside(target: Path, within: Sequence[Path]) -> int:
    names = ", ".join(map(str, within))
    raise StriderError(f"target {target} is outside the permitted directories: choose one in {names}")


def _walk(top: Path, names: Sequence[str]) -> int:
    """Opens a directory component by component, without following links."""
    opened = os.open(top, _DIRECTORY)
    for name in names:
        above = opened
        try:
            opened = os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
        finally:
            os.close(above)
    return opened
