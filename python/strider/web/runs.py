"""The runs of the store as the pages need them: found by their id alone, listed, and their files."""

import html
import os
import re
import stat
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from strider.errors import StriderError
from strider.store import RunSummary
from strider.store.labels import LABELS_FILE, Labels, read_labels
from strider.store.load import load_info, read_json
from strider.store.removal import remove_run
from strider.store.runs import summarize

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
"""Files of a run directory that may be fetched, and what they are (docs/formats.md, section 4)."""

_HEAD_BYTES = 4096
"""Of a report, in which its description stands."""
_DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)">')
_NEWEST = 20
"""As many runs as may begin within the time in which one is looked for."""


@dataclass(frozen=True)
class ListedRun(RunSummary):
    """A run as the list shows it.

    Attributes:
        headline: The answer of its report in one line; empty without a report.
        took_s: From start to end; None where one is not known.
        interfaces: Those of its plan.
        labels: Tags and the note that a user gave it.
    """

    headline: str = ""
    took_s: float | None = None
    interfaces: tuple[str, ...] = ()
    labels: Labels = field(default_factory=Labels)


class Runs:
    """The runs of a store; what is known of a run that is over is kept, as it changes no more.

    Args:
        store: The store.
    """

    def __init__(self, store: Path) -> None:
        """Takes what the class describes."""
        self.store = store
        self._known: dict[str, tuple[Stamp, ListedRun]] = {}

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
                return _opened_below(self.store, run, name)
        raise StriderError(f"run {run} has no file {name!r}")

    def found(self, words: str = "") -> list[str]:
        """Names of runs, newest first, in which all the words are found.

        Searched are id, target, host, status, interfaces, headline, tags and note.

        Without words no run is read.
        """
        names = sorted(self._names(), reverse=True)
        wanted = words.casefold().split()
        if not wanted:
            return names
        return [name for name in names if all(word in _searched(self.summary(name)) for word in wanted)]

    def listed(self, names: Iterable[str]) -> list[ListedRun]:
        """What is known of some runs."""
        return [self.summary(name) for name in names]

    def started_with(self, file: Path) -> str:
        """The run whose command names a file, if it is one of the newest; empty where there is none."""
        for name in sorted(self._names(), reverse=True)[:_NEWEST]:
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
        if not self.store.is_dir():
            return []
        names = [entry.name for entry in self.store.iterdir() if RUN_NAME.fullmatch(entry.name)]
        return [name for name in names if (self.store / name / "run.json").is_file()]

    def delete(self, run: str) -> None:
        """Removes the directory of a run.

        Raises:
            StriderError: There is none, it may be active, or it cannot be removed.
        """
        remove_run(self.directory(run))
        self._known.pop(run, None)

    def summary(self, name: str) -> ListedRun:
        """What is known of a run without reading all of it."""
        stamp = _stamp(self.store / name)
        known = self._known.get(name)
        if known and known[0] == stamp:
            return known[1]
        summary = _listed(summarize(self.store / name))
        if summary.ended:
            self._known[name] = stamp, summary
        return summary


Stamp = tuple[int, ...]
"""When the files changed from which a run is listed."""


def _stamp(directory: Path) -> Stamp:
    times = []
    for name in ("run.json", "report.html", LABELS_FILE):
        try:
            times.append((directory / name).stat().st_mtime_ns)
        except OSError:
            times.append(0)  # it is not there, or was just removed
    return tuple(times)


def _listed(run: RunSummary) -> ListedRun:
    return ListedRun(
        **vars(run),
        headline=_headline(run.directory),
        took_s=_duration(run),
        interfaces=_interfaces(run.directory),
        labels=read_labels(run.directory),
    )


def _headline(directory: Path) -> str:
    """The description of a run's report."""
    with suppress(OSError), _opened_below(directory, "report.html") as file:
        head = file.read(_HEAD_BYTES).decode("utf-8", "replace")
        if found := _DESCRIPTION.search(head):
            return html.unescape(found[1])
    return ""


def _duration(run: RunSummary) -> float | None:
    with suppress(ValueError, TypeError):
        return (datetime.fromisoformat(run.ended or "") - datetime.fromisoformat(run.started)).total_seconds()
    return None


def _interfaces(directory: Path) -> tuple[str, ...]:
    with suppress(LookupError, TypeError, AttributeError, StriderError):
        cases = read_json(directory / "plan.json")["cases"]
        return tuple(dict.fromkeys(str(case["interface"]["name"]) for case in cases))
    return ()


def _searched(run: ListedRun) -> str:
    words = [run.run, run.target, run.host, run.status, run.shown_status, run.headline, run.labels.note]
    return " ".join([*words, *run.interfaces, *run.labels.tags]).casefold()


def _opened_below(store: Path, *names: str) -> BinaryIO:
    """A regular file below a folder, by a descriptor of each folder on the way.

    Raises:
        OSError: It is not there, a link is on the way, or it is no regular file.
    """
    *folders, last = names
    with ExitStack() as descriptors:
        at = os.open(store, os.O_RDONLY | os.O_DIRECTORY)
        descriptors.callback(os.close, at)
        for folder in folders:
            at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            descriptors.callback(os.close, at)
        # Opening a FIFO would wait for its other end.
        found = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    if not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        raise FileNotFoundError(last)
    return os.fdopen(found, "rb")
