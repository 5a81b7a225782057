"""Performs prepared runs, and prints their errors."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from strider.running.options import RunOptions
from strider.running.prepared import Prepared

if TYPE_CHECKING:
    from rich.console import Console

    from strider.launch import Display, Interruptions, Outcome
    from strider.suite import Plan

MOST_ERRORS_SHOWN = 10


def perform(
    prepared: Prepared,
    display: "Display",
    console: "Console",
    interrupted: "Interruptions",
    notes: "Console | None" = None,
) -> "Outcome":
    """Runs a prepared suite and prints its errors.

    Args:
        prepared: The suite.
        display: Shows the progress.
        console: Receives errors.
        interrupted: Signals received.
        notes: Receives the notes of the pre-flight checks; None for the console.
    """
    outcome = _execute(prepared, display, notes or console, interrupted)
    _print_errors(outcome, prepared.checked.suite.plan, console)
    return outcome


def _execute(
    prepared: Prepared, display: "Display", notes: "Console", interrupted: "Interruptions"
) -> "Outcome":
    """Runs a prepared suite on its target, or with simulated ranks."""
    from strider.launch import execute, simulate

    if prepared.are_ranks_simulated:
        return simulate(prepared.inputs, display, interrupted)
    return execute(prepared.inputs, display, notes, interrupted)


def display_of(prepared: Prepared, options: RunOptions, console: "Console") -> "Display":
    """Returns the display of the progress of a run."""
    from strider.launch import choose_display

    return choose_display(console, prepared.checked.suite.plan, "quiet" if options.quiet else "normal")


def tell_sizes(chosen: "Sequence[str]", console: "Console") -> None:
    """Prints a line for each size that Strider chose."""
    for line in chosen:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _print_errors(outcome: "Outcome", plan: "Plan", console: "Console") -> None:
    """Prints the errors of a run."""
    from strider import store as runs
    from strider.launch.messages import messages

    lines = messages(outcome.errors, {case.case: case.clients for case in plan.cases})
    for line in lines[:MOST_ERRORS_SHOWN]:
        console.print(f"error: {line}", style="red", highlight=False, markup=False, soft_wrap=True)
    if len(lines) > MOST_ERRORS_SHOWN:
        rest = len(lines) - MOST_ERRORS_SHOWN
        console.print(
            f"error: {rest} more errors, see strider show {outcome.directory.run}",
            style="red",
            highlight=False,
        )
    if outcome.errors and not outcome.samples:
        # Without samples there is no table to show these.
        from strider.report.words.given_up import given_up

        for sentence in given_up(runs.load(outcome.directory.path)):
            console.print(sentence, style="red", highlight=False, markup=False, soft_wrap=True)
    if outcome.reason:
        text = (
            f"{outcome.reason}; results up to this point are kept"
            if outcome.samples
            else f"{outcome.reason}; there are no results"
        )
        console.print(f"error: {text}", style="red", highlight=False, markup=False, soft_wrap=True)
    if outcome.status == "failed":
        for line in last_lines(outcome.directory.log):
            console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
    if outcome.leftover:
        console.print(
            f"error: {outcome.leftover}", style="red", highlight=False, markup=False, soft_wrap=True
        )


def last_lines(log: Path, count: int = 8) -> list[str]:
    """Returns the last lines that the engine and MPI printed, without MPI's banner."""
    from strider.launch.deaths import is_banner

    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return [line for line in lines if not is_banner(line)][-count:]
