"""The earlier starts of a run, from its events: complete repetitions, and where the run was cut.

A repetition is complete if its `repetition` event is there. Other events of repetitions are no results: they
move to a file of their own when the run is resumed.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ValidationError

from strider.errors import DamagedRunError, StriderError
from strider.store.checked_events import Event, checked, invalid
from strider.store.model import Cut, Node, Start
from strider.store.values import Instant, Moment, Number, Seconds
from strider.text_file import json_of, open_unfollowed, sync_directory

ASIDE = "set-aside.jsonl"
"""File of a run directory with the events that are no results."""
_OF_RUNS = frozenset({"run", "ceilings", "cut"})
"""Events of a whole start, which stay."""

_IGNORED: Event = {"event": "ignored"}
_Repetition = tuple[int | None, int | None]
"""Numbers of a case and of its repetition."""


class _Start(Start):
    """A start with all that resuming a run needs."""

    time_s: Instant
    started: Moment
    nodes: list[Node]
    data_seed: str


class _Cut(Cut):
    """A cut with all that resuming a run again needs."""

    time_s: Instant
    reason: str
    at: str
    repetitions: Number
    time_limit_s: Seconds


_NEEDED: dict[str, type[BaseModel]] = {"run": _Start, "cut": _Cut}


@dataclass
class Earlier:
    """The record of the earlier starts of a run.

    Attributes:
        repetitions: The `repetition` events, in the order of execution.
        runs: The `run` events: one for each start that reached it.
        cuts: The `cut` events: one for each time that the run was resumed.
        is_cut: Whether a `cut` event follows the last `run` event.
        end: The `end` event; None if the run was killed.
        last_s: Time of the last event in seconds since the start of the run.
        used_s: Time of all starts in seconds, without the pauses between them.
        samples: Number of samples of complete repetitions.
        errors: Number of errors of complete repetitions.
        intact_bytes: Length of the events up to the first incomplete line.
        torn: The rest: an incomplete line, or the remains after a power cut.
    """

    repetitions: list[Event] = field(default_factory=list)
    runs: list[Event] = field(default_factory=list)
    cuts: list[Event] = field(default_factory=list)
    is_cut: bool = False
    end: Event | None = None
    last_s: float = 0.0
    used_s: float = 0.0
    samples: int = 0
    errors: int = 0
    intact_bytes: int = 0
    torn: bytes = b""

    @property
    def data_seed(self) -> str:
        """Seed of the data; empty if no rank ever started."""
        return str(self.runs[0]["data_seed"]) if self.runs else ""

    @property
    def nodes(self) -> list[Event]:
        """Name and number of ranks of each node of the last start."""
        nodes = self.runs[-1]["nodes"] if self.runs else []
        return [{"name": node["name"], "ranks": node["ranks"]} for node in nodes]

    @property
    def cut_at(self) -> str:
        """Time of the last event in UTC; empty if no rank ever started."""
        if not self.runs:
            return ""
        at = datetime.fromisoformat(str(self.runs[0]["started"])) + timedelta(seconds=self.last_s)
        return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

    def elapsed_s(self, now: datetime) -> float:
        """Returns the seconds from the start of the run until now; never before its last event."""
        if not self.runs:
            return 0.0
        passed = now - datetime.fromisoformat(str(self.runs[0]["started"]))
        return max(self.last_s, passed.total_seconds())

    def left_of(self, time_limit_s: float) -> float:
        """Returns the rest of the time limit after the last start, in seconds.

        Args:
            time_limit_s: Time limit of the plan.
        """
        limit_s = float(self.cuts[-1]["time_limit_s"]) if self.cuts else time_limit_s
        if self.is_cut or not self.runs:
            return limit_s
        return limit_s - (self.last_s - float(self.runs[-1]["time_s"]))


def read_earlier(path: Path) -> Earlier:
    """Reads the events of a run that has ended.

    Args:
        path: The events; without the file, the run has none.

    Raises:
        StriderError: The events cannot be those of one run; `DamagedRunError` if damaged.
    """
    found = Earlier()
    counts: defaultdict[_Repetition, dict[str, int]] = defaultdict(lambda: {"sample": 0, "error": 0})
    for line, event in _lines(path):
        if event is None:
            found.torn += line
            continue
        found.intact_bytes += len(line)
        _add(found, event)
        if event["event"] in ("sample", "error"):
            counts[_repetition(event)][event["event"]] += 1
    complete = [_repetition(event) for event in found.repetitions]
    if len(set(complete)) < len(complete):
        raise StriderError(f"{path}: a repetition has ended twice: the file was changed; start a new run")
    found.samples = sum(counts[one]["sample"] for one in complete)
    found.errors = sum(counts[one]["error"] for one in complete)
    try:
        _ = found.cut_at
    except OverflowError as error:
        what = f"time_s {found.last_s:g} of the last event is beyond all dates"
        raise DamagedRunError(f"{path}: {what}: the file is damaged") from error
    return found


def _add(found: Earlier, event: Event) -> None:
    before_s = found.last_s
    found.last_s = max(before_s, float(event.get("time_s") or 0.0))
    if event["event"] not in ("run", "cut"):
        found.used_s += found.last_s - before_s
    match event["event"]:
        case "run":
            found.runs.append(event)
            found.is_cut, found.end = False, None
        case "cut":
            found.cuts.append(event)
            found.is_cut = True
        case "repetition":
            found.repetitions.append(event)
        case "end":
            found.end = event


def repair(path: Path, earlier: Earlier, cut: Event | None) -> None:
    """Leaves the results of complete repetitions in the events of a run, atomically.

    All other events move to the file `ASIDE` beside it. If this is killed, some may be there twice.

    Args:
        path: The events.
        earlier: What `read_earlier` found in them.
        cut: The event to add; it replaces a `cut` event at the end.

    Raises:
        OSError: The run directory cannot be written; the events are unchanged.
    """
    complete = {_repetition(event) for event in earlier.repetitions}
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with (
            open_unfollowed(draft, "wb") as kept,
            open_unfollowed(path.parent / ASIDE, "ab") as aside,
        ):
            for line, event in _lines(path):
                if event is None:
                    break
                if event["event"] == "cut" and earlier.is_cut and event == earlier.cuts[-1]:
                    continue
                stays = event["event"] in _OF_RUNS or _repetition(event) in complete
                (kept if stays else aside).write(line)
            if earlier.torn:
                aside.write(_line({"event": "torn", "text": earlier.torn.decode("latin-1")}))
            if cut is not None:
                kept.write(_line(cut))
            for file in (aside, kept):
                file.flush()
                os.fsync(file.fileno())
        draft.replace(path)
        sync_directory(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _line(event: Event) -> bytes:
    return json.dumps(event).encode() + b"\n"


def _repetition(event: Event) -> _Repetition:
    return event.get("case"), event.get("repetition")


def _lines(path: Path) -> Iterator[tuple[bytes, Event | None]]:
    """Yields each line and its event; None from the first incomplete line on.

    What follows an `end` event is of ranks that did not learn that the run was over: it counts as no event of
    the run.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        is_torn = is_over = False
        for number, line in enumerate(file, start=1):
            event = None if is_torn else _parse(line)
            is_torn = event is None
            if event is not None and is_over and event["event"] not in ("run", "cut"):
                event = _IGNORED
            elif event is not None:
                checked(path, number, event)
                _require_needed(path, number, event)
                is_over = event["event"] == "end"
            yield line, event


def _require_needed(path: Path, line: int, event: Event) -> None:
    model = _NEEDED.get(event["event"])
    try:
        if model is not None:
            model.model_validate(event)
    except ValidationError as error:
        raise invalid(f"{path} line {line}: {event['event']}", error) from error


def _parse(line: bytes) -> Event | None:
    try:
        event = json_of(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None
