"""`strider watch`: follows a job in the queue, and its run."""

from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.options import LATEST
from strider.console import echo, error_console
from strider.errors import ExitCode, StriderError
from strider.running.options import QuietOption, StoreOption
from strider.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rich.console import Console

    from strider.jobs import Condition, Job

QUEUE_POLL_S = 2.0
_MOST_LINES = 8
_LOOK_S = 5.0
"""Interval in seconds of questions to the scheduler while a run is followed."""


def watch(
    job: Annotated[
        str,
        typer.Argument(
            metavar="[JOB]", help="Job, its number at the scheduler, or its run (default: the latest job)."
        ),
    ] = LATEST,
    once: Annotated[bool, typer.Option("--once", help="Print the state and exit.")] = False,
    quiet: QuietOption = False,
    store: StoreOption = None,
) -> None:
    """Follow a job: its place in the queue with the reason, progress and time left of its run, its result.

    Ctrl-C ends watching, not the job. The exit code is that of the run; 3 without a run, or if the job could
    not measure what is missing. With --once, it is 0 until the job has ended. Also follows a run that was
    started without a job.
    """
    from strider.jobs import find
    from strider.listing.names import store_of

    place = store_of(store).absolute()
    console = error_console()
    found = find(place, job)
    if found is None:
        from strider.store import resolve

        raise typer.Exit(_follow_run(resolve(place, job).absolute(), console, quiet=quiet))
    if once:
        from strider.jobs import condition

        now = condition(found)
        echo(sentence(found, now))
        raise typer.Exit(_exit_code(found) if now.is_over else int(ExitCode.OK))
    raise typer.Exit(_follow_job(found, console, quiet=quiet))


def sentence(job: "Job", now: "Condition") -> str:
    """Returns the state of a job in a line."""
    name = f"job {job.id}"
    count = len(job.record.numbers)
    part = f", {now.part} of {count}" if count > 1 and now.part else ""
    number = f" ({job.record.options.executor} {now.number}{part})" if now.number else ""
    reason = f": {now.reason}" if now.reason else ""
    words = {
        "waiting": f"waits in the queue{reason}",
        "running": "runs",
        "done": "has ended",
        "failed": "has ended without a run",
        "cancelled": "was cancelled before its run",
        "unknown": f"has an unknown state{reason}",
    }
    return printable(f"{name}{number} {words[now.state]}; run {job.record.run}")


def _follow_job(job: "Job", console: "Console", *, quiet: bool) -> int:
    """Follows a job to its end; returns the exit code."""
    import time

    from strider.jobs import condition

    said, followed = "", 0
    while True:
        now = condition(job)
        line = sentence(job, now)
        if line != said:
            console.print(line, highlight=False, markup=False, soft_wrap=True)
            said = line
        if now.is_over:
            return _result(job, console)
        if now.state == "running" and now.part != followed and _has_begun(job, now.part):
            followed = now.part
            _show(job.run, console, _until_next(job, now.part), quiet=quiet)
        time.sleep(QUEUE_POLL_S)


def _has_begun(job: "Job", part: int) -> bool:
    """Returns whether the part of a job that runs has begun or resumed the run."""
    from strider.jobs.condition import has_run, is_sealed

    return has_run(job) and (part <= 1 or not is_sealed(job))


def _until_next(job: "Job", part: int) -> "Callable[[], bool]":
    """Returns the end of following: the run has ended, or the scheduler has ended the part."""
    import time

    from strider.jobs import condition
    from strider.jobs.condition import is_sealed

    asked = time.monotonic()

    def is_over() -> bool:
        nonlocal asked
        if is_sealed(job):
            return True
        if time.monotonic() < asked + _LOOK_S:
            return False
        asked = time.monotonic()
        now = condition(job)
        return now.is_over or (now.state in ("running", "waiting") and now.part != part)

    return is_over


def _show(directory: "Path", console: "Console", is_over: "Callable[[], bool]", *, quiet: bool) -> None:
    """Shows the progress of a run until its end."""
    from strider.jobs import follow
    from strider.launch import choose_display
    from strider.suite import Plan
    from strider.text_file import MOST_DOCUMENT_BYTES, read_regular

    try:
        plan = Plan.model_validate_json(read_regular(directory / "plan.json", MOST_DOCUMENT_BYTES))
    except (OSError, ValueError) as error:
        raise StriderError(f"cannot read {directory / 'plan.json'}: the run cannot be followed") from error
    display = choose_display(console, plan, "quiet" if quiet else "normal")
    try:
        follow(directory, display, is_over)
    finally:
        display.close()


def _follow_run(directory: "Path", console: "Console", *, quiet: bool) -> int:
    """Follows a run without a job to its end; returns its exit code."""
    from strider.store.load import read_json

    def is_over() -> bool:
        return "ended" in read_json(directory / "run.json")

    _show(directory, console, is_over, quiet=quiet)
    return _ended(directory, console)


def _result(job: "Job", console: "Console") -> int:
    """Prints how a job ended; returns the exit code."""
    from strider.jobs.condition import has_run

    if has_run(job):
        _ended(job.run, console)
        if not _is_complete(job.run):
            _print_complaint(job, console)
    else:
        _print_lines(job.output.splitlines(), console)
    return _exit_code(job)


def _exit_code(job: "Job") -> int:
    """Returns the exit code of the run of a job that has ended; 3 if the job itself failed.

    A part that fails before it resumes the run leaves the exit code of the part before.
    """
    from strider.jobs.condition import has_run
    from strider.store.load import load_info

    if not has_run(job):
        return int(ExitCode.CANNOT_RUN)
    code = load_info(job.run).exit_code
    if code is None:
        return int(ExitCode.CANNOT_RUN)
    is_failed = not _is_complete(job.run) and job.complaint()[0] == len(job.record.numbers)  # its last part
    return code or int(ExitCode.CANNOT_RUN if is_failed else ExitCode.OK)


def _print_complaint(job: "Job", console: "Console") -> None:
    """Prints the errors of the last part with any; a run that was not resumed has none of them."""
    part, lines = job.complaint()
    if not part:
        return
    numbers = job.record.numbers
    which = f"part {part} of {len(numbers)}" if len(numbers) > 1 else "the job"
    head = f"{which} ({job.record.options.executor} {numbers[part - 1]}) printed:"
    console.print(head, highlight=False, markup=False, soft_wrap=True)
    _print_lines(lines, console)


def _print_lines(lines: "Sequence[str]", console: "Console") -> None:
    for line in lines[-_MOST_LINES:]:
        console.print(f"  {printable(line.expandtabs())}", highlight=False, markup=False, soft_wrap=True)


def _is_complete(directory: "Path") -> bool:
    from strider.launch.rundir import RunDirectory
    from strider.running.resuming import is_complete

    return is_complete(RunDirectory(directory.name, directory))


def _ended(directory: "Path", console: "Console") -> int:
    """Prints how a run ended, and what is missing; returns its exit code."""
    from strider.store.runs import summarize

    summary = summarize(directory)
    name = printable(directory.name)
    line = f"run {name}: {printable(summary.shown_status)}; see strider show {name}"
    console.print(line, highlight=False, markup=False, soft_wrap=True)
    if not _is_complete(directory):
        missing = f"repetitions are missing: strider submit --resume {name} measures them"
        console.print(missing, highlight=False, markup=False, soft_wrap=True)
    return int(ExitCode.CANNOT_RUN) if summary.exit_code is None else summary.exit_code
