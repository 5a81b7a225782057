"""Removing runs: the whole directory of a run that is over."""

from __future__ import annotations

import secrets
import shutil
import time
from pathlib import Path

from strider.errors import ExitCode, StriderError
from strider.listing.names import RUN_ID
from strider.store.runs import summarize

QUIET_S = 600.0
"""After so long without an event a run without an end is no longer active."""


def remove_run(directory: Path, *, force: bool = False) -> None:
    """Removes the directory of a run with all its files; symbolic links are not followed.

    Args:
        directory: Of the run.
        force: Also if the run may be active.

    Raises:
        StriderError: The directory is a link, or neither its run.json nor its name is that of a run; the run
            may be active; or a file cannot be removed: the rest lies in the hidden directory that is named.
    """
    summary = summarize(directory)
    if directory.is_symlink() or (summary.damage and not RUN_ID.fullmatch(directory.name)):
        raise StriderError(f"{directory} is not the directory of a run: nothing was removed")
    if not force and summary.ended is None and not summary.damage and is_active(directory):
        raise StriderError(f"run {summary.run} may be active: cancel it, or wait {QUIET_S / 60:.0f} minutes")
    # At once, so that no list shows half of it.
    away = directory.parent / f".deleted-{secrets.token_hex(6)}"
    try:
        directory.rename(away)
    except OSError as error:
        raise StriderError(f"cannot delete {directory}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    try:
        shutil.rmtree(away)
    except OSError as error:
        message = f"cannot delete all of {directory}: {error.filename}: {error.strerror}; remove {away}"
        raise StriderError(message, ExitCode.CANNOT_RUN) from error


def is_active(directory: Path) -> bool:
    """Returns whether a run without an end may be under way: its files changed a short time ago."""
    files = [directory / name for name in ("run.json", "events.jsonl")]
    latest = max((file.stat().st_mtime for file in files if file.exists()), default=0.0)
    return time.time() - latest < QUIET_S
