"""What `run` and `quick` have in common: from a suite file to results on the screen."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from strider import signals
from strider.errors import ExitCode, StriderError, in_words

if TYPE_CHECKING:
    from rich.console import Console

    from strider.importers.imported import Render
    from strider.launch import Interruptions, Outcome
    from strider.store import Run
    from strider.suite import Plan
    from strider.suite.document import Document

MOST_ERRORS_SHOWN = 10
MOST_REMARKS = 6
"""Sentences on what to know of the results, and on what limits them, that are printed after a run."""


@dataclass(frozen=True)
class RunOptions:
    """What the command line says about a run.

    Attributes:
        settings: Texts of `--set`.
        target: Directory to measure, or None for the suite's.
        clients: Numbers of clients as typed, or None for the suite's.
        launcher: Name of the launcher.
        store: Folder for the run directory, or None for the usual one.
        quiet: Whether to show no progress.
        json: Whether to print JSON instead of a table.
        counters: What nodes count.
        timeline: Whose timelines are kept.
        timeline_interval: Length of their intervals, as typed.
        remount_command: What unmounts and mounts the target, as typed.
        ceilings: Whether the machine's ceilings are measured first.
        observe: Hosts to observe over ssh, as typed, or None.
        observe_engine: The engine over there.
        confine: Whether the ranks are confined.
        within: Directories in one of which the target has to be.
    """

    settings: list[str] = field(default_factory=list)
    target: str | None = None
    clients: str | None = None
    launcher: str = "mpiexec"
    store: Path | None = None
    quiet: bool = False
    json: bool = False
    counters: str = "all"
    timeline: str = "auto"
    timeline_interval: str = "100ms"
    remount_command: str | None = None
    ceilings: str = "all"
    observe: str | None = None
    observe_engine: str = "strider-engine"
    confine: str = "auto"
    within: list[Path] = field(default_factory=list)


def run_suite(file: Path, options: RunOptions) -> None:
    """Runs a suite file; see `run_document`."""
    from strider.suite.document import read

    run_document(read(file), options)


def run_document(document: "Document", options: RunOptions, render: "Render | None" = None) -> None:
    """Runs a suite and prints its results; ends the command with the run's exit code.

    Args:
        document: The suite.
        options: What the command line says.
        render: Shows the results line by line; Strider's own table if None.

    Raises:
        StriderError: The suite is wrong, or the run could not be started.
    """
    from rich.console import Console

    from strider import engine as engines
    from strider.launch import (
        Bounds,
        Observing,
        choose_display,
        execute,
        interruptions,
        remount_words,
        watching,
        wish_of,
    )
    from strider.launch.launchers import choose
    from strider.launch.rundir import store
    from strider.suite import Changes, check
    from strider.suite.load import build

    # Progress and notes go to the error stream, so that the output is the results alone.
    console = Console(stderr=True)
    watched = watching(
        options.counters,
        options.timeline,
        options.timeline_interval,
        options.ceilings,
        Observing.of(options.observe, options.observe_engine),
    )
    bounds = Bounds(wish_of(options.confine), [path.expanduser().resolve() for path in options.within])
    engine = engines.find()
    changes = Changes(options.settings, options.target, options.clients)
    checked = check(build(document, engine.description, changes), engine)
    remount = remount_words(options.remount_command, checked.suite.plan)
    launcher = choose(options.launcher, engine.version.mpi)
    display = choose_display(console, checked.suite.plan, "quiet" if options.quiet else "normal")
    folder = store(options.store)
    with interruptions() as interrupted:
        outcome = execute(
            checked, engine, launcher, folder, display, console, interrupted, watched, remount, bounds
        )
        _print_errors(outcome, checked.suite.plan, console)
        complete = True
        # After an interruption the user waits for the prompt; the report can be drawn at any time.
        if outcome.status != "interrupted":
            complete = _in_child(outcome, partial(_present, outcome, options, render), interrupted)
        _print_directories(outcome, console)
        exit_code = outcome.exit_code if complete else outcome.exit_code or ExitCode.CHECK_FAILED
        sys.stdout.flush()
        # What is done is done: a signal from here on does not make it look interrupted.
        interrupted.settle(int(exit_code))
    raise typer.Exit(int(exit_code))


def _heed(outcome: "Outcome", child: int, count: int) -> None:
    """Heeds a signal that comes when measuring is over: the first one is reported, the second one ends all.

    Args:
        outcome: What was measured.
        child: The process that writes the results.
        count: How many there have been.
    """
    if count == 1:
        _say("interrupted; what was measured is kept, its results are being written; once more ends at once")
        return
    path = outcome.directory.path
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    # Drafts of tables and of the report; what is whole has its name.
    for draft in path.glob(".*"):
        draft.unlink(missing_ok=True)
    _say(f"error: ended at once; what was measured is kept: strider report {path} draws it")
    # Neither a query nor a drawing library would let an exception through at once.
    os._exit(int(outcome.exit_code or ExitCode.CHECK_FAILED))


def _say(line: str) -> None:
    """Prints a line from within a signal handler, where the usual streams may be in the middle of another."""
    os.write(sys.stderr.fileno(), f"{line}\n".encode())


def _print_errors(outcome: "Outcome", plan: "Plan", console: "Console") -> None:
    """Tells why a run did not go as planned."""
    from strider import store as runs
    from strider.launch.messages import messages

    lines = messages(outcome.errors, {case.case: case.clients for case in plan.cases})
    for line in lines[:MOST_ERRORS_SHOWN]:
        console.print(f"error: {line}", style="red", highlight=False, markup=False, soft_wrap=True)
    if len(lines) > MOST_ERRORS_SHOWN:
        rest = len(lines) - MOST_ERRORS_SHOWN
        console.print(
            f"error: and {rest} more, see strider show {outcome.directory.run}", style="red", highlight=False
        )
    if outcome.errors and not outcome.samples:
        # There will be no table to say so.
        from strider.report.words.given_up import given_up

        for sentence in given_up(runs.load(outcome.directory.path)):
            console.print(sentence, style="red", highlight=False, markup=False, soft_wrap=True)
    if outcome.reason:
        text = (
            f"{outcome.reason}; what was measured until then is kept"
            if outcome.samples
            else f"{outcome.reason}; nothing was measured"
        )
        console.print(f"error: {text}", style="red", highlight=False, markup=False, soft_wrap=True)
    if outcome.status == "failed":
        for line in _last_lines(outcome.directory.log):
            console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
    if outcome.leftover:
        console.print(
            f"error: {outcome.leftover}", style="red", highlight=False, markup=False, soft_wrap=True
        )


def _last_lines(log: Path, count: int = 8) -> list[str]:
    """The end of what the engine and MPI printed, without the banner of MPI."""
    from strider.launch.deaths import is_banner

    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return [line for line in lines if not is_banner(line)][-count:]


def _present(outcome: "Outcome", options: RunOptions, render: "Render | None") -> bool:
    """Derives the tables, prints the results, writes the report.

    The events are sealed by then: whatever fails here costs its own product and nothing of the measurement.

    Returns:
        Whether all of it was done.
    """
    from strider import store
    from strider.report import write_html
    from strider.report.figures.drawing import drawer

    if outcome.exit_code != ExitCode.OK and outcome.samples == 0:
        return True
    path = outcome.directory.path
    loaded = cache(lambda: store.load(path))
    steps: list[tuple[str, Callable[[], object]]] = [
        ("the tables of the run", lambda: store.derive(path)),
        ("the results", lambda: _print_results(loaded(), outcome, options, render)),
        ("the report", lambda: write_html([loaded()], outcome.directory.report)),
    ]
    complete = True
    for product, produce in steps:
        try:
            produce()
        except BrokenPipeError:
            raise
        except Exception as error:
            complete = False
            said = error.message if isinstance(error, StriderError) else in_words(error)
            _warn(f"error: {product} could not be written: {said}; the measurement is complete in {path}")
            if isinstance(error, ImportError | MemoryError):
                # The next step would need the same library, and half of it is loaded now.
                break
    if drawer().missing:
        _warn(f"note: {drawer().missing} figures of the report could not be drawn; it says why")
    return complete


def _in_child(outcome: "Outcome", present: Callable[[], bool], interrupted: "Interruptions") -> bool:
    """Presents the results in a process of its own, whose death costs no exit code of the measurement.

    Databases and numerical libraries end the process where they get no memory.

    Args:
        outcome: What was measured.
        present: What the process does.
        interrupted: Signals, which the process leaves to this one: a second one ends it.

    Returns:
        What `present` returns; False where the process dies.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _child(present)
    interrupted.on_next = partial(_heed, outcome, child)
    if interrupted.received:
        _heed(outcome, child, len(interrupted.received))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    interrupted.on_next = None
    if code < 0:
        name = signal.Signals(-code).name
        path = outcome.directory.path
        _warn(f"error: {name} ended the writing of results; the measurement is complete in {path}")
    return code == 0


def _child(present: Callable[[], bool]) -> NoReturn:
    """The process that presents the results; it never returns into the program it was copied from."""
    for number in signals.ENDING:
        signal.signal(number, signal.SIG_IGN)
    code = 1
    try:
        code = 0 if present() else 1
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = 0
    finally:
        os._exit(code)


def _warn(line: str) -> None:
    print(f"strider: {line}", file=sys.stderr)


def _print_results(run: "Run", outcome: "Outcome", options: RunOptions, render: "Render | None") -> None:
    """Prints the results on the output: as JSON, as `render` has it, or as Strider's own table."""
    from strider.report import document_of, show
    from strider.report.results.results import Results

    directory = outcome.directory
    results = Results(run, most_remarks=MOST_REMARKS)
    if options.json:
        from strider.engine import to_json

        head = {"run": directory.run, "directory": str(directory.path), "status": outcome.status}
        exit_code = {"exit_code": int(outcome.exit_code)}
        sys.stdout.write(to_json({**head, **exit_code, **document_of(results, ["", "limits"])}))
    elif render:
        for line in render(run):
            print(line)
    else:
        from strider.cli.console import output

        show(results, output())


def _print_directories(outcome: "Outcome", console: "Console") -> None:
    """Tells where everything is."""
    directory = outcome.directory
    console.print(f"run: {directory.path}", highlight=False, markup=False, soft_wrap=True)
    if directory.report.exists():
        console.print(f"report: {directory.report}", highlight=False, markup=False, soft_wrap=True)
    elif outcome.samples:
        console.print(
            f"report: strider report {directory.path}", highlight=False, markup=False, soft_wrap=True
        )
