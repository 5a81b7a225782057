"""The runs of the store as the pages need them: found by their id alone, listed, and their files."""

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from strider.errors import StriderError
from strider.store import RunSummary
from strider.store.load import read_json
from strider.store.runs import summarize

RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
"""A folder directly in the store, and no hidden one."""
FILES = {
    "report.html": "text/html; charset=utf-8",
    "suite.toml": "application/toml; charset=utf-8",
    "plan.json": "application/json",
    "run.json": "application/json",
    "events.jsonl": "application/jsonl",
    "engine.log": "text/plain; charset=utf-8",
    "samples.parquet": "application/vnd.apache.parquet",
    "ranks.parquet": "application/vnd.apache.parquet",
    "timelines.parquet": "application/vnd.apache.parquet",
}
"""Files of a run directory that may be fetched, and what they are (docs/formats.md, section 4)."""

_NEWEST = 20
"""As many runs as may begin within the time in which one is looked for."""


class Runs:
    """The runs of a store; what is known of a run that is over is kept, as it changes no more.

    Args:
        store: The store.
    """

    def __init__(self, store: Path) -> None:
        """Takes what the class describes."""
        self.store = store
        self._known: dict[str, tuple[int, RunSummary]] = {}

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

    def file(self, run: str, name: str) -> Path:
        """A file of a run.

        Raises:
            StriderError: There is no such run, or it has no such file.
        """
        path = self.directory(run) / name
        if name not in FILES or path.is_symlink() or not path.is_file():
            raise StriderError(f"run {run} has no file {name!r}")
        return path

    def found(self, words: str = "") -> list[str]:
        """Names of runs, newest first, in whose id, target, host or status all the words are found.

        Without words no run is read.
        """
        names = sorted(self._names(), reverse=True)
        wanted = words.casefold().split()
        if not wanted:
            return names
        return [name for name in names if all(word in _searched(self.summary(name)) for word in wanted)]

    def listed(self, names: Iterable[str]) -> list[RunSummary]:
        """What is known of some runs."""
        return [self.summary(name) for name in names]

    def started_with(self, file: Path) -> str:
        """The run whose command names a file, if it is one of the newest; empty where there is none."""
        for name in sorted(self._names(), reverse=True)[:_NEWEST]:
            with suppress(StriderError):
                if str(file) in read_json(self.store / name / "run.json").get("command", []):
                    return name
        return ""

    def _names(self) -> list[str]:
        if not self.store.is_dir():
            return []
        names = [entry.name for entry in self.store.iterdir() if RUN_NAME.fullmatch(entry.name)]
        return [name for name in names if (self.store / name / "run.json").is_file()]

    def summary(self, name: str) -> RunSummary:
        """What is known of a run without reading all of it."""
        stamp = (self.store / name / "run.json").stat().st_mtime_ns
        known = self._known.get(name)
        if known and known[0] == stamp:
            return known[1]
        summary = summarize(self.store / name)
        if summary.ended:
            self._known[name] = stamp, summary
        return summary


def _searched(run: RunSummary) -> str:
    return f"{run.run} {run.target} {run.host} {run.status} {run.shown_status}".casefold()
