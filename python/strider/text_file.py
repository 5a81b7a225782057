"""Files: input files of users, atomic replacement, opening below a folder."""

from __future__ import annotations

import errno
import json
import os
import stat
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal

from strider.errors import StriderError

MOST_DOCUMENT_BYTES = 1 << 28
"""Size limit of a document of a run; a plan of 10^5 cases has about 10^8 bytes."""
_MOST_BYTES = 1 << 24
"""Size limit of a suite or a script, also for devices without an end."""


def read_text(file: Path) -> str:
    """Returns the text of an input file, without the byte order mark that some editors write.

    Raises:
        StriderError: It cannot be read, or is not UTF-8 text.
    """
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise StriderError(f"{file}: is larger than {_MOST_BYTES} bytes, the limit for input files")
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise StriderError(
            f"{file}: not a text file in UTF-8 ({error.reason} at byte {error.start})"
        ) from error
    except OSError as error:
        raise StriderError(f"{file}: {error.strerror}") from error


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def json_of(text: str | bytes) -> Any:  # noqa: ANN401 - as of the standard library
    """Returns the value of a JSON text that another user may have written.

    Raises:
        ValueError: It is not JSON, or nested too deeply.
    """
    try:
        return _DECODER.decode(text.decode("utf-8-sig") if isinstance(text, bytes) else text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def sync_directory(directory: Path) -> None:
    """Makes names in a directory survive a power cut; without effect if its file system refuses."""
    with suppress(OSError):
        opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def write_whole(file: Path, text: str, mode: int = 0o666, *, is_durable: bool = False) -> None:
    """Creates or replaces a text file atomically: readers see either the old or the new text.

    Args:
        file: The file.
        text: Its text.
        mode: Permissions of the file, limited by the umask.
        is_durable: Whether the text is on storage before the file gets its name; the name is after a
            `sync_directory`.

    Raises:
        OSError: It cannot be written; the old file is unchanged.
    """
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)  # left by a killed process with the same pid
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
            if is_durable:
                out.flush()
                os.fsync(out.fileno())
        draft.replace(file)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def open_unfollowed(
    file: Path, mode: Literal["wb", "ab", "ab+"], folder: int | None = None, permissions: int = 0o666
) -> BinaryIO:
    """Opens a regular file for writing, and creates it if there is none; follows no symbolic link to it.

    Args:
        file: The file.
        mode: As of `open`.
        folder: Descriptor of the folder that a relative path begins in; None: the working directory.
        permissions: Of a new file, limited by the umask.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """

    def opener(path: str, flags: int) -> int:
        unfollowed = flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        found = os.open(path, unfollowed, permissions, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(found).st_mode):
            os.close(found)
            raise OSError(errno.EINVAL, "not a regular file", path)
        return found

    return open(file, mode, opener=opener)


def open_regular(file: Path, folder: int | None = None) -> BinaryIO:
    """Opens a regular file for reading; does not wait for the other end of a FIFO.

    Args:
        file: The file; links are followed.
        folder: Descriptor of the folder that a relative path begins in; None: the working directory.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    found = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    mode = os.fstat(found).st_mode
    if not stat.S_ISREG(mode):
        os.close(found)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
        raise OSError(errno.EINVAL, "not a regular file", str(file))
    return os.fdopen(found, "rb")


def read_regular(file: Path, most_bytes: int) -> bytes:
    """Returns the content of a regular file.

    Args:
        file: The file.
        most_bytes: Its largest size in bytes.

    Raises:
        OSError: It cannot be read, is no regular file, or is larger.
    """
    with open_regular(file) as opened:
        is_large = os.fstat(opened.fileno()).st_size > most_bytes
        content = b"" if is_large else opened.read(most_bytes + 1)
    if is_large or len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"larger than {most_bytes} bytes", str(file))
    return content


def is_mount_point(folder: int, above: int) -> bool:
    """Returns whether a folder is on another mount than the one that it is in; also a bind mount is.

    Args:
        folder: Its descriptor.
        above: Descriptor of the folder that it is in.
    """
    return _mount(folder) != _mount(above)


def _mount(descriptor: int) -> str:
    with Path(f"/proc/self/fdinfo/{descriptor}").open(encoding="ascii") as file:
        return next((line for line in file if line.startswith("mnt_id:")), "")


def open_below(folder: Path, *names: str) -> BinaryIO:
    """A regular file below a folder, by a descriptor of each folder on the way.

    Raises:
        OSError: It is not there, a link is on the way, or it is no regular file.
    """
    *folders, last = names
    with ExitStack() as descriptors:
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        descriptors.callback(os.close, at)
        for name in folders:
            at = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            descriptors.callback(os.close, at)
        # Opening a FIFO would wait for its other end.
        found = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    if not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        raise FileNotFoundError(last)
    return os.fdopen(found, "rb")
