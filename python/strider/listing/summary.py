"""The summary of a run in a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SEARCHED = "id, target, host, status, interfaces, patterns, trees, operations, headline, tags and note"
"""Fields that a search of runs looks at (`RunSummary.has`)."""


@dataclass(frozen=True)
class TimeLimitCut:
    """The part of a run that a time limit cut.

    Attributes:
        limit_s: The time limit, seconds.
        fewest: Fewest measured repetitions of a case that the limit ended.
        most: Most measured repetitions of such a case.
        planned: Most repetitions that such a case would have had without the limit.
        cases: Number of such cases.
        cases_without: Number of such cases without any measured repetition.
    """

    limit_s: float
    fewest: int
    most: int
    planned: int
    cases: int
    cases_without: int


@dataclass(frozen=True)
class RunSummary:
    """A run in a list of runs.

    Attributes:
        status: `complete`, `interrupted`, `failed`, `unfinished` (active, or killed) or `unreadable`.
        cases: Number of cases in the plan; None where the run's check is missing.
        samples: Number of phases executed, as the last event says; None for a run without one.
        errors: Number of errors reported, likewise.
        damage: Of an unreadable run, its damage.
        time_limit: Repetitions that the time limit left out; None if it left out none.
        starts: Number of starts; more than 1 for a run that was resumed.
        signal: Name of the signal that interrupted it; empty if none did.
        took_s: From start to end, seconds; None where one is not known.
        interfaces: Those of its plan.
        patterns: Patterns and trees of its plan.
        operations: Those of its plan.
        headline: The answer of its report in one line; empty without a report.
        tags: Words that a user gave it.
        note: Text that a user gave it.
    """

    run: str
    directory: Path
    suite: str
    status: str
    started: str = ""
    ended: str | None = None
    exit_code: int | None = None
    host: str = ""
    target: str = ""
    cases: int | None = None
    samples: int | None = None
    errors: int | None = None
    damage: str = ""
    time_limit: TimeLimitCut | None = None
    starts: int = 1
    signal: str = ""
    took_s: float | None = None
    interfaces: Sequence[str] = ()
    patterns: Sequence[str] = ()
    operations: Sequence[str] = ()
    headline: str = ""
    tags: Sequence[str] = ()
    note: str = ""

    @property
    def condition(self) -> str:
        """The status; but `errors` for a run that is complete with errors, `failed` if it has nothing else.

        It decides how a list shows the run: no run with errors looks like success.
        """
        if self.status != "complete" or not self.errors:
            return self.status
        return "errors" if self.samples else "failed"

    @property
    def shown_status(self) -> str:
        """The status in words, with the number of errors and starts, and whether the time limit ended it."""
        words = status_words(self.status, self.samples or 0, self.errors or 0)
        starts = f", {self.starts} starts" if self.starts > 1 else ""
        return f"{words}{', time limit' if self.time_limit else ''}{starts}"

    def has(self, words: Sequence[str]) -> bool:
        """Returns whether all words are found in it, in any case.

        `SEARCHED` lists the searched fields.
        """
        texts = (self.run, self.target, self.host, self.status, self.shown_status, self.headline, self.note)
        of_cases = (*self.interfaces, *self.patterns, *self.operations)
        searched = " ".join((*texts, *of_cases, *self.tags)).casefold()
        return all(word.casefold() in searched for word in words)


def status_words(status: str, samples: int, errors: int) -> str:
    """The status of a run in words; no run with errors is just complete.

    Args:
        status: The status.
        samples: Number of phases measured.
        errors: Number of errors reported.
    """
    if not errors:
        return status
    counted = f"{errors} error{'s' if errors > 1 else ''}"
    if status != "complete":
        return f"{status}, {counted}"
    return f"ended with {counted}" if samples else f"nothing measured, {counted}"
