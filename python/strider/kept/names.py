"""The names of kept files, as IOR gives them."""

import os
from dataclasses import dataclass
from pathlib import Path

MARKER_PREFIX = ".strider-data."
_MOST_NAME_BYTES = 180
"""Longest name of a file in bytes: with IOR's numbers it also fits into the name of a marker."""


@dataclass(frozen=True)
class FileNames:
    """The files of a test.

    Attributes:
        folder: Their directory, absolute.
        base: The last part of IOR's `-o`.
        per_rank: Whether each task has a file (`-F`).
        unique: Whether each of these is in a directory of its own, named after the task (`-u`).
        suffix: End of the names: the repetition of several files (`-m`), such as `.2`.
    """

    folder: Path
    base: str
    per_rank: bool = False
    unique: bool = False
    suffix: str = ""

    @property
    def objection(self) -> str:
        """Why these names cannot be used; empty if they can."""
        if self.base in ("", ".", "..") or "\0" in self.base:
            return f'"{self.base}" is not the name of a file: name a file in a directory'
        if len(os.fsencode(self.base)) > _MOST_NAME_BYTES:
            return f"the name of a kept file has at most {_MOST_NAME_BYTES} bytes: choose a shorter one"
        return ""

    @property
    def prefix(self) -> str:
        """Beginning of the names."""
        return f"{self.base}." if self.per_rank else self.base

    @property
    def digits(self) -> int:
        """Digits of the number in a name; 0: no number."""
        return 8 if self.per_rank else 0

    def parts(self, number: int) -> tuple[str, str]:
        """Returns the directory of a file in `folder`, empty for `folder` itself, and its name."""
        digits = f"{number:08d}" if self.per_rank else ""
        return str(number) if self.unique else "", f"{self.prefix}{digits}{self.suffix}"

    def path(self, number: int) -> Path:
        """Returns the path of a file."""
        return self.folder.joinpath(*self.parts(number))

    @property
    def marker(self) -> str:
        """Name of their marker in `folder`."""
        kind = ".per-directory" if self.unique else ".per-rank" if self.per_rank else ""
        return f"{MARKER_PREFIX}{self.base}{kind}{self.suffix}"
