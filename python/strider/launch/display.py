"""What is shown during a run: a live bar on a terminal, a line every few seconds elsewhere, or nothing."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from strider.launch.state import RunState
from strider.suite import Plan, PlannedCase
from strider.units import (
    format_bytes,
    format_bytes_rounded,
    format_operations_rate,
    format_rate,
    format_seconds,
    grouped,
)

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
class Expendable:
    """Another display, for as long as it works: a terminal that is gone must not end a measurement."""

    display: Display

    def show(self, state: RunState) -> None:
        """Shows the state, or never anything again."""
        try:
            self.display.show(state)
        except (OSError, ValueError):
            self.display = Silent()

    def close(self) -> None:
        """Leaves the terminal as it was, where there still is one."""
        with suppress(OSError, ValueError):
            self.display.close()


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
        if now < self._next or state.current is None:
            return
        self._next = now + PLAIN_LINE_S
        parts = [_phases(state), _current(state, self.plan), _rate(state, self.plan), _left(state)]
        self.console.print("  ".join(part for part in parts if part), highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Nothing is left on the terminal."""


@dataclass
class Bar:
    """A bar with the phases done and, below it, the current phase."""

    console: Console
    plan: Plan
    clock: Callable[[], float] = time.monotonic
    _live: Live | None = None
    _next: float = 0.0

    def show(self, state: RunState) -> None:
        """Draws anew if the last drawing is old enough."""
        now = self.clock()
        if now < self._next:
            return
        self._next = now + REFRESH_S
        if self._live is None:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(self._render(state), refresh=True)

    def close(self) -> None:
        """Removes the bar."""
        if self._live is not None:
            self._live.stop()

    def _render(self, state: RunState) -> Group:
        if state.current is None:
            return Group(Text(state.stage))
        top = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=1.0, completed=state.fraction, width=40)
        top.add_row(bar, Text(_phases(state)), Text(_left(state)))
        parts = (_current(state, self.plan), _rate(state, self.plan), _amount(state, self.plan))
        details = "  ".join(part for part in parts if part)
        return Group(top, Text(details, no_wrap=True, overflow="ellipsis"))


def case_title(case: PlannedCase) -> str:
    """A case in a few words: `case 3 posix strided 64 KiB, 2 clients`, `case 4 posix balanced, 1 client`."""
    transfer = case.pattern.get("transfer")
    size = f" {format_bytes(transfer)}" if isinstance(transfer, int) else ""
    clients = f"{case.clients} client{'s' if case.clients > 1 else ''}"
    return f"case {case.case} {case.interface['name']} {case.shape['name']}{size}, {clients}"


def _phases(state: RunState) -> str:
    return f"{state.samples}/{state.planned_phases} phases"


def _current(state: RunState, plan: Plan) -> str:
    if state.current is None:
        return ""
    return f"{case_title(plan.cases[state.current.case - 1])}: {state.current.operation}"


def _counts_requests(state: RunState, plan: Plan) -> bool:
    """Whether the current phase is one of metadata, which is counted in operations and not in bytes."""
    return state.current is not None and bool(plan.cases[state.current.case - 1].tree)


def _rate(state: RunState, plan: Plan) -> str:
    current = state.current
    if current is None:
        return ""
    if _counts_requests(state, plan):
        return format_operations_rate(current.requests_s) if current.requests_s else ""
    return format_rate(current.rate_mib_s) if current.rate_mib_s else ""


def _amount(state: RunState, plan: Plan) -> str:
    current = state.current
    if current is None:
        return ""
    if _counts_requests(state, plan):
        total = current.requests_total
        return f"{grouped(current.requests_done)} of {grouped(total)}" if total else ""
    if not current.bytes_total:
        return ""
    return f"{format_bytes_rounded(current.bytes_done)} of {format_bytes_rounded(current.bytes_total)}"


def _left(state: RunState) -> str:
    left = state.left_s
    return f"about {format_seconds(max(1.0, left))} left" if left is not None else ""
