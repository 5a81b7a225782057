"""What `strider observe` wrote on a server, put beside a run by time."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError, ValidationInfo, field_validator

from strider.errors import DamagedRunError, StriderError
from strider.store.checked_events import invalid
from strider.store.events import require_version
from strider.store.model import CounterGroup, NodeCounters, Record, Run, Sample
from strider.store.values import Duration, Moment, Seconds
from strider.text import printable_json
from strider.text_file import MOST_DOCUMENT_BYTES, json_of, read_regular

OBSERVED_VERSION = 1

#: Of these the current state is reported, not a difference.
_LEVELS = ("memory", "cores")

_Model = TypeVar("_Model", bound=BaseModel)


class _Head(Record):
    host: str
    started: str
    interval_s: Duration


class _Line(Record):
    end: Moment
    elapsed_s: Seconds
    counters: list[CounterGroup]

    @property
    def end_s(self) -> float:
        """Its end, seconds since 1970."""
        return datetime.fromisoformat(self.end).timestamp()

    @field_validator("elapsed_s")
    @classmethod
    def _begins_after_1970(cls, elapsed_s: float, known: ValidationInfo) -> float:
        end = known.data.get("end")
        if end and elapsed_s > datetime.fromisoformat(end).timestamp():
            raise ValueError("it began before 1970")
        return elapsed_s


@dataclass(frozen=True)
class Interval:
    """What passed between two readings; times in seconds since 1970."""

    begin_s: float
    end_s: float
    counters: Sequence[CounterGroup]


@dataclass(frozen=True)
class Observed:
    """The counters of a server over time.

    Attributes:
        host: Its name.
        interval_s: Time between two readings, seconds.
        intervals: In the order of time.
    """

    host: str
    interval_s: float
    intervals: Sequence[Interval]

    @property
    def period(self) -> str:
        """From when to when, in words."""
        if not self.intervals:
            return "the file has no readings"
        ends = (self.intervals[0].begin_s, self.intervals[-1].end_s)
        first, last = (datetime.fromtimestamp(end, UTC).isoformat(timespec="seconds") for end in ends)
        return f"from {first} to {last}"

    def during(self, run: Run) -> list[NodeCounters]:
        """What passed during each sample of a run; a reading that covers it in part counts in part.

        Samples that no reading covers wholly are left out. The clocks of both machines must agree.
        """
        if run.start is None or not run.start.started:
            return []
        origin_s = datetime.fromisoformat(run.start.started).timestamp()
        found = (self._during(sample, origin_s) for sample in run.samples)
        return [counters for counters in found if counters is not None]

    def _during(self, sample: Sample, origin_s: float) -> NodeCounters | None:
        begin_s = origin_s + sample.start_s
        end_s = begin_s + sample.elapsed_s
        if not self.intervals or begin_s < self.intervals[0].begin_s or end_s > self.intervals[-1].end_s:
            return None
        totals: defaultdict[tuple[str, str], defaultdict[str, float]] = defaultdict(
            lambda: defaultdict(float)
        )
        first = bisect_right(self.intervals, begin_s, key=lambda interval: interval.end_s)
        for interval in takewhile(lambda one: one.begin_s < end_s, islice(self.intervals, first, None)):
            common_s = min(end_s, interval.end_s) - max(begin_s, interval.begin_s)
            if common_s > 0:
                _add(interval.counters, common_s / (interval.end_s - interval.begin_s), totals)
        groups = [
            CounterGroup(source=source, instance=instance, values=values)
            for (source, instance), values in totals.items()
        ]
        return NodeCounters(
            case=sample.case,
            repetition=sample.repetition,
            operation=sample.operation,
            elapsed_s=sample.elapsed_s,
            counters=groups,
        )


def _add(
    groups: Sequence[CounterGroup],
    share: float,
    totals: defaultdict[tuple[str, str], defaultdict[str, float]],
) -> None:
    for group in groups:
        values = totals[group.source, group.instance]
        for name, value in group.values.items():
            if group.source in _LEVELS or name in _LEVELS:
                values[name] = value
            else:
                values[name] += share * value


def observed_files(run_dir: Path) -> list[Path]:
    """The observations of other machines that were kept with a run, by name."""
    return sorted(run_dir.glob("observed-*.jsonl"))


def read_observed(path: Path) -> Observed:
    """Reads a file of `strider observe`, up to its last whole line.

    Raises:
        StriderError: It cannot be read, is something else, or of an unknown version.
    """
    try:
        lines = read_regular(path, MOST_DOCUMENT_BYTES).decode("utf-8").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        raise StriderError(f"cannot read {path}: {error}") from error
    whole = [line for line in lines if line.endswith("\n") and line.strip()]
    head, *documents = list(_documents(path, whole)) or [{}]
    if head.get("format") != "strider-observed":
        raise StriderError(
            f'{path} was not written by strider observe: "format" should be "strider-observed"'
        )
    require_version(path, "strider-observed", head.get("version"), OBSERVED_VERSION)
    first = _validated(path, 1, _Head, head)
    readings = [_validated(path, line, _Line, one) for line, one in enumerate(documents, start=2)]
    intervals = [Interval(line.end_s - line.elapsed_s, line.end_s, line.counters) for line in readings]
    return Observed(first.host, first.interval_s, intervals)


def _documents(path: Path, lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        try:
            document = json_of(printable_json(line))
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise DamagedRunError(f"{path} line {number} is not a JSON object: the file is damaged")
        yield document


def _validated(path: Path, line: int, model: type[_Model], document: dict[str, Any]) -> _Model:
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise invalid(f"{path} line {line}: reading", error) from error
