"""The index of a store: summaries of its runs in one file, so that a list reads no run that it knows.

The index is never the truth. An entry counts only while the files of its run are those that it was made from;
all other runs are read. It may be removed at any time, and is made again.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from strider.errors import StriderError
from strider.listing.names import run_names
from strider.listing.summary import RunSummary, TimeLimitCut
from strider.text_file import json_of, write_whole

VERSION = 1
"""To be raised when summaries of unchanged runs become different ones."""
SETTLED_S = 2.0
"""A file that changed so recently may change again without another time of change."""
QUIET_S = 60.0
"""A run without an end whose files did not change for this time was probably killed. An active run reports
progress more often: each of its summaries would be written into the index, and never used again."""
FEWEST_RUNS = 100
"""Of a store with fewer runs all are read: that takes less than 0.1 s, and leaves no file in the store."""

_FILES = (
    "run.json",
    "events.jsonl",
    "plan.json",
    "description.json",
    "report.html",
    "labels.json",
)
"""Files of a run that decide its summary."""
_FIELDS = [field.name for field in fields(RunSummary) if field.name != "directory"]
_ABSENT = (0, 0, 0, 0)


class State(NamedTuple):
    """The state of the files of a run.

    Attributes:
        stamp: What identifies it.
        changed_ns: When one of them changed last; unlike the time of modification, no one can set it.
    """

    stamp: int
    changed_ns: int


Entry = tuple[int, list[Any]]
"""The stamp of the files of a run, and its summary: values of `_FIELDS`."""


class Index:
    """The summaries of the runs of a store.

    Args:
        store: The store.
        read: Summarizes a run directory.
    """

    def __init__(self, store: Path, read: Callable[[Path], RunSummary]) -> None:
        self._store = store
        self._read = read
        self._entries: dict[str, Entry] = {}
        self._is_loaded = False
        self._lock = Lock()

    @property
    def file(self) -> Path:
        """The file of the index. Each user has one: it contains only runs that this user may read."""
        return self._store / f".index-{os.geteuid()}"

    def all(self) -> list[RunSummary]:
        """Summaries of all runs, oldest first."""
        return self.summaries(run_names(self._store))

    def summaries(self, names: Sequence[str]) -> list[RunSummary]:
        """Summaries of some runs. Those that are not in the index are read and added.

        Raises:
            StriderError: The store cannot be read.
        """
        if not names:
            return []
        self._load()
        found, added = [], False
        with _opened(self._store) as store:
            for name in names:
                state = _state(store, name)
                known = self._known(name, state)
                if known is None:
                    known, is_kept = self._read_once(name, state)
                    added |= is_kept
                found.append(known)
        if added:
            with self._lock:
                self._save()
        return found

    def search(self, names: Sequence[str], text: str) -> list[RunSummary]:
        """Summaries of the runs, of some, that have all the words of a text.

        Raises:
            StriderError: The store cannot be read.
        """
        words = text.split()
        return [run for run in self.summaries(names) if run.has(words)]

    def known(self, names: Sequence[str]) -> dict[str, RunSummary]:
        """Summaries of those of some runs that are in the index, by name; reads no run.

        Raises:
            StriderError: The store cannot be read.
        """
        self._load()
        if not self._entries:
            return {}
        with _opened(self._store) as store:
            known = ((name, self._known(name, _state(store, name))) for name in names)
            return {name: summary for name, summary in known if summary is not None}

    def _load(self) -> None:
        if self._is_loaded:
            return
        with self._lock:
            if not self._is_loaded:
                self._entries, self._is_loaded = self._loaded(), True

    def _known(self, name: str, state: State) -> RunSummary | None:
        """The summary of a run in a state; None if the index has none."""
        entry = self._entries.get(name)
        if entry is None or entry[0] != state.stamp:
            return None
        return _summary(self._store / name, entry[1])

    def _read_once(self, name: str, state: State) -> tuple[RunSummary, bool]:
        """Reads a run, or takes the result of another thread; the latter includes whether it is kept.

        Threads that read many runs take turns, so that a short list does not wait for a long one.
        """
        with self._lock:
            known = self._known(name, state)
            if known is not None:
                return known, False
            summary = self._read(self._store / name)
            return summary, self._kept(name, state, summary)

    def _kept(self, name: str, state: State, summary: RunSummary) -> bool:
        """Adds a summary that was read after a state; returns whether it holds as long as the state does."""
        self._entries.pop(name, None)
        needed_s = QUIET_S if summary.ended is None else SETTLED_S
        if summary.damage or time.time() - state.changed_ns / 1e9 < needed_s:
            return False
        values = asdict(summary)
        self._entries[name] = state.stamp, [values[field] for field in _FIELDS]
        return True

    def _save(self) -> None:
        """Writes the file. Of several processes that write it, the last one wins: all are right."""
        names = run_names(self._store)
        if len(names) < FEWEST_RUNS:
            return
        kept = {name: entry for name in names if (entry := self._entries.get(name))}
        body = json.dumps({"fields": _FIELDS, "runs": kept}, ensure_ascii=False, separators=(",", ":"))
        # In a store that this user cannot write to, runs are read each time.
        with suppress(OSError):
            write_whole(self.file, f"{_head(body)}\n{body}\n", 0o600)

    def _loaded(self) -> dict[str, Entry]:
        """The entries of the file; none where it is missing, damaged, of another version or user."""
        try:
            descriptor = os.open(self.file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, encoding="utf-8") as opened:
                if os.fstat(descriptor).st_uid != os.geteuid():
                    return {}
                head, _, body = opened.read().rstrip("\n").partition("\n")
            document = json_of(body) if head == _head(body) else {}
        except (OSError, ValueError):
            return {}
        if document.get("fields") != _FIELDS:
            return {}
        return {name: (stamp, values) for name, (stamp, values) in document["runs"].items()}


def _head(body: str) -> str:
    """The first line: format, version and check sum of the rest."""
    return f"strider-index {VERSION} {zlib.crc32(body.encode()):08x}"


@contextmanager
def _opened(store: Path) -> Iterator[int]:
    """A descriptor of the store, below which files are found faster."""
    try:
        descriptor = os.open(store, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise StriderError(f"cannot read the store {store}: {error.strerror}") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _state(store: int, run: str) -> State:
    states: list[int] = []
    changed_ns = 0
    for name in _FILES:
        try:
            found = os.stat(f"{run}/{name}", dir_fd=store)
        except OSError:
            states += _ABSENT
            continue
        changed_ns = max(changed_ns, found.st_ctime_ns)
        states += found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    return State(hash(tuple(states)), changed_ns)


def _summary(directory: Path, values: Sequence[Any]) -> RunSummary:
    # The initializer of a frozen class takes most of the time of a list.
    found = object.__new__(RunSummary)
    of_run = vars(found)
    of_run.update(zip(_FIELDS, values, strict=True), directory=directory)
    if limit := of_run["time_limit"]:
        of_run["time_limit"] = TimeLimitCut(**limit)
    return found
