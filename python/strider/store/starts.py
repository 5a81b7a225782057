"""The starts of a run that was cut and resumed, with the measurements of each."""

from __future__ import annotations

import math
from dataclasses import dataclass

from strider.store.model import Cut, Run, Sample


@dataclass(frozen=True)
class Span:
    """A start of a run, until its cut or its end.

    Attributes:
        number: From 1.
        began: Time of its first event, in UTC; empty if no rank started.
        elapsed_s: From its first to its last event, seconds; NaN if it is unknown.
        cut: What ended it; None for the last start.
        end: Why it ended, in words: `interrupted: SIGTERM`, `time limit`, `end of the plan`.
        pause_s: Until the next start, seconds; NaN for the last one.
        samples: Its measurements, warm-up included.
    """

    number: int
    began: str
    elapsed_s: float
    cut: Cut | None
    end: str
    pause_s: float
    samples: list[Sample]

    @property
    def repetitions(self) -> int:
        """Number of repetitions in it, warm-up included."""
        return len({(sample.case, sample.repetition, sample.warmup) for sample in self.samples})

    @property
    def cases(self) -> list[int]:
        """Numbers of the cases that it measured, ascending."""
        return sorted({sample.case for sample in self.samples})


def spans(run: Run) -> list[Span]:
    """Returns the starts of a run in their order; one for a run that was never resumed."""
    count = max(len(run.starts), len(run.cuts) + 1)
    return [_span(run, number) for number in range(1, count + 1)]


def _span(run: Run, number: int) -> Span:
    start = run.starts[number - 1] if number <= len(run.starts) else None
    following = run.starts[number] if number < len(run.starts) else None
    cut = run.cuts[number - 1] if number <= len(run.cuts) else None
    samples = [sample for sample in run.samples if sample.start == number]
    begin_s = start.time_s if start else math.nan
    end_s = cut.time_s if cut else run.end.time_s if run.end else math.nan
    pause_s = following.time_s - end_s if following else math.nan
    began = start.started if start else ""
    return Span(number, began, end_s - begin_s, cut, _end(run, cut), pause_s, samples)


def _end(run: Run, cut: Cut | None) -> str:
    if cut is not None:
        return _in_words(cut.status, cut.reason)
    if run.status == "complete":
        return "end of the plan"
    return _in_words(run.status, run.info.signal or (run.end.reason if run.end else ""))


def _in_words(status: str, reason: str) -> str:
    words = {"killed": "killed, or cut by a power failure", "unfinished": "still active, or killed"}
    said = words.get(status, status)
    return f"{said}: {reason}" if reason and reason != status else said
