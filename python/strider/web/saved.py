"""Suites that were kept with the page, beside those that come with Strider."""

import contextlib
import os
import re
from pathlib import Path

from strider.errors import ExitCode, StriderError
from strider.suite import ready_made
from strider.suite.vocabulary import SUITE_NAME
from strider.text_file import write_whole

MOST_SAVED = 500


class SavedSuites:
    """The suites in a folder.

    Args:
        folder: Where they are kept; it is made when the first one is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """Names of those that were kept."""
        return sorted(file.stem for file in self.folder.glob("*.toml") if re.fullmatch(SUITE_NAME, file.stem))

    def save(self, name: str, text: str) -> Path:
        """Keeps a suite; one of the same name is replaced as a whole.

        Raises:
            StriderError: It cannot be written.
        """
        path = self._path(name)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not path.exists() and len(self.names()) >= MOST_SAVED:
                raise StriderError(
                    f"the limit of {MOST_SAVED} saved suites is reached: remove some from {self.folder}"
                )
            write_whole(path, text)
        except OSError as error:
            raise StriderError(f"cannot write {path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
        return path

    def read(self, name: str) -> str:
        """The text of a suite: one that was kept, else one that comes with Strider.

        Raises:
            StriderError: There is none of that name.
        """
        for path in (self._path(name), ready_made().get(name)):
            if path is not None:
                with (
                    contextlib.suppress(FileNotFoundError),
                    os.fdopen(_opened(path), encoding="utf-8") as file,
                ):
                    return file.read()
        raise StriderError(f"there is no suite {name!r}")

    def _path(self, name: str) -> Path:
        if not re.fullmatch(SUITE_NAME, name):
            raise StriderError(f"{name!r} is not a valid suite name")
        return self.folder / f"{name}.toml"


def _opened(path: Path) -> int:
    """A descriptor of a file that is one itself and not a symbolic link to another."""
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StriderError(f"cannot read {path}: {error.strerror}", ExitCode.CANNOT_RUN) from error
