"""Writes and syncs of processes as strace sees them, with their times: the data on stable storage by time."""

import re
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO

from harness import EngineRun, wait_for

WRITES = ("pwrite64", "pwritev", "pwritev2", "write", "writev")
SYNCS = ("fsync", "fdatasync", "msync", "sync_file_range", "syncfs", "sync")
STRACE_OPTIONS = (
    *("-ff", "-y", "-ttt", "-T", "-s", "40", "-e", "signal=none"),
    *("-e", "trace=openat,openat2,open_by_handle_at," + ",".join(WRITES + SYNCS)),
)

LINE = re.compile(
    r"^(?P<begin>\d+\.\d+) (?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)"
    r"(?:<[^>]*>)?.*<(?P<took>\d+\.\d+)>$"
)
FILE = re.compile(r"^\d+<(?P<path>[^>]*)>")


@dataclass(frozen=True)
class Call:
    """A system call that has ended.

    Attributes:
        begin_s: When it began, by the machine's clock.
        end_s: When it ended.
        name: Its name.
        path: The file of its first argument, empty where that is none.
        arguments: All of them, as strace writes them.
        result: Its return value; negative for an error.
    """

    begin_s: float
    end_s: float
    name: str
    path: str
    arguments: str
    result: int

    @property
    def is_write(self) -> bool:
        return self.name in WRITES

    @property
    def is_sync(self) -> bool:
        return self.name in SYNCS

    @property
    def extent(self) -> tuple[int, int]:
        """Offset and length of the bytes that a write at an offset has moved."""
        numbers = self.arguments.rsplit(", ", 2)
        return int(numbers[-2 if self.name == "pwritev2" else -1]), self.result


def calls_in(folder: Path) -> list[Call]:
    """The calls in the traces of a folder, in the order in which they began."""
    lines = [
        line for path in folder.glob("trace.*") for line in path.read_text(errors="replace").splitlines()
    ]
    return sorted(map(_call, filter(None, map(LINE.match, lines))), key=lambda call: call.begin_s)


def _call(found: re.Match[str]) -> Call:
    begin_s = float(found["begin"])
    file = FILE.match(found["arguments"])
    return Call(
        begin_s,
        begin_s + float(found["took"]),
        found["name"],
        file["path"] if file else "",
        found["arguments"],
        int(found["result"]),
    )


def watching(strace: str, folder: Path) -> list[str]:
    """Words before a command whose calls are to be traced into a folder."""
    folder.mkdir()
    return [strace, *STRACE_OPTIONS, "-o", str(folder / "trace")]


@contextmanager
def watched(strace: str, pids: Iterable[int], folder: Path) -> Iterator[None]:
    """Traces processes that run already, and all their threads, into a folder."""
    words = watching(strace, folder)
    for pid in pids:
        words += ["-p", str(pid)]
    said = folder / "said"
    with said.open("w") as output, _ended(words, output):
        wait_for(lambda: said.read_text().count(" attached") >= words.count("-p"), "strace to attach")
        yield


@contextmanager
def _ended(words: list[str], output: IO[str]) -> Iterator[None]:
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=output) as process:
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)


class Phases:
    """The phases of an operation in a run under strace.

    Args:
        done: The run.
        calls: The engine's calls.
        operation: The operation.
        on: The calls that phases distinguish, if they are those of another process.

    Attributes:
        calls: Of each phase, those that began after the sample before and before its own was reported.
        ends_s: When each was reported.
    """

    def __init__(
        self, done: EngineRun, calls: list[Call], operation: str, on: list[Call] | None = None
    ) -> None:
        assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
        samples = done.of("sample")
        reports = [call.begin_s for call in calls if _reports_sample(call)]
        assert len(reports) == len(samples)
        spans = [
            (begin, end)
            for sample, begin, end in zip(samples, [0.0, *reports], reports, strict=False)
            if sample["operation"] == operation
        ]
        self.ends_s = [end for _, end in spans]
        chosen = calls if on is None else on
        self.calls = [[call for call in chosen if begin <= call.begin_s < end] for begin, end in spans]


def _reports_sample(call: Call) -> bool:
    return (
        call.name == "write"
        and call.path.endswith("/events.jsonl")
        and r"\"event\":\"sample\"" in call.arguments
    )


def covered(writes: Iterable[Call]) -> int:
    """The bytes from the beginning of a file that writes have covered without a gap."""
    end = 0
    for offset, length in sorted(call.extent for call in writes):
        if offset > end:
            break
        end = max(end, offset + length)
    return end


def unstable(calls: list[Call], at_s: float) -> list[Call]:
    """The writes to one file that no sync had followed and ended by a moment."""
    syncs = [call for call in calls if call.is_sync and call.result == 0 and call.end_s <= at_s]
    return [
        call
        for call in calls
        if call.is_write and call.result > 0 and not any(sync.begin_s >= call.end_s for sync in syncs)
    ]


def rhythm(calls: Iterable[Call]) -> str:
    """The calls on a file in their order, in short: w for one or more writes, s for one sync."""
    kinds = ["w" if call.is_write else "s" for call in calls if call.is_write or call.is_sync]
    return "".join("w" if kind == "w" else kind * len(list(group)) for kind, group in groupby(kinds))
