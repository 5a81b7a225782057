"""Files that Strider obeys: they name processes, programs, hosts or paths.

Strider stops the processes, starts the programs and removes the paths that such a file names. It therefore
obeys a file only if no other user can have written it or put it in its place, except root.
"""

import errno
import grp
import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Literal

from strider.errors import ExitCode, StriderError
from strider.text import printable

MOST_BYTES = 1 << 20
"""Default size limit of such a file in bytes."""
OWN_MODE = 0o644
"""Permissions of such files, with any umask."""
_STORE_MODE = 0o755
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_own(file: Path, most_bytes: int = MOST_BYTES) -> bytes | None:
    """Returns the content of a file that Strider obeys; None if there is no such file.

    Args:
        file: The file. Links in the path of its folder are followed, and where they lead is checked.
        most_bytes: Its largest size in bytes.

    Raises:
        StriderError: Another user can have written it, it is no regular file, too large or unreadable.
    """
    try:
        with own_folder(file.parent) as folder:
            descriptor = os.open(file.name, _FILE, dir_fd=folder)
            with os.fdopen(descriptor, "rb") as opened:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise OSError(errno.EINVAL, "not a regular file")
                require_own(file, status)
                content = opened.read(most_bytes + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = "a symbolic link is not followed here" if error.errno == errno.ELOOP else error.strerror
        raise StriderError(f"cannot read {printable(str(file))}: {why}", ExitCode.CANNOT_RUN) from error
    if len(content) > most_bytes:
        raise StriderError(
            f"cannot read {printable(str(file))}: it is larger than {most_bytes} bytes", ExitCode.CANNOT_RUN
        )
    return content


@contextmanager
def own_folder(path: Path) -> Iterator[int]:
    """Yields a descriptor of a folder in which no other user can put files.

    Raises:
        StriderError: Another user can.
        OSError: It cannot be opened.
    """
    descriptor = os.open(path.resolve(), _FOLDER)
    try:
        require_own(path, os.fstat(descriptor))
        yield descriptor
    finally:
        os.close(descriptor)


def require_own_folder(path: Path, above: Literal["nearest", "all"] = "nearest") -> None:
    """Checks that no other user can put files in a folder, or another folder in its place.

    Args:
        path: The folder, which may not exist yet.
        above: Which folders above it have to be the user's or root's: the nearest one, or all, where files
            are removed by paths. Others may not be writable for all users.

    Raises:
        StriderError: Another user can, or it cannot be opened.
    """
    for typed in (path.absolute(), *path.absolute().parents):
        if typed.is_symlink():
            _require_own_above(typed, "nearest")
    _require_own_above(path.resolve(), above)
    try:
        with own_folder(path):
            pass
    except FileNotFoundError:
        pass
    except OSError as error:
        raise StriderError(
            f"cannot read {printable(str(path))}: {error.strerror}", ExitCode.CANNOT_RUN
        ) from error


def make_store(path: Path) -> None:
    """Creates a store if there is none; no other user can put runs or jobs there, with any umask.

    Raises:
        OSError: It cannot be created.
    """
    path.mkdir(_STORE_MODE, parents=True, exist_ok=True)


def is_own_folder(path: Path) -> bool:
    """Returns whether Strider obeys files of a folder: it exists, and no other user can put files there."""
    with suppress(OSError, StriderError), own_folder(path):
        return True
    return False


def new_file(folder: int, name: str) -> BinaryIO:
    """Creates a file in an open folder for writing; one of this name is removed first, never written to.

    Raises:
        OSError: It cannot be created.
    """
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb")


def require_own(path: Path, status: os.stat_result, remedy: str = "use your own") -> None:
    """Checks that a file or folder belongs to this user or root, and that no other user can write to it.

    Args:
        path: Its path, for messages.
        status: Its status.
        remedy: What to do instead.

    Raises:
        StriderError: Another user owns it, or can write to it.
    """
    shown = printable(str(path))
    if not is_owned(status):
        raise StriderError(
            f"{shown} belongs to another user, {_user(status.st_uid)}, who could have commands executed as "
            f"you: {remedy}"
        )
    if others_can_write(status):
        raise StriderError(
            f"{shown} can be written by other users (mode {stat.S_IMODE(status.st_mode):04o}), who could "
            f"have commands executed as you: {remedy}; if you trust who could write it, chmod go-w {shown}"
        )


def _require_own_above(place: Path, strictly: Literal["nearest", "all"]) -> None:
    """Checks the folders above one: the nearest strictly, or all; others for what all users can write.

    Args:
        place: The folder, whose parents hold no links; or a link.
        strictly: Which.
    """
    if place.is_symlink() and not is_owned(place.lstat()):
        raise StriderError(f"{printable(str(place))} is a link of another user: name where it leads to")
    existing = [(above, above.lstat()) for above in place.parents if above.exists()]
    for number, (above, status) in enumerate(existing):
        is_sticky = bool(status.st_mode & stat.S_ISVTX)
        is_strict = number == 0 or strictly == "all"
        others_write = others_can_write(status) if is_strict else bool(status.st_mode & stat.S_IWOTH)
        is_foreign = is_strict and not is_owned(status)
        if is_foreign or (others_write and not is_sticky):
            shown = printable(str(above))
            why = f"{shown} belongs to {_user(status.st_uid)}" if is_foreign else f"they can write to {shown}"
            raise StriderError(
                f"other users can replace {printable(str(place))}, because {why}: choose a directory in a "
                f"folder of your own{'' if is_foreign else f', or set the sticky bit: chmod +t {shown}'}"
            )


def is_owned(status: os.stat_result) -> bool:
    """Returns whether a file belongs to this user or to root."""
    return status.st_uid in (os.geteuid(), 0)


def others_can_write(status: os.stat_result) -> bool:
    """Returns whether the mode lets another user write; the user's private group is no other user."""
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not is_private_group(status.st_gid)


def only_owner_can_write(status: os.stat_result) -> bool:
    """Returns whether a file is this user's or root's, and no group can write to it, as the engine has it."""
    return is_owned(status) and not status.st_mode & (stat.S_IWOTH | stat.S_IWGRP)


def is_private_group(group: int) -> bool:
    """Returns whether a group is this user's alone: the primary one, of the same name, without others."""
    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user id {number}"
