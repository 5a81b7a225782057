"""The runs of the store as the pages need them: found by their id alone, listed, and their files."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from strider.errors import StriderError
from strider.listing.index import Index
from strider.listing.names import run_names
from strider.listing.summary import RunSummary
from strider.store.load import load_info, read_json
from strider.store.removal import remove_run
from strider.store.runs import summarize
from strider.text_file import open_below

RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
"""A folder directly in the store, and no hidden one."""
FILES = {
    "report.html": "text/html; charset=utf-8",
    "suite.toml": "application/toml; charset=utf-8",
    "plan.json": "application/json",
    "description.json": "application/json",
    "run.json": "application/json",
    "events.jsonl": "application/jsonl",
    "engine.log": "text/plain; charset=utf-8",
    "samples.parquet": "application/vnd.apache.parquet",
    "ranks.parquet": "application/vnd.apache.parquet",
    "timelines.parquet": "application/vnd.apache.parquet",
}
"""Files of a run directory that may be fetched, and their types (docs/formats.md, section 4)."""

_NEWEST = 20
"""As many runs as may begin within the time in which one is looked for."""


class Runs:
    """The runs of a store, with its index.

    Args:
        store: The store.
    """

    def __init__(self, store: Path) -> None:
        self.store = store
        self._index = Index(store, summarize)

    def directory(self, run: str) -> Path:
        """The directory of a run.

        Raises:
            StriderError: There is none of that name directly in the store.
        """
        path = self.store / run
        # Not even a symbolic link leads out of the store.
        if not RUN_NAME.fullmatch(run) or path.is_symlink() or not (path / "run.json").is_file():
            raise StriderError(f"there is no run {run!r} in the store")
        return path

    def has(self, run: str) -> bool:
        """Whether the store has a run of this name."""
        with suppress(StriderError):
            return bool(self.directory(run))
        return False

    def opened(self, run: str, name: str) -> BinaryIO:
        """A file of a run, opened below the store: no symbolic link on the way is followed.

        Raises:
            StriderError: There is no such run, or it has no such file.
        """
        if name in FILES and RUN_NAME.fullmatch(run):
            with suppress(OSError):
                return open_below(self.store, run, name)
        raise StriderError(f"run {run} has no file {name!r}")

    def found(self, words: str = "") -> list[str]:
        """Names of runs, newest first, in which all the words are found.

        `strider.listing.summary.SEARCHED` lists the searched fields.

        Without words no run is read.
        """
        names = self._names()
        if not words.split():
            return names
        return [run.directory.name for run in self._index.search(names, words)]

    def listed(self, names: Sequence[str]) -> list[RunSummary]:
        """The summaries of some runs."""
        return self._index.summaries(names)

    def started_with(self, file: Path) -> str:
        """The run whose command names a file, if it is one of the newest; empty where there is none."""
        for name in self._names()[:_NEWEST]:
            with suppress(StriderError):
                if str(file) in load_info(self.store / name).command:
                    return name
        return ""

    def process_of(self, run: str) -> int:
        """The process that executes a run, or did last; 0 where it is unknown."""
        with suppress(StriderError, LookupError, TypeError, ValueError):
            return int(read_json(self.store / run / "run.json")["process"]["pid"])
        return 0

    def _names(self) -> list[str]:
        """Names of the runs, newest first."""
        return [name for name in reversed(run_names(self.store)) if RUN_NAME.fullmatch(name)]

    def delete(self, run: str) -> None:
        """Removes the directory of a run.

        Raises:
            StriderError: There is none, it may be active, or it cannot be removed.
        """
        remove_run(self.directory(run))

    def summary(self, name: str) -> RunSummary:
        """The summary of a run without reading all of it."""
        (found,) = self._index.summaries([name])
        return found
