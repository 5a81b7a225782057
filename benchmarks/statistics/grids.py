"""Tables of shares, their limits, and progress with the time left."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Share:
    """How often something happened in trials."""

    hits: int
    trials: int

    @property
    def value(self) -> float:
        """The share, 0 to 1."""
        return self.hits / self.trials if self.trials else math.nan

    @property
    def error(self) -> float:
        """Standard error of a share, at least that of one hit."""
        p = min(max(self.value, 1 / max(self.trials, 1)), 1 - 1 / max(self.trials, 1))
        return math.sqrt(p * (1 - p) / self.trials) if self.trials else math.nan

    @property
    def percent(self) -> str:
        """In percent: `5.2`, `98`, `100`."""
        value = 100 * self.value
        if math.isnan(value):
            return "–"
        return f"{value:.1f}" if 0 < value < 9.95 or 90.05 < value < 100 else f"{value:.0f}"

    def is_above(self, limit: float) -> bool:
        """Whether it is above a limit by more than chance (three standard errors)."""
        return self.value - 3 * self.error > limit

    def is_below(self, limit: float) -> bool:
        """Whether it is below a limit by more than chance."""
        return self.value + 3 * self.error < limit


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes:
        title: Its heading.
        about: The simulation, and the meaning of the numbers.
        heads: Of the columns.
        claims: Sentences on what does not hold, with the command that shows it.
    """

    title: str
    about: str
    heads: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """For the manual."""
        lines = [f"## {self.title}", "", self.about, "", _row(self.heads), _row(["---"] * len(self.heads))]
        return "\n".join([*lines, *(_row([_escaped(cell) for cell in row]) for row in self.rows), ""])

    def text(self, width: int = 80) -> str:
        """For a terminal; the first column is cut so that a row fits."""
        cells = [list(self.heads), *self.rows]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.heads))]
        left = width - sum(widths[1:]) - 2 * (len(widths) - 1)
        widths[0] = min(widths[0], max(left, 12))
        lines = [
            "  ".join(
                row[k][: widths[k]].ljust(widths[k]) if k == 0 else row[k].rjust(widths[k])
                for k in range(len(row))
            )
            for row in cells
        ]
        return "\n".join([self.title, *(line[:width] for line in lines), ""])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("<", "&lt;")


class Progress:
    """Prints how much is done and the time left, on one line of standard error.

    Args:
        total: Work of the part, in units of its own steps; an estimate.
        quiet: Print nothing.
        began: When the first part began (`time.monotonic`).
        before: Work of the parts before.
        everything: Work of all parts.
    """

    def __init__(
        self,
        total: float = 1.0,
        quiet: bool = False,
        began: float | None = None,
        before: float = 0.0,
        everything: float | None = None,
    ) -> None:
        self.total, self.quiet, self.before = total, quiet, before
        self.began = time.monotonic() if began is None else began
        self.everything = everything or total
        self.steps, self.done, self._said = 0.0, 0.0, 0.0

    def expect(self, steps: float) -> None:
        """How many steps the part takes in all."""
        self.steps = steps

    def step(self, what: str, amount: float = 1.0) -> None:
        """More of the work is done."""
        self.done += amount
        now = time.monotonic()
        if self.quiet or now - self._said < (0.5 if sys.stderr.isatty() else 30):
            return
        self._said = now
        own = min(1.0, self.done / self.steps) if self.steps else 0.0
        share = max(1e-6, (self.before + own * self.total) / self.everything)
        left_s = (now - self.began) * (1 - share) / share
        line = f"{100 * share:3.0f} %, {left_s / 60:.0f} min left: {what}"[:78]
        sys.stderr.write(f"\r{line:<78}" if sys.stderr.isatty() else f"{line}\n")
        sys.stderr.flush()
