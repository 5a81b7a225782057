"""Users that can change a run: a resumed run executes the launcher and the commands that its files name."""

import os
from pathlib import Path

from strider import own_files
from strider.errors import StriderError
from strider.launch.rundir import RunDirectory
from strider.text_file import open_regular

_REMEDY = "resume a run of your own, or start a new one with strider run"


def require_own(directory: RunDirectory) -> bytes:
    """Returns `run.json` of a run that only this user and root can change.

    The engine and further reads find the run by its path, so no other user can put another directory there.

    Args:
        directory: The run's directory.

    Raises:
        StriderError: Another user owns, can write or can replace the directory or a file that names the
            commands to execute, or `run.json` cannot be read; the path is named, with a remedy.
    """
    try:
        opened = os.open(directory.path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise StriderError(f"cannot read {directory.path}: {error.strerror}") from error
    try:
        own_files.require_own(directory.path, os.fstat(opened), _REMEDY)
        for file in (directory.plan, directory.path / "suite.toml"):
            _read_own(file, opened)
        own_files.require_own_folder(directory.path)
        return _read_own(directory.info, opened)
    finally:
        os.close(opened)


def _read_own(file: Path, directory: int) -> bytes:
    try:
        with open_regular(Path(file.name), directory) as opened:
            own_files.require_own(file, os.fstat(opened.fileno()), _REMEDY)
            return opened.read()
    except OSError as error:
        raise StriderError(f"cannot read {file}: {error.strerror}: start a new run") from error
