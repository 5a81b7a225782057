"""Who can change a run: a resumed run executes the launcher and the commands that its files name."""

import grp
import os
import pwd
import stat
from pathlib import Path

from strider.errors import StriderError
from strider.launch.rundir import RunDirectory
from strider.text import printable
from strider.text_file import open_regular

_REMEDY = "resume a run of your own, or start a new one with strider run"


def require_own(directory: RunDirectory) -> bytes:
    """Returns `run.json` of a run that only this user and root can change.

    The directory is opened once: its name may lead to another one a moment later.

    Args:
        directory: The run's directory.

    Raises:
        StriderError: Another user owns or can write the directory or a file that decides what is executed, or
            `run.json` cannot be read; the path is named, with a remedy.
    """
    try:
        opened = os.open(directory.path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise StriderError(f"cannot read {directory.path}: {error.strerror}") from error
    try:
        _require_own(directory.path, os.fstat(opened))
        for file in (directory.plan, directory.path / "suite.toml"):
            _read_own(file, opened)
        return _read_own(directory.info, opened)
    finally:
        os.close(opened)


def _read_own(file: Path, directory: int) -> bytes:
    try:
        with open_regular(Path(file.name), directory) as opened:
            _require_own(file, os.fstat(opened.fileno()))
            return opened.read()
    except OSError as error:
        raise StriderError(f"cannot read {file}: {error.strerror}: start a new run") from error


def _require_own(path: Path, status: os.stat_result) -> None:
    shown = printable(str(path))
    if status.st_uid not in (os.geteuid(), 0):
        raise StriderError(
            f"{shown} belongs to another user, who could have commands executed as you: {_REMEDY}"
        )
    if others_can_write(status):
        raise StriderError(
            f"{shown} can be written by other users (mode {stat.S_IMODE(status.st_mode):04o}), who could "
            f"have commands executed as you: {_REMEDY}; if you trust who could write it, chmod go-w {shown}"
        )


def others_can_write(status: os.stat_result) -> bool:
    """Returns whether the mode lets another user write; the user's private group is no other user."""
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not is_private_group(status.st_gid)


def is_private_group(group: int) -> bool:
    """Returns whether a group is this user's alone: the primary one, of the same name, without others."""
    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
