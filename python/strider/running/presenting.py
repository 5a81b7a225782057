"""Presents the results of runs: tables, the report, lines on the screen."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from strider import signals
from strider.console import discard_output, echo
from strider.errors import ExitCode, StriderError, in_words
from strider.running.options import RunOptions

if TYPE_CHECKING:
    from rich.console import Console

    from strider.importers.imported import Render
    from strider.launch import Interruptions, Outcome
    from strider.store import Run

MOST_REMARKS = 6
"""Maximum number of remarks and of limits printed after a run."""
_COMPARED = ("interface", "clients", "sharing", "pattern", "transfer")
"""Keys whose values people compare, the first of them that has several is named."""


def present(outcome: "Outcome", options: RunOptions, render: "Render | None", is_shown: bool = True) -> bool:
    """Creates the tables, prints the results if they are to be shown, and writes the report.

    After an interruption only the results are printed: the user waits for the prompt, and the rest can be
    written later. The events are complete at this point, so a failure here does not affect the measurement.

    Returns:
        Whether all steps succeeded, and interfaces read the same values where they were recorded.
    """
    from strider import store
    from strider.report import write_html
    from strider.report.figures.drawing import drawer

    if outcome.exit_code != ExitCode.OK and outcome.samples == 0:
        return True
    path = outcome.directory.path
    loaded = cache(lambda: store.load(path))
    is_derived = options.report and outcome.status != "interrupted"
    steps: list[tuple[str, Callable[[], object]]] = [
        *([("the run's tables", lambda: store.derive(path))] if is_derived else []),
        *([("the results", lambda: _print_results(loaded(), outcome, options, render))] if is_shown else []),
        *([("the report", lambda: write_html([loaded()], outcome.directory.report))] if is_derived else []),
    ]
    complete = True
    for product, produce in steps:
        try:
            produce()
        except BrokenPipeError:
            discard_output()
        except Exception as error:
            complete = False
            said = error.message if isinstance(error, StriderError) else in_words(error)
            _warn(f"error: cannot write {product}: {said}; all measured data is in {path}")
            if isinstance(error, ImportError | MemoryError):
                # The next step needs the same library, which is only partly loaded.
                break
    if drawer().missing:
        _warn(
            f"note: {drawer().missing} figures of the report could not be drawn; the report states the "
            "reasons"
        )
    return complete and not _has_wrong_values(loaded())


def _has_wrong_values(run: "Run") -> bool:
    """Returns whether interfaces read different values of the same data, which the engine cannot see."""
    from strider.report.results.results import Results

    return any(one.different for one in Results(run).value_comparisons)


def in_child(outcome: "Outcome", present: Callable[[], bool], interrupted: "Interruptions") -> bool:
    """Presents the results in a child process, so that a crash does not change the exit code.

    Databases and numerical libraries abort the process when an allocation fails.

    Args:
        outcome: The outcome of the measurement.
        present: Function that the child calls.
        interrupted: Signals, which the child ignores and this process handles: a second one ends the child.

    Returns:
        The result of `present`; False if the child is killed.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _child(present)
    interrupted.on_next = partial(_on_signal, outcome, child)
    if interrupted.received:
        _on_signal(outcome, child, len(interrupted.received))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    interrupted.on_next = None
    if code < 0:
        name = signal.Signals(-code).name
        path = outcome.directory.path
        _warn(
            f"error: the process that writes the results was killed by {name}; all measured data is in {path}"
        )
    return code == 0


def _child(present: Callable[[], bool]) -> NoReturn:
    """Presents the results in the forked child and exits."""
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


def _on_signal(outcome: "Outcome", child: int, count: int) -> None:
    """Handles a signal after the measurement: reports the first, exits on the second.

    Args:
        outcome: The outcome of the measurement.
        child: Process that writes the results.
        count: Number of signals received.
    """
    if count == 1:
        if outcome.status == "interrupted":
            return  # the signal that ended the measurement; it has been reported
        _say(
            "interrupted; the measurement is kept and results are being written; press Ctrl-C again to "
            "exit immediately"
        )
        return
    path = outcome.directory.path
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    # Remove incomplete tables and reports; complete files have their final name.
    for draft in path.glob(".*"):
        draft.unlink(missing_ok=True)
    _say(
        "error: interrupted while writing results; the measurement is kept: write the report with "
        f"strider report {path}"
    )
    # Exit without an exception: a query or a drawing library would delay it.
    os._exit(int(outcome.exit_code or ExitCode.CHECK_FAILED))


def _say(line: str) -> None:
    """Prints a line from a signal handler, where buffered streams must not be used."""
    os.write(sys.stderr.fileno(), f"{line}\n".encode())


def _warn(line: str) -> None:
    for each in line.split("\n"):
        echo(f"strider: {each}", stream=sys.stderr)


def _print_results(run: "Run", outcome: "Outcome", options: RunOptions, render: "Render | None") -> None:
    """Prints the results on stdout: as JSON, formatted by `render`, or as Strider's table."""
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
        sys.stdout.writelines(f"{line}\n" for line in render(run))
    else:
        from strider.console import output

        console = output()
        show(results, console)
        _print_next(run, console)


def _print_next(run: "Run", console: "Console") -> None:
    """Prints the command that compares the values of a key, if one of the usual keys has several."""
    from strider.compare import comparable_keys

    for key in comparable_keys(run):
        if key in _COMPARED:
            line = f"to compare: strider compare {run.id} --by {key}"
            console.print(line, highlight=False, markup=False, soft_wrap=True)
            return


def print_directories(outcome: "Outcome", per_rank: Path | None, console: "Console") -> None:
    """Prints the paths of the run, of its rows of all ranks and of its report."""
    from strider.launch.rank_rows import recorded_phases
    from strider.report.words.wording import plural

    directory = outcome.directory
    console.print(f"run: {directory.path}", highlight=False, markup=False, soft_wrap=True)
    phases = recorded_phases(per_rank) if per_rank else 0
    if phases:
        line = f"rows of all ranks: {per_rank} ({plural(phases, 'phase')})"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if directory.report.exists():
        console.print(f"report: {directory.report}", highlight=False, markup=False, soft_wrap=True)
    elif outcome.samples:
        console.print(
            f"to write the report: strider report {directory.path}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
