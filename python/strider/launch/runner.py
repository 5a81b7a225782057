"""Runs a checked plan and completes its run directory."""

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from rich.console import Console

from strider import __version__
from strider.datasets import Claims, claimed, found_before
from strider.engine import Engine, Json
from strider.errors import DAMAGE, ExitCode, StriderError
from strider.identities import words_of_open
from strider.kept import KeptClaims
from strider.kept import claimed as kept_files
from strider.launch import folder, rundir
from strider.launch.confinement import Confinement, Forbidden, Needs, confinement
from strider.launch.deaths import cause_of_death, end_of, kept_for, silent_nodes
from strider.launch.display import Display, Expendable
from strider.launch.first_end import RankWatch
from strider.launch.inputs import Bounds, RunInputs
from strider.launch.losses import LossWatch
from strider.launch.mounts import RunMount, engine_words, mounts_of_run
from strider.launch.nodes import run_clock_note
from strider.launch.observers import observers
from strider.launch.preflight import ask_nodes, check_target, preflight, raise_errors
from strider.launch.process import EngineProcess, Interruptions, start
from strider.launch.rank_rows import rank_rows
from strider.launch.rank_words import interruption
from strider.launch.resume import Resumption, remove_earlier_folder
from strider.launch.rundir import RunDirectory
from strider.launch.sameness import facts
from strider.launch.state import RunState
from strider.launch.tail import Tail, close_events
from strider.launch.target import open_target
from strider.launch.temporary import remove_abandoned
from strider.listio import reaches_into_servers, require_answers, temporary_volume
from strider.store.checked_events import Event
from strider.suite import Plan, turns
from strider.suite.estimate import planned_phases

GRACE_S = 1.2
"""Time limit in seconds for the ranks to exit after an interruption."""
REMOUNT_S = 120.0
"""Time limit of a remount in seconds, enforced by the engine; it is never interrupted."""
STALL_MARGIN_S = 30.0
"""The engine reports stalls itself; if it cannot, it is killed this many seconds later."""
LOSS_GRACE_S = 3.0
"""Time in seconds for the launcher to end by itself after a node or rank was lost; MPICH's may not."""
END_GRACE_S = 20.0
"""Time in seconds for the launcher to end after a complete run: MPI_Finalize of some libraries hangs."""
POLL_S = 0.1
STOPPING_POLL_S = 0.02
_VOLUME = "to use a permanent volume, start one with strider listio serve DIR"

Status = Literal["complete", "interrupted", "failed"]
Cause = Literal["itself", "interruption", "loss", "stall", "failure", "finished"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Attributes:
        directory: Its run directory.
        status: Whether it completed.
        exit_code: The exit code of the command.
        reason: Why it did not complete; empty if it did.
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
class Ending:
    """How the engine's process ended.

    Attributes:
        returncode: Exit status of the launcher; None if unknown.
        cause: Why it ended; `loss` means that a node or rank was lost, `failure` that this process could
            no longer follow the events, `finished` that a complete run did not exit.
        failure: Text of that failure.
        signal: Name of the signal that interrupted it, such as `SIGINT`; empty if none did.
        problems: Failed actions on files that stay.
        silent: Nodes that do not answer any more, on which ranks may be active.
    """

    returncode: int | None
    cause: Cause
    failure: str = ""
    signal: str = ""
    problems: Sequence[str] = ()
    silent: Sequence[str] = ()


@dataclass(frozen=True)
class Watch:
    """How the engine is followed.

    Attributes:
        interrupted: Termination signals: the first ends the measurement, the second kills the engine.
        display: Shows the progress.
        note: Prints a note.
        stall_s: Maximum time without an event, in seconds.
        grace_s: Time to exit after an interruption, in seconds.
    """

    interrupted: Interruptions
    display: Display
    note: Callable[[str], None]
    stall_s: float
    grace_s: float = GRACE_S


def execute(inputs: RunInputs, display: Display, console: Console, interrupted: Interruptions) -> Outcome:
    """Runs a plan on its target.

    Args:
        inputs: The plan and all that its run needs.
        display: Shows the progress.
        console: Receives the notes of the pre-flight checks.
        interrupted: Termination signals: the first ends the measurement, the second kills the engine.

    Raises:
        StriderError: The run cannot be started; no files are left in the target.
    """
    resumption, per_rank = inputs.resumption, inputs.watching.per_rank
    note = partial(_note, console)
    target = _examine(inputs, note)
    remove_abandoned()
    started = datetime.now(UTC)
    run = _run_of(resumption, inputs.run_id, target)
    run = run or rundir.new_run_id(inputs.checked.suite.plan.suite.name, started)
    display = Expendable(display)
    with (
        rank_rows(per_rank, target, inputs.remount, is_new=_begins_rows(per_rank, resumption)),
        observers(inputs.watching.observing, inputs.store, note) as observed,
        _own_folder(target, run, inputs.bounds, inputs.remount) as own,
    ):
        ending = None
        try:
            ask_nodes(inputs, target, own.path, note)
            if resumption:
                directory = resumption.directory
                resumption.begin()
            else:
                info = run_info(inputs, target, started, run)
                directory = _create(inputs, run, {**info, "options": _options(inputs)})
            for observer in observed:
                observer.move(directory.path)
            state = _planned_state(inputs)
            grace_s = GRACE_S + (REMOUNT_S if inputs.remount else 0.0)
            watch = Watch(interrupted, display, note, stall_limit_s(inputs.checked.suite.plan), grace_s)
            ending = _measure(inputs, target, own, directory, state=state, watch=watch)
        finally:
            display.close()
            leftover = _remove(own, resumption, ending.silent if ending else ())
        try:
            left = "\n".join(filter(None, [*ending.problems, leftover])) or None
            return conclude(directory, state, ending, left)
        except OSError as error:
            raise rundir.cannot_write(directory, error) from error


def _create(inputs: RunInputs, run: str, info: dict[str, Json]) -> RunDirectory:
    suite, description = inputs.checked.suite, inputs.engine.description
    return rundir.create(inputs.store, run, suite.plan.to_json(), suite.document.text, description, info)


def _begins_rows(path: Path | None, resumption: Resumption | None) -> bool:
    """Returns whether the file of the rows of all ranks is made: also after a start without a result."""
    has_results = resumption is not None and bool(resumption.earlier.repetitions)
    return resumption is None or not (has_results or (path is not None and path.exists()))


def _remove(own: folder.Folder, resumption: Resumption | None, silent: Sequence[str]) -> str | None:
    """Removes a run's files that it no longer needs; returns why its folder is left, or None.

    Args:
        own: The folder.
        resumption: The run that was continued.
        silent: Nodes on which ranks may be active: they would meet errors that storage did not cause.
    """
    leftover = kept_for(silent, own.path) if silent else folder.remove(own)
    if resumption:
        resumption.record.unlink(missing_ok=True)
    return leftover


def _run_of(resumption: Resumption | None, run_id: str, target: Path) -> str:
    """Returns the id of the run if it is known; removes the folder that a killed start of it left."""
    run = resumption.directory.run if resumption else run_id
    if run:
        # A known id is that of a job, whose earlier parts have ended.
        remove_earlier_folder(target, run, is_over=resumption.is_over if resumption else True)
    return run


def _measure(
    inputs: RunInputs,
    target: Path,
    own: folder.Folder,
    directory: RunDirectory,
    *,
    state: RunState,
    watch: Watch,
) -> Ending:
    """Runs the engine, with the servers, mounts, data sets and confinement that the plan needs."""
    checked, engine, launcher, bounds = inputs.checked, inputs.engine, inputs.launcher, inputs.bounds
    plan, note = checked.suite.plan, watch.note
    with (
        _volume(plan, engine, own, _transport(bounds), note) as mounts,
        claimed(checked, target, directory.run, own.target) as sets,
        kept_files(checked, directory.run, own.path, own.open) as kept,
        _needs(inputs, own, directory, sets, kept) as needs,
        confinement(bounds.confine, engine, launcher, needs) as confined,
    ):
        _tell_reason(confined, bounds, note)
        program = _program(inputs, directory, own.path, confined)
        program += [*own.words(), *engine_words(plan, own.path, mounts), *sets.words(), *kept.words()]
        if not inputs.remount:  # it may change device and inode
            program += words_of_open([*sets.directories(), *kept.directories()])
        kept.begin()
        process = start(launcher, plan.ranks, program, directory.log, confined)
        sets.started()
        ending = attend(process, state, directory, watch)
        sets.finish(state.data_sets)
        kept.finish(state.data_sets, state.wrong_cases)
    for text in kept.notes:
        note(text)
    ending = replace(ending, problems=kept.problems)
    if own.is_gone():
        note(f"{own.path} is gone: it was removed from outside during the run")
    _tell_confinement(state, confined, note)
    return ending


@contextmanager
def _volume(
    plan: Plan, engine: Engine, own: folder.Folder, transport: str, note: Callable[[str], None]
) -> Iterator[list[RunMount]]:
    """Starts the servers that a plan needs and mounts their volume, until the end of the run."""
    with temporary_volume(plan, engine, own.path, transport) as servers:
        if servers:
            note(f"started {servers} list-I/O servers for this run: {_VOLUME}")
        with mounts_of_run(plan, engine, own) as mounts:
            yield mounts


def _planned_state(inputs: RunInputs) -> RunState:
    checked, resumption = inputs.checked, inputs.resumption
    plan = checked.suite.plan
    deadlines = {case.case: float(case.get("deadline", 0.0)) for case in plan.cases}
    time_limit_s = resumption.time_limit_s if resumption else plan.time_limit_s
    members = [[case.case for case, _ in turn] for turn in turns(checked.cases)]
    together = {number: turn for turn in members if len(turn) > 1 for number in turn}
    return RunState(planned_phases(checked), inputs.watching.ceilings, time_limit_s, deadlines, together)


@contextmanager
def _own_folder(target: Path, run: str, bounds: Bounds, remount: Sequence[str]) -> Iterator[folder.Folder]:
    """Creates the run's folder in the target and keeps the target open until the end of the run."""
    with ExitStack() as stack:
        opened = open_target(target, bounds.within)
        stack.callback(os.close, opened)
        own = folder.create(target, run, opened)
        if remount:
            stack.close()  # a file system with an open directory cannot be unmounted
            own = replace(own, inode=None, target=None, owner=None)
        yield own


def _transport(bounds: Bounds) -> str:
    """Returns the transport of temporary list-I/O servers: confined ranks can use only sockets."""
    return "tcp" if bounds.confine == "require" else "auto"


@contextmanager
def _needs(
    inputs: RunInputs, own: folder.Folder, directory: RunDirectory, sets: Claims, kept: KeptClaims
) -> Iterator[Needs]:
    """Yields the resources that the ranks of a run need."""
    plan, per_rank = inputs.checked.suite.plan, inputs.watching.per_rank
    forbidden: Forbidden = ""
    if reaches_into_servers(plan, own.path):
        forbidden = "memory of servers"
    elif any(case.interface["name"] == "gfapi" for case in plan.cases):
        forbidden = "names of threads"
    try:
        directory.events.touch()  # a rank can write to this file, but not create others beside it
    except OSError as error:
        raise rundir.cannot_write(directory, error) from error
    with ExitStack() as stack:
        descriptors = [*sets.descriptors(), *kept.descriptors(stack)]
        files = [directory.events, *([per_rank] if per_rank else [])]
        yield Needs(own, files, inputs.remount, forbidden, descriptors)


def _tell_reason(confined: Confinement, bounds: Bounds, note: Callable[[str], None]) -> None:
    """Prints a note if the ranks are not confined."""
    if confined.reason and bounds.confine == "auto":
        note(f"not confined: {confined.reason}")


def _tell_confinement(state: RunState, confined: Confinement, note: Callable[[str], None]) -> None:
    """Prints a note if the ranks report that their confinement is incomplete."""
    found = state.confinement.get("state", "full")
    if confined.reason or found == "full":
        return
    missing = state.confinement.get("missing", "")
    what = f"confined {found}" if found else "the ranks do not report how they are confined"
    note(f"{what}: {missing}" if missing else what)


def _examine(inputs: RunInputs, note: Callable[[str], None]) -> Path:
    """Runs all checks before the run; returns the target."""
    checked, engine = inputs.checked, inputs.engine
    target = check_target(checked.suite.plan.target)
    findings = preflight(checked, engine.description, target, inputs.launcher)
    raise_errors(findings)
    require_answers(checked.suite.plan, engine, target)
    for finding in findings:
        note(f"{finding.message}: {finding.remedy}")
    return target


def _note(console: Console, text: str) -> None:
    """Prints a note: wrapped on a terminal, on one line in a log."""
    console.print(f"note: {text}", highlight=False, markup=False, soft_wrap=not console.is_terminal)


def _program(inputs: RunInputs, directory: RunDirectory, own: Path, confined: Confinement) -> list[str]:
    """Returns the engine's command line."""
    resumption = inputs.resumption
    # A new random number for each run, so that old data is detected.
    seed = (resumption.earlier.data_seed if resumption else "") or str(secrets.randbits(63))
    options = {
        "--directory": str(own),
        "--run": directory.run,
        "--data-seed": seed,
        "--events": str(directory.events),
        "--marker": "required",
        **({"--earlier": str(resumption.record)} if resumption else {}),
    }
    pairs = [*options.items(), *(("--remount", word) for word in inputs.remount)]
    words = [word for option in pairs for word in option]
    return [
        str(inputs.engine.path.resolve()),
        "run",
        str(directory.plan),
        *words,
        *inputs.watching.words(),
        *confined.options,
    ]


def attend(process: EngineProcess, state: RunState, directory: RunDirectory, watch: Watch) -> Ending:
    """Follows the engine and ensures that it has exited, whatever fails in this process."""
    failure = ""
    cause: Cause = "failure"
    try:
        cause = _follow(process, state, directory, watch)
    except (OSError, StriderError, *DAMAGE) as error:
        failure = f"cannot read the events in {directory.events} ({type(error).__name__}: {error})"
    finally:
        # Also after a normal exit: the launcher may exit before its descendants.
        process.kill()
    signal = watch.interrupted.received[0].name if cause == "interruption" else ""
    silent = silent_nodes(end_of(directory.log), state) if state.end is None else []
    return Ending(process.returncode, cause, failure, signal, silent=silent)


def _follow(process: EngineProcess, state: RunState, directory: RunDirectory, watch: Watch) -> Cause:
    """Follows the events until the engine exits or must be killed."""
    tail, interrupted, note = Tail(directory.events), watch.interrupted, watch.note
    cause: Cause = "itself"
    kill_at = float("inf")
    with closing(LossWatch(process, directory.log)) as lost, closing(RankWatch(process.program)) as ranks:
        while process.running():
            _take_events(tail, state, note)
            ranks.look(state)
            watch.display.show(state)
            now = time.monotonic()
            # After its `end` event, the engine is about to exit.
            if interrupted.received and cause == "itself" and state.end is None:
                cause, kill_at = "interruption", now + watch.grace_s
                process.interrupt()
            elif cause == "itself" and state.end is None and lost.seen(now, state):
                cause, kill_at = "loss", now + LOSS_GRACE_S
            elif cause == "itself" and now - state.last_event > watch.stall_s:
                cause, kill_at = "stall", now
            elif cause == "itself" and _is_complete(state) and now - state.last_event > END_GRACE_S:
                cause, kill_at = "finished", now
                note(
                    f"all is measured, but the ranks did not exit within {END_GRACE_S:.0f} s: they are ended"
                )
            if now >= kill_at or len(interrupted.received) > 1:
                process.kill()
            time.sleep(POLL_S if cause == "itself" else STOPPING_POLL_S)
        ranks.look(state)
    _take_events(tail, state, note)
    return cause


def _take_events(tail: Tail, state: RunState, note: Callable[[str], None]) -> None:
    """Takes the events that are new, also those of a run that is over before it was looked at."""
    for event in tail.new_events():
        state.add(event)
        if text := run_clock_note(event):
            note(text)


def conclude(directory: RunDirectory, state: RunState, ending: Ending, leftover: str | None) -> Outcome:
    """Determines the outcome of the run, completes its events and its run directory."""
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
    signal = ending.signal if status == "interrupted" else ""
    rundir.seal(
        directory,
        datetime.now(UTC),
        status,
        int(exit_code),
        leftover=leftover,
        confinement=state.confinement,
        signal=signal,
    )
    return Outcome(directory, status, exit_code, reason, state.errors, state.samples, leftover)


def _status(state: RunState, ending: Ending, log: Path) -> tuple[Status, str]:
    if ending.cause == "interruption" and not _is_complete(state):
        return "interrupted", "interrupted"
    if ending.cause == "failure":
        return "failed", ending.failure
    if ending.cause == "stall":
        return "failed", "the engine sends no events: a rank or the file system hangs"
    if _is_complete(state):
        return "complete", ""
    if state.end is not None and state.end["status"] == "interrupted":
        return "interrupted", interruption(end_of(log))
    if state.end is not None and state.errors and state.end["status"] == "failed" and not state.case:
        return "failed", "the engine started no case"
    return "failed", cause_of_death(ending.returncode, state, end_of(log))


def _is_complete(state: RunState) -> bool:
    """Returns whether the engine reported that all cases are complete."""
    return state.end is not None and state.end["status"] == "complete"


def _exit_code(state: RunState, ending: Ending, status: Status) -> ExitCode:
    if status == "complete":
        # A signal after the last event does not affect the measurement.
        failed = state.errors or (ending.returncode != 0 and ending.cause not in ("interruption", "finished"))
        # The time limit can come before the end of the first phase.
        done = ExitCode.OK if state.samples else ExitCode.CANNOT_RUN
        return ExitCode.CHECK_FAILED if failed else done
    if status == "interrupted":
        return ExitCode.CHECK_FAILED if state.samples else ExitCode.CANNOT_RUN
    return ExitCode.BAD_INPUT if ending.returncode == ExitCode.BAD_INPUT else ExitCode.CANNOT_RUN


def stall_limit_s(plan: Plan) -> float:
    """Returns the seconds without an event after which the engine is considered hung."""
    settle_s = max(float(case.get("settle", 0.0)) + float(case.get("start", 0.0)) for case in plan.cases)
    return plan.stall_timeout_s + settle_s + STALL_MARGIN_S


def run_info(inputs: RunInputs, target: Path, started: datetime, run: str) -> dict[str, Json]:
    """Returns the initial contents of `run.json`."""
    checked, per_rank = inputs.checked, inputs.watching.per_rank
    return {
        **({"per_rank": str(per_rank)} if per_rank else {}),
        "started": rundir.iso(started),
        "command": sys.argv,
        "directory": str(target),
        "set": checked.suite.changes.settings,
        "launcher": inputs.launcher.command(checked.suite.plan.ranks),
        "check": checked.check.model_dump(),
        "sizes": [asdict(size) for size in checked.sizes],
        "environment": environment_of_run(target, inputs.engine),
        "data_sets": found_before(checked.suite.plan.cases, target),
        "process": asdict(folder.this_process(run)),
    }


def environment_of_run(target: Path, engine: Engine) -> dict[str, Json]:
    """Returns facts about this machine, the target and the programs."""
    version = engine.version
    versions = {
        "strider": __version__,
        "engine": version.engine,
        "mpi": version.mpi.library.split("\n")[0].replace("\t", " "),
        "python": sys.version.split()[0],
    }
    return facts(target, engine.path, versions)


def _options(inputs: RunInputs) -> dict[str, Json]:
    """Returns the options of a run that hold for its further starts, for `run.json`."""
    launcher, watching, bounds = inputs.launcher, inputs.watching, inputs.bounds
    return {
        "launcher": launcher.name,
        "places": launcher.places.to_json(),
        "counters": watching.counters,
        "timeline": watching.timeline,
        "timeline_interval_s": watching.timeline_interval_s,
        "ceilings": watching.ceilings,
        "observe": list(watching.observing.hosts),
        "observe_engine": watching.observing.engine,
        "remount": list(inputs.remount),
        "confine": bounds.confine,
        "within": [str(path) for path in bounds.within],
    }
