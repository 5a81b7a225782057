"""The identity of directories that the engine is given, so that no other directory can take their place."""

import os
import socket
from collections.abc import Iterable
from pathlib import Path

from strider.processes import boot_id


def identity_words(path: Path, owner: int | None, inode: int | None, device: int | None) -> list[str]:
    """Returns the engine's options that name the identity of a directory.

    Args:
        path: The directory.
        owner: User id of its owner, as this host sees it; None if unknown, like the next two.
        inode: Its inode number.
        device: Device of its file system, which the engine compares on this host only.
    """
    known = ["" if number is None else str(number) for number in (owner, inode, device)]
    return ["--identity", f"{':'.join([*known, f'{socket.gethostname()}/{boot_id()}'])}={path}"]


def words_of_open(directories: Iterable[tuple[Path, int]]) -> list[str]:
    """Returns the engine's options that name the identities of open directories.

    Args:
        directories: Path and descriptor of each.
    """
    words: list[str] = []
    for path, descriptor in directories:
        status = os.fstat(descriptor)
        words += identity_words(path, status.st_uid, status.st_ino, status.st_dev)
    return words
