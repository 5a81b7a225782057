"""The file of `--per-rank`, with the rows of all ranks in each phase (docs/formats.md, section 9)."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from strider.errors import StriderError
from strider.launch.machine import mount_of

_HEAD_BYTES = 8
"""Of a netCDF file: its kind, and the number of records as 4 bytes, the highest first."""
_RESTORE = "put the file back, or start a new run with strider run"


@contextmanager
def rank_rows(
    path: Path | None, target: Path | None = None, remount: Sequence[str] = (), *, is_new: bool = True
) -> Iterator[None]:
    """Creates the file for the engine, which fills it; a run without phases leaves no file.

    Args:
        path: The file, absolute; None: no file.
        target: The target of the run; None: it has none.
        remount: Command that remounts the target; empty: none.
        is_new: Whether the run is new; a resumed run continues its file.

    Raises:
        StriderError: The file cannot be created, or would disturb the run.
    """
    if path is None:
        yield
        return
    if not is_new:
        _require_kept(path)
        yield
        return
    if target is not None:
        _require_apart(path, target, remount)
    _create(path)
    try:
        yield
    finally:
        if not recorded_phases(path):
            path.unlink(missing_ok=True)


def recorded_phases(path: Path) -> int:
    """Returns the number of phases in a file; 0 if it cannot be read."""
    try:
        with path.open("rb") as file:
            return int.from_bytes(file.read(_HEAD_BYTES)[4:])
    except OSError:
        return 0


def _require_kept(path: Path) -> None:
    if not path.is_file():
        raise StriderError(f"the file of per-rank rows of this run is gone: {path}: {_RESTORE}")


def _require_apart(path: Path, target: Path, remount: Sequence[str]) -> None:
    """Refuses a file in the target, or on a file system that is unmounted meanwhile."""
    place, measured = path.resolve(), target.resolve()
    if place.is_relative_to(measured):
        raise StriderError(
            f"--per-rank {path} is in the target {target}, and would disturb what is measured: choose a "
            "folder elsewhere that all nodes share"
        )
    if remount and mount_of(place.parent) == mount_of(measured):
        raise StriderError(
            f"--per-rank {path} is on the file system of the target, which --remount-command unmounts: "
            "choose a folder on another one that all nodes share"
        )


def _create(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
    except FileExistsError as error:
        raise StriderError(
            f"--per-rank {path} exists already: remove it, or name a file that does not exist"
        ) from error
    except FileNotFoundError as error:
        raise StriderError(
            f"--per-rank {path}: its folder does not exist: create it with mkdir -p {path.parent}"
        ) from error
    except OSError as error:
        raise StriderError(
            f"--per-rank {path}: {error.strerror}: choose a folder in which you can create files"
        ) from error
