"""Common part of `run` and `quick`: from a suite file to results on the screen."""

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from strider import signals
from strider.cli.console import discard_output, echo, error_console
from strider.errors import ExitCode, StriderError, in_words

if TYPE_CHECKING:
    from rich.console import Console

    from strider.engine import Engine, Json
    from strider.importers.imported import Render
    from strider.launch import Bounds, Display, Interruptions, Outcome, Resumption, Watching
    from strider.launch.launchers import Launcher, Places
    from strider.store import Run
    from strider.suite import Changes, CheckedPlan, Plan, Suite
    from strider.suite.document import Document
    from strider.suite.sizes import Sizes

MOST_ERRORS_SHOWN = 10
MOST_REMARKS = 6
_COMPARED = ("interface", "clients", "sharing", "pattern", "transfer")
"""Keys whose values people compare, the first of them that has several is named."""
"""Maximum number of remarks and of limits printed after a run."""


@dataclass(frozen=True)
class RunOptions:
    """Options of a run from the command line.

    Attributes:
        settings: Texts of `--set`.
        target: Directory to measure; None for the suite's target.
        clients: Client counts as typed; None for the suite's.
        launcher: Name of the launcher.
        store: Folder of the run directory; None for the default.
        quiet: Whether to hide progress.
        json: Whether to print JSON instead of a table.
        counters: Which node counters are recorded.
        timeline: Which timelines are recorded.
        timeline_interval: Timeline interval, as typed.
        remount_command: Command that remounts the target, as typed.
        ceilings: Whether the machine's ceilings are measured first.
        observe: Hosts to observe by ssh, as typed, or None.
        observe_engine: Path of the engine on those hosts.
        confine: Whether the ranks are confined.
        within: Directories that may contain the target; empty: any.
        places: Where the ranks may be; None: as the launcher chooses.
        run_id: Id of the run, known before; empty for a new one.
        per_rank: File for the rows of all ranks, or None.
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
    places: "Places | None" = None
    run_id: str = ""
    per_rank: Path | None = None


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
        from strider.cli.capacity import with_arrival_rates

        document = with_arrival_rates(document, options)
    run_document(document, options)


@dataclass(frozen=True)
class Prepared:
    """A checked suite with all that `execute` needs.

    Attributes:
        store: Folder for the run directories.
        sizes: Sizes that the suite left open and Strider chose.
        chosen: A line for each of them.
        resumption: The run to continue; None for a new run.
        run_id: Id of a new run, known before; empty for one with the present time.
        are_ranks_simulated: Whether no I/O is done.
    """

    checked: "CheckedPlan"
    engine: "Engine"
    launcher: "Launcher"
    store: Path
    watched: "Watching"
    remount: "Sequence[str]"
    bounds: "Bounds"
    sizes: "Sizes" = field(default_factory=dict)
    chosen: "Sequence[str]" = ()
    resumption: "Resumption | None" = None
    run_id: str = ""
    are_ranks_simulated: bool = False


def prepare(
    document: "Document",
    options: RunOptions,
    sizes: "Sizes | None" = None,
    earlier: "Run | None" = None,
    adjust: "Callable[[Suite], Suite] | None" = None,
    manifests: "Mapping[int, dict[str, Json]] | None" = None,
) -> Prepared:
    """Checks a suite and the options of its run; probes the target if a size is `auto`.

    Args:
        document: The suite.
        options: Options of the run.
        sizes: Sizes chosen before for this suite; others are chosen here.
        earlier: A run of the suite whose sizes are taken.
        adjust: Changes the plan before it is checked.
        manifests: Manifests of cases with files that stay under a user's names, by the case's number.

    Raises:
        StriderError: One of them is invalid.
    """
    from strider import engine as engines
    from strider.cli.sizing import with_chosen_sizes
    from strider.datasets import bind
    from strider.kept import with_manifests
    from strider.launch import Bounds, Observing, remount_words, watching, wish_of
    from strider.launch.fitting import fitted
    from strider.launch.launchers import Places, choose
    from strider.listing.names import store_of
    from strider.suite.load import build

    watched = watching(
        options.counters,
        options.timeline,
        options.timeline_interval,
        options.ceilings,
        Observing.of(options.observe, options.observe_engine),
        options.per_rank,
    )
    bounds = Bounds(wish_of(options.confine), [path.expanduser().resolve() for path in options.within])
    engine = engines.find()
    suite = bind(with_manifests(build(document, engine.description, changes_of(options)), manifests or {}))
    suite, places = fitted(adjust(suite) if adjust else suite, options.launcher, options.places or Places())
    launcher = choose(options.launcher, engine.version.mpi, places)
    launcher.places.require_all_used(suite.plan.ranks)
    launcher.command(suite.plan.ranks)  # refuses ranks that do not fit
    sized = with_chosen_sizes(suite, engine, options, launcher.reach == "this host", sizes, earlier)
    remount = remount_words(options.remount_command, suite.plan)
    return Prepared(
        sized.checked,
        engine,
        launcher,
        store_of(options.store),
        watched,
        remount,
        bounds,
        sized.sizes,
        sized.sentences,
        run_id=options.run_id,
    )


def changes_of(options: RunOptions) -> "Changes":
    """Returns what the options of a run change in its suite."""
    from strider.suite import Changes

    places = options.places
    return Changes(
        options.settings,
        options.target,
        options.clients,
        places.nodes if places else None,
        places.per_node if places else None,
    )


def display_of(prepared: Prepared, options: RunOptions, console: "Console") -> "Display":
    """Returns the display of the progress of a run."""
    from strider.launch import choose_display

    return choose_display(console, prepared.checked.suite.plan, "quiet" if options.quiet else "normal")


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

    checked, engine, launcher, store = (
        prepared.checked,
        prepared.engine,
        prepared.launcher,
        prepared.store,
    )
    if prepared.are_ranks_simulated:
        return simulate(checked, engine, launcher, store, display, interrupted, prepared.watched)
    return execute(
        checked,
        engine,
        launcher,
        store,
        display,
        notes,
        interrupted,
        prepared.watched,
        prepared.remount,
        prepared.bounds,
        prepared.resumption,
        prepared.run_id,
    )


def tell_sizes(chosen: "Sequence[str]", console: "Console") -> None:
    """Prints a line for each size that Strider chose."""
    for line in chosen:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


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
            _print_directories(outcome, prepared.watched.per_rank, console)
        exit_code = outcome.exit_code if complete else outcome.exit_code or ExitCode.CHECK_FAILED
        sys.stdout.flush()
        # The run is complete: a later signal must not mark it as interrupted.
        interrupted.settle(int(exit_code))
    raise typer.Exit(int(exit_code))


def _heed(outcome: "Outcome", child: int, count: int) -> None:
    """Handles a signal after the measurement: reports the first, exits on the second.

    Args:
        outcome: What was measured.
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
    is_whole = outcome.status != "interrupted"
    steps: list[tuple[str, Callable[[], object]]] = [
        *([("the run's tables", lambda: store.derive(path))] if is_whole else []),
        *([("the results", lambda: _print_results(loaded(), outcome, options, render))] if is_shown else []),
        *([("the report", lambda: write_html([loaded()], outcome.directory.report))] if is_whole else []),
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
        outcome: What was measured.
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
    interrupted.on_next = partial(_heed, outcome, child)
    if interrupted.received:
        _heed(outcome, child, len(interrupted.received))
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
        from strider.cli.console import output

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


def _print_directories(outcome: "Outcome", per_rank: Path | None, console: "Console") -> None:
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
