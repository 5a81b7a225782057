"""Runs a plan: everything between a checked plan and a sealed run directory."""

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from rich.console import Console

from strider import __version__
from strider.engine import Engine, Json
from strider.errors import ExitCode
from strider.launch import folder, rundir
from strider.launch.confinement import Confinement, Needs, Wish, confinement
from strider.launch.deaths import cause_of_death, end_of
from strider.launch.display import Display, Expendable
from strider.launch.launchers import Launcher
from strider.launch.machine import environment
from strider.launch.observers import observers
from strider.launch.preflight import check_target, preflight, raise_errors
from strider.launch.process import EngineProcess, Interruptions, start
from strider.launch.rundir import RunDirectory
from strider.launch.state import RunState
from strider.launch.tail import Event, Tail, close_events
from strider.launch.target import open_target
from strider.launch.watching import Watching
from strider.listio import reaches_into_servers, require_answers, temporary_volume
from strider.suite import CheckedPlan, Plan
from strider.suite.estimate import planned_phases

GRACE_S = 1.2
"""Time the ranks have to end by themselves after an interruption."""
REMOUNT_S = 120.0
"""No remount is ended in the middle: it ends by itself, or the engine ends it after this time."""
STALL_MARGIN_S = 30.0
"""The engine itself reports a stall; only if it cannot even do that, it is killed this much later."""
POLL_S = 0.1
STOPPING_POLL_S = 0.02
_VOLUME = "strider listio serve DIR starts a volume that stays"

Status = Literal["complete", "interrupted", "failed"]
Cause = Literal["itself", "interruption", "stall", "failure"]


@dataclass(frozen=True)
class Bounds:
    """What a run may touch.

    Attributes:
        confine: Whether the ranks are kept to it by the kernel.
        within: Directories in one of which the target has to be, real paths; empty: anywhere.
    """

    confine: Wish = "auto"
    within: Sequence[Path] = ()


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes:
        directory: Its run directory.
        status: Whether it went to its end.
        exit_code: The exit code that says so.
        reason: Why it did not, empty if it did.
        errors: The error events.
        samples: Number of phases measured.
        leftover: Why Strider's folder could not be removed, or None.
    """

    directory: RunDirectory
    status: Status
    exit_code: ExitCode
    reason: str
    errors: list[Event]
    samples: int
    leftover: str | None


@dataclass(frozen=True)
class _Ending:
    """How the engine's process ended: its exit code, and why it was ended from here if it was.

    Attributes:
        returncode: Exit status of the launcher, None where it cannot be told.
        cause: Why it ended; `failure` is one of this side, which could follow the events no longer.
        failure: That failure in words.
    """

    returncode: int | None
    cause: Cause
    failure: str = ""


@dataclass(frozen=True)
class _Limits:
    """How long the engine may take.

    Attributes:
        stall_s: Without any event.
        grace_s: To end by itself after an interruption.
    """

    stall_s: float
    grace_s: float


def execute(
    checked: CheckedPlan,
    engine: Engine,
    launcher: Launcher,
    store: Path,
    display: Display,
    console: Console,
    interrupted: Interruptions,
    watching: Watching | None = None,
    remount: Sequence[str] = (),
    bounds: Bounds | None = None,
) -> Outcome:
    """Runs a plan on the target that it names.

    Args:
        checked: The plan and what it needs.
        engine: The engine.
        launcher: How its ranks are started.
        store: Where the run directory is made.
        display: Shows the progress.
        console: Takes the notes of the pre-flight checks.
        interrupted: Signals that ask for the end: the first one ends measuring, a second one the engine.
        watching: What the engine takes down beside the results; None for the usual.
        remount: What unmounts and mounts the target before cold reads, word by word; empty: nothing does.
        bounds: What the run may touch; None: what it is by default.

    Raises:
        StriderError: The run could not be started; nothing is left behind in the target.
    """
    plan = checked.suite.plan
    watching, bounds = watching or Watching(), bounds or Bounds()
    note = partial(_note, console)
    target = _examine(checked, engine, launcher, note)
    started = datetime.now(UTC)
    run = rundir.new_run_id(plan.suite.name, started)
    info = _run_info(checked, engine, launcher, target, started)
    display = Expendable(display)
    with (
        observers(watching.observing, store, note) as observed,
        _own_folder(target, run, bounds, remount) as own,
    ):
        try:
            text = checked.suite.document.text
            directory = rundir.create(store, run, plan.to_json(), text, engine.description, info)
            for observer in observed:
                observer.move(directory.path)
            state = RunState(planned_phases(checked), watching.ceilings)
            with (
                temporary_volume(plan, engine, own.path, _transport(bounds)) as servers,
                confinement(
                    bounds.confine, engine, launcher, _needs(plan, own, directory, remount)
                ) as confined,
            ):
                if servers:
                    note(f"started {servers} list-I/O servers for this run: {_VOLUME}")
                if confined.reason and bounds.confine == "auto":
                    note(f"not confined: {confined.reason}")
                program = _program(engine, directory, own.path, watching, remount, confined)
                process = start(launcher, plan.ranks, program, directory.log, confined)
                limits = _Limits(_stall_limit_s(plan), GRACE_S + (REMOUNT_S if remount else 0.0))
                ending = _attend(process, state, directory, interrupted, limits, display)
            _tell_confinement(state, confined, note)
        finally:
            display.close()
            leftover = folder.remove(own)
        try:
            return _conclude(directory, state, ending, leftover)
        except OSError as error:
            raise rundir.cannot_write(directory, error) from error


@contextmanager
def _own_folder(target: Path, run: str, bounds: Bounds, remount: Sequence[str]) -> Iterator[folder.Folder]:
    """Makes the run's folder in the target, which stays open until the end of the run; does not remove it."""
    with ExitStack() as stack:
        opened = open_target(target, bounds.within)
        stack.callback(os.close, opened)
        own = folder.create(target, run, opened)
        if remount:
            stack.close()  # a file system with an open directory cannot be unmounted
            own = replace(own, inode=None, target=None)
        yield own


def _transport(bounds: Bounds) -> str:
    """Of list-I/O servers that are started for a run: confined ranks reach them over sockets only."""
    return "tcp" if bounds.confine == "require" else "auto"


def _needs(plan: Plan, own: folder.Folder, directory: RunDirectory, remount: Sequence[str]) -> Needs:
    """What the ranks of a run have to be able to do."""
    reaches = reaches_into_servers(plan, own.path)
    try:
        directory.events.touch()  # a rank may write to this file, and make none beside it
    except OSError as error:
        raise rundir.cannot_write(directory, error) from error
    return Needs(own, [directory.events], remount, "memory of servers" if reaches else "")


def _tell_confinement(state: RunState, confined: Confinement, note: Callable[[str], None]) -> None:
    """Says what only the ranks could find out: that they are not confined as was meant."""
    if not confined.reason and state.confinement.get("state", "full") != "full":
        note(f"confined {state.confinement['state']}: {state.confinement['missing']}")


def _examine(checked: CheckedPlan, engine: Engine, launcher: Launcher, note: Callable[[str], None]) -> Path:
    """Checks everything that can be checked before the run; the target."""
    target = check_target(checked.suite.plan.target)
    findings = preflight(checked, engine.description, target, launcher)
    raise_errors(findings)
    require_answers(checked.suite.plan, engine, target)
    for finding in findings:
        note(f"{finding.message}: {finding.remedy}")
    return target


def _note(console: Console, text: str) -> None:
    """A remark: by words on a terminal, on one line in a log."""
    console.print(f"note: {text}", highlight=False, markup=False, soft_wrap=not console.is_terminal)


def _program(
    engine: Engine,
    directory: RunDirectory,
    own: Path,
    watching: Watching,
    remount: Sequence[str],
    confined: Confinement,
) -> list[str]:
    """The engine's command line."""
    options = {
        "--directory": str(own),
        "--run": directory.run,
        # Drawn anew for each run, so that data left over from another one is never mistaken for this one's.
        "--data-seed": str(secrets.randbits(63)),
        "--events": str(directory.events),
        "--marker": "required",
    }
    pairs = [*options.items(), *(("--remount", word) for word in remount)]
    words = [word for option in pairs for word in option]
    return [
        str(engine.path.resolve()),
        "run",
        str(directory.plan),
        *words,
        *watching.words(),
        *confined.options,
    ]


def _attend(
    process: EngineProcess,
    state: RunState,
    directory: RunDirectory,
    interrupted: Interruptions,
    limits: _Limits,
    display: Display,
) -> _Ending:
    """Stays with the engine until it is gone for certain, whatever happens on this side."""
    failure = ""
    cause: Cause = "failure"
    try:
        cause = _follow(process, state, directory, interrupted, limits, display)
    except (OSError, ValueError, LookupError, TypeError) as error:
        failure = f"the events in {directory.events} cannot be followed ({type(error).__name__}: {error})"
    finally:
        # Also after its end by itself: the launcher may be gone before the last of what it started.
        process.kill()
    return _Ending(process.returncode, cause, failure)


def _follow(
    process: EngineProcess,
    state: RunState,
    directory: RunDirectory,
    interrupted: Interruptions,
    limits: _Limits,
    display: Display,
) -> Cause:
    """Follows the events until the engine ends, or has to be ended."""
    tail = Tail(directory.events)
    cause: Cause = "itself"
    kill_at = float("inf")
    while process.running():
        for event in tail.new_events():
            state.add(event)
        display.show(state)
        now = time.monotonic()
        # What has said its last word is about to end.
        if interrupted.received and cause == "itself" and state.end is None:
            cause, kill_at = "interruption", now + limits.grace_s
            process.interrupt()
        elif cause == "itself" and now - state.last_event > limits.stall_s:
            cause, kill_at = "stall", now
        if now >= kill_at or len(interrupted.received) > 1:
            process.kill()
        time.sleep(POLL_S if cause == "itself" else STOPPING_POLL_S)
    for event in tail.new_events():
        state.add(event)
    return cause


def _conclude(directory: RunDirectory, state: RunState, ending: _Ending, leftover: str | None) -> Outcome:
    """Judges how the run ended, completes its events and seals its directory."""
    status, reason = _status(state, ending, directory.log)
    if state.end is None:
        time_s = state.elapsed_s
        last: Event = {"event": "end", "time_s": time_s, "status": status, "samples": state.samples}
        close_events(
            directory.events, {**last, "errors": len(state.errors), "by": "launcher", "reason": reason}
        )
    exit_code = _exit_code(state, ending, status)
    if leftover and exit_code == ExitCode.OK:
        exit_code = ExitCode.CHECK_FAILED
    rundir.seal(directory, datetime.now(UTC), status, int(exit_code), leftover, state.confinement)
    return Outcome(directory, status, exit_code, reason, state.errors, state.samples, leftover)


def _status(state: RunState, ending: _Ending, log: Path) -> tuple[Status, str]:
    if ending.cause == "interruption" and not _is_complete(state):
        return "interrupted", "interrupted"
    if ending.cause == "failure":
        return "failed", ending.failure
    if ending.cause == "stall":
        return "failed", "no sign of life from the engine: a rank or the file system hangs"
    if _is_complete(state):
        return "complete", ""
    if state.end is not None and state.end["status"] == "interrupted":
        return "interrupted", "interrupted"
    if state.end is not None and state.errors and state.end["status"] == "failed" and not state.case:
        return "failed", "the engine began no case"
    return "failed", cause_of_death(ending.returncode, state, end_of(log))


def _is_complete(state: RunState) -> bool:
    """Whether the engine said that it measured everything."""
    return state.end is not None and state.end["status"] == "complete"


def _exit_code(state: RunState, ending: _Ending, status: Status) -> ExitCode:
    if status == "complete":
        # A signal that came after the last event says nothing about what was measured.
        failed = state.errors or (ending.returncode != 0 and ending.cause != "interruption")
        return ExitCode.CHECK_FAILED if failed else ExitCode.OK
    if status == "interrupted":
        return ExitCode.CHECK_FAILED if state.samples else ExitCode.CANNOT_RUN
    return ExitCode.BAD_INPUT if ending.returncode == ExitCode.BAD_INPUT else ExitCode.CANNOT_RUN


def _stall_limit_s(plan: Plan) -> float:
    """Seconds without any event after which the engine counts as dead."""
    settle_s = max(float(case.get("settle", 0.0)) for case in plan.cases)
    return plan.stall_timeout_s + settle_s + STALL_MARGIN_S


def _run_info(
    checked: CheckedPlan, engine: Engine, launcher: Launcher, target: Path, started: datetime
) -> dict[str, Json]:
    """What `run.json` says at the start."""
    version = engine.version
    return {
        "started": rundir.iso(started),
        "command": sys.argv,
        "directory": str(target),
        "set": checked.suite.changes.settings,
        "launcher": launcher.command(checked.suite.plan.ranks),
        "check": checked.check.model_dump(),
        "environment": {
            **environment(target),
            "working_directory": os.fspath(Path.cwd()),
            "versions": {
                "strider": __version__,
                "engine": version.engine,
                "mpi": version.mpi.library.split("\n")[0].replace("\t", " "),
                "python": sys.version.split()[0],
            },
        },
    }
