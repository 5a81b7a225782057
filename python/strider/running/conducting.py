"""Runs a suite: from its file to results on the screen."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from strider.console import error_console
from strider.errors import ExitCode
from strider.running.options import RunOptions
from strider.running.performing import display_of, perform, tell_sizes
from strider.running.prepared import Prepared
from strider.running.presenting import in_child, present, print_directories
from strider.running.sizing import prepare

if TYPE_CHECKING:
    from strider.engine import Json
    from strider.importers.imported import Render
    from strider.suite.document import Document


def run_suite(file: Path, options: RunOptions, find_capacity: bool = False) -> None:
    """Runs a suite file; see `run_document`.

    Args:
        file: The suite.
        options: Options from the command line.
        find_capacity: Whether to choose the arrival rates by a short closed loop of each case.
    """
    from strider.suite.document import read

    document = read(file)
    if find_capacity:
        from strider.running.capacity import with_arrival_rates

        document = with_arrival_rates(document, options)
    run_document(document, options)


def run_document(
    document: "Document",
    options: RunOptions,
    render: "Render | None" = None,
    is_brief: bool = False,
    manifests: "Mapping[int, dict[str, Json]] | None" = None,
) -> None:
    """Runs a suite, prints its results and exits with the run's exit code.

    Args:
        document: The suite.
        options: Options from the command line.
        render: Formats the results as lines; None for Strider's table.
        is_brief: Whether to omit the notes of the pre-flight checks and the paths of the run.
        manifests: Manifests of cases with files that stay under a user's names, by the case's number.

    Raises:
        StriderError: The suite is invalid, or the run cannot be started.
    """
    # Progress and notes go to stderr, so that stdout contains only results.
    console = error_console()
    prepared = prepare(document, options, manifests=manifests)
    tell_sizes(prepared.chosen, console)
    conduct(prepared, options, render, is_brief)


def conduct(
    prepared: Prepared, options: RunOptions, render: "Render | None" = None, is_brief: bool = False
) -> NoReturn:
    """Runs a prepared suite, prints its results and exits with the run's exit code; see `run_document`."""
    from strider.launch import interruptions

    console = error_console()
    display = display_of(prepared, options, console)
    with interruptions() as interrupted:
        notes = error_console(quiet=True) if is_brief else None
        outcome = perform(prepared, display, console, interrupted, notes)
        complete = in_child(outcome, partial(present, outcome, options, render), interrupted)
        if not is_brief:
            print_directories(outcome, prepared.inputs.watching.per_rank, console)
        exit_code = outcome.exit_code if complete else outcome.exit_code or ExitCode.CHECK_FAILED
        sys.stdout.flush()
        # The run is complete: a later signal must not mark it as interrupted.
        interrupted.settle(int(exit_code))
    raise typer.Exit(int(exit_code))
