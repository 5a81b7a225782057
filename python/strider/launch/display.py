"""Progress of a run: a live table on a terminal, a line every few seconds elsewhere, or nothing."""

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

from strider.launch.state import CurrentPhase, RunState
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
"""Update interval in seconds, as often as the engine reports, to leave the CPU to the ranks."""
PLAIN_LINE_S = 5.0

OPERATION_WIDTH = 9
RATE_WIDTH = 12
BAR_WIDTH = 12
AMOUNT_WIDTH = 24
"""Column widths, fixed so that the table does not move when numbers grow."""
WIDE = 110
"""Terminal width from which amounts fit beside the bars; the maximum table width."""
LINES_BESIDE = 5
"""Terminal lines not available for completed phases: header, current phase, footer, output above."""


class Display(Protocol):
    """Shows the state of a run."""

    def show(self, state: RunState) -> None:
        """Shows the state if an update is due."""

    def close(self) -> None:
        """Restores the terminal."""


def choose_display(console: Console, plan: Plan, verbosity: Literal["normal", "quiet"]) -> Display:
    """Returns the display for a console."""
    if verbosity == "quiet":
        return Silent()
    return LiveTable(console, plan) if console.is_terminal else Lines(console, plan)


class Silent:
    """Shows nothing."""

    def show(self, state: RunState) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


@dataclass
class Expendable:
    """A wrapper that ignores errors of a display: a closed terminal must not end a measurement."""

    display: Display

    def show(self, state: RunState) -> None:
        """Shows the state; after an error, shows nothing further."""
        try:
            self.display.show(state)
        except (OSError, ValueError):
            self.display = Silent()

    def close(self) -> None:
        """Restores the terminal if it still exists."""
        with suppress(OSError, ValueError):
            self.display.close()


@dataclass
class Lines:
    """Prints a line every few seconds, for logs and pipes."""

    console: Console
    plan: Plan
    clock: Callable[[], float] = time.monotonic
    _next: float = 0.0

    def show(self, state: RunState) -> None:
        """Prints a line if an update is due."""
        now = self.clock()
        if now < self._next or state.current is None:
            return
        self._next = now + PLAIN_LINE_S
        phase = state.current
        parts = [_phases(state), _title(phase, self.plan), _rate(phase, self.plan), _left(state)]
        self.console.print("  ".join(part for part in parts if part), highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Does nothing: no terminal state to restore."""


@dataclass
class LiveTable:
    """Shows the latest phases and the current one with rates, and the progress of the run."""

    console: Console
    plan: Plan
    clock: Callable[[], float] = time.monotonic
    _live: Live | None = None
    _next: float = 0.0

    def show(self, state: RunState) -> None:
        """Redraws if an update is due."""
        now = self.clock()
        if now < self._next:
            return
        self._next = now + REFRESH_S
        if self._live is None:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(self._render(state), refresh=True)

    def close(self) -> None:
        """Removes the table."""
        if self._live is not None:
            self._live.stop()

    def _render(self, state: RunState) -> Group:
        if state.current is None:
            return Group(Text(state.stage))
        return Group(self._phases(state), self._foot(state))

    def _phases(self, state: RunState) -> Table:
        width = min(self.console.width, WIDE)
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, width=width, header_style="bold")
        table.add_column("case", no_wrap=True, justify="right")
        table.add_column("", no_wrap=True, overflow="ellipsis", ratio=1)
        table.add_column("clients", no_wrap=True, justify="right")
        table.add_column("operation", no_wrap=True, min_width=OPERATION_WIDTH)
        table.add_column("rate", no_wrap=True, justify="right", min_width=RATE_WIDTH)
        table.add_column("", no_wrap=True, min_width=self._progress_width)
        # A table higher than the terminal cannot be redrawn.
        room = max(0, self.console.height - LINES_BESIDE)
        is_running = state.current is not None and state.current not in state.recent
        done = list(state.recent)[-room:] if room else []
        for phase in done:
            table.add_row(*self._row(phase), "done", style="dim")
        if is_running and state.current:
            table.add_row(*self._row(state.current), self._progress(state.current))
        return table

    def _row(self, phase: CurrentPhase) -> list[Text]:
        case = self.plan.cases[phase.case - 1]
        cells = (case.case, _what(case), case.clients, phase.operation, _rate(phase, self.plan))
        return [Text(str(cell)) for cell in cells]

    @property
    def _progress_width(self) -> int:
        return BAR_WIDTH + (AMOUNT_WIDTH if self.console.width >= WIDE else 0)

    def _progress(self, phase: CurrentPhase) -> Table:
        progress = Table.grid(padding=(0, 1))
        amount = [Text(_amount(phase, self.plan))] if self.console.width >= WIDE else []
        progress.add_row(ProgressBar(total=1.0, completed=phase.share, width=BAR_WIDTH), *amount)
        return progress

    def _foot(self, state: RunState) -> Table:
        foot = Table.grid(padding=(0, 1))
        errors = len(state.errors)
        parts = [
            _phases(state),
            f"{format_seconds(max(1.0, round(state.elapsed_s)))} elapsed",
            _left(state),
            f"{errors} error{'s' if errors > 1 else ''}" if errors else "",
        ]
        style = "red" if errors else ""
        words = Text(
            " · ".join(part for part in parts if part), style=style, no_wrap=True, overflow="ellipsis"
        )
        foot.add_row(ProgressBar(total=1.0, completed=state.fraction, width=BAR_WIDTH), words)
        return foot


def case_title(case: PlannedCase) -> str:
    """Returns a short title of a case: `case 3 posix strided 64 KiB, 2 clients`."""
    return f"case {case.case} {_what(case)}, {case.clients} client{'s' if case.clients > 1 else ''}"


def _what(case: PlannedCase) -> str:
    transfer = case.pattern.get("transfer")
    size = f" {format_bytes(transfer)}" if isinstance(transfer, int) else ""
    return f"{case.interface['name']} {case.shape['name']}{size}"


def _phases(state: RunState) -> str:
    return f"{state.samples}/{state.planned_phases} phases"


def _title(phase: CurrentPhase, plan: Plan) -> str:
    return f"{case_title(plan.cases[phase.case - 1])}: {phase.operation}"


def _counts_requests(phase: CurrentPhase, plan: Plan) -> bool:
    """Returns whether a phase is a metadata phase, whose progress is counted in operations."""
    return bool(plan.cases[phase.case - 1].tree)


def _rate(phase: CurrentPhase, plan: Plan) -> str:
    if _counts_requests(phase, plan):
        return format_operations_rate(phase.requests_s) if phase.requests_s else ""
    return format_rate(phase.rate_mib_s) if phase.rate_mib_s else ""


def _amount(phase: CurrentPhase, plan: Plan) -> str:
    if _counts_requests(phase, plan):
        total = phase.requests_total
        return f"{grouped(phase.requests_done)} of {grouped(total)}" if total else ""
    if not phase.bytes_total:
        return ""
    return f"{format_bytes_rounded(phase.bytes_done)} of {format_bytes_rounded(phase.bytes_total)}"


def _left(state: RunState) -> str:
    left = state.left_s
    return f"about {format_seconds(max(1.0, left))} left" if left is not None else ""
