"""What is shown during a run: a live bar on a terminal, a line every few seconds elsewhere, or nothing."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from strider.launch.state import RunState
from strider.suite import Plan, PlannedCase
from strider.units import format_bytes, format_bytes_rounded, format_rate, format_seconds

REFRESH_S = 0.5
"""As often as the engine reports; a display must not take the processor from what is measured."""
PLAIN_LINE_S = 5.0


class Display(Protocol):
    """Shows the state of a run again and again."""

    def show(self, state: RunState) -> None:
        """Shows the state if it is time to."""

    def close(self) -> None:
        """Leaves the terminal as it was."""


def choose_display(console: Console, plan: Plan, verbosity: Literal["normal", "quiet"]) -> Display:
    """The display that fits the console."""
    if verbosity == "quiet":
        return Silent()
    return Bar(console, plan) if console.is_terminal else Lines(console, plan)


class Silent:
    """Shows nothing."""

    def show(self, state: RunState) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


@dataclass
class Lines:
    """A line every few seconds, for logs and pipes."""

    console: Console
    plan: Plan
    clock: Callable[[], float] = time.monotonic
    _next: float = 0.0

    def show(self, state: RunState) -> None:
        """Prints a line if the last one is old enough."""
        now = self.clock()
        if now < self._next or state.progress is None:
            return
        self._next = now + PLAIN_LINE_S
        parts = [_phases(state), _current(state, self.plan), _rate(state), _left(state)]
        self.console.print("  ".join(part for part in parts if part), highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Nothing is left on the terminal."""


@dataclass
class Bar:
    """A bar with the phases done and, below it, the current phase."""

    console: Console
    plan: Plan
    clock: Callable[[], float] = time.monotonic
    _live: Live = field(init=False)
    _next: float = 0.0

    def __post_init__(self) -> None:
        """Takes the lower end of the terminal."""
        self._live = Live(console=self.console, auto_refresh=False, transient=True)
        self._live.start()

    def show(self, state: RunState) -> None:
        """Draws anew if the last drawing is old enough."""
        now = self.clock()
        if now < self._next:
            return
        self._next = now + REFRESH_S
        self._live.update(self._render(state), refresh=True)

    def close(self) -> None:
        """Removes the bar."""
        self._live.stop()

    def _render(self, state: RunState) -> Group:
        if state.progress is None:
            return Group(Text("starting the ranks …" if state.run is None else "preparing …"))
        top = Table.grid(padding=(0, 1))
        top.add_row(
            ProgressBar(total=1.0, completed=state.fraction, width=40),
            Text(_phases(state)),
            Text(_left(state)),
        )
        details = "  ".join(
            part for part in (_current(state, self.plan), _rate(state), _bytes(state)) if part
        )
        return Group(top, Text(details, no_wrap=True, overflow="ellipsis"))


def case_title(case: PlannedCase) -> str:
    """A case in a few words: `case 3 posix strided 64 KiB, 2 clients`."""
    transfer = case.pattern.get("transfer")
    size = f" {format_bytes(transfer)}" if isinstance(transfer, int) else ""
    clients = f"{case.clients} client{'s' if case.clients > 1 else ''}"
    return f"case {case.case} {case.interface['name']} {case.pattern['name']}{size}, {clients}"


def _phases(state: RunState) -> str:
    progress = state.progress or {}
    return f"{state.done_phases}/{progress.get('planned_phases', 0)} phases"


def _current(state: RunState, plan: Plan) -> str:
    if not state.progress:
        return ""
    number = int(state.progress["case"])
    return f"{case_title(plan.cases[number - 1])}: {state.progress['operation']}"


def _rate(state: RunState) -> str:
    rate = state.rate_mib_s
    return format_rate(rate) if rate else ""


def _bytes(state: RunState) -> str:
    progress = state.progress
    if not progress or not progress["bytes_total"]:
        return ""
    return (
        f"{format_bytes_rounded(progress['bytes_done'])} of {format_bytes_rounded(progress['bytes_total'])}"
    )


def _left(state: RunState) -> str:
    left = state.left_s
    return f"about {format_seconds(max(1.0, left))} left" if left is not None else ""
