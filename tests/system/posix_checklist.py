"""Parts of a checklist of calls on files.

Each case works in an empty directory and returns the observations of a program. If a mount of a list-I/O
volume answers otherwise than a local directory, the case has this answer, and docs/listio.md states it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mounting import outcome

Call = Callable[[Path], object]
SECOND_NS = 1_000_000_000
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Case:
    """One entry of the checklist.

    Attributes:
        name: The call and its arguments.
        call: Works in an empty directory; returns its observations.
        otherwise: The answer of a mount, if it differs; None: as a local directory.
        otherwise_cached: The same for a mount with `--cache`.
    """

    name: str
    call: Call
    otherwise: object = None
    otherwise_cached: object = None


class Checklist(list[Case]):
    """Cases in their order."""

    def case(self, name: str, otherwise: object = None, cached: object = ...) -> Callable[[Call], Call]:
        """Adds a function; `cached` is `otherwise` unless it is given."""

        def add(call: Call) -> Call:
            self.append(Case(name, call, otherwise, otherwise if cached is ... else cached))
            return call

        return add


@contextmanager
def opened(path: Path, flags: int, mode: int = 0o644) -> Iterator[int]:
    """An open descriptor."""
    file = os.open(path, flags, mode)
    try:
        yield file
    finally:
        os.close(file)


def opening(path: Path | str, flags: int) -> object:
    """The outcome of an open."""
    return outcome(os.close, os.open(path, flags, 0o644))


def made(path: Path, content: bytes = b"content") -> Path:
    """A new file."""
    path.write_bytes(content)
    return path


def mode_of(path: Path) -> int:
    """The twelve bits of a mode."""
    return stat.S_IMODE(path.lstat().st_mode)


def libc(name: str, *arguments: object) -> object:
    """The outcome of a function of the C library."""
    ctypes.set_errno(0)
    words = [word.encode() if isinstance(word, str) else word for word in arguments]
    result = getattr(LIBC, name)(*words)
    return errno.errorcode[ctypes.get_errno()] if result == -1 else result
