"""Why the engine ended without an `end` event, from the exit status of its launcher."""

import os
import resource
import signal
from pathlib import Path

from strider.errors import ExitCode
from strider.launch.state import RunState

_SHELL = 128
"""Offset of signal numbers in exit codes of shells, Open MPI and Slurm; MPICH adds none."""
_CRASHES = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)
_LOG_BYTES = 1 << 14
_NO_DESCRIPTORS = ("Too many open files", "EMFILE", "max open files limit")
_BANNER = (
    "=",
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING",
    "This typically refers to a problem with your application",
    "Please see the FAQ page for debugging suggestions",
)
"""Banner that MPICH prints after any abnormal exit."""


def cause_of_death(returncode: int | None, state: RunState, log: str = "") -> str:
    """Returns what happened, where, and what to check, in one line.

    Args:
        returncode: Exit status of the launcher, or the negated signal that killed it; None if unknown.
        state: State of the run from its events.
        log: The end of the output of launcher and ranks.
    """
    where = _where(state)
    if any(words in log for words in _NO_DESCRIPTORS):
        # Launchers report this in many ways, some as a signal.
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return (
            f"the launcher or a rank reached the limit of open files {where} (ulimit -n is {soft} here): "
            "raise the limit, or reduce clients"
        )
    if returncode is not None and returncode < 0:
        return f"the launcher was killed (signal {-returncode}) {where}: check who sent the signal, and dmesg"
    match _signal(returncode):
        case signal.SIGKILL:
            return f"a rank was killed (signal 9) {where}, possibly out of memory: check dmesg"
        case number if number in _CRASHES:
            return f"a rank crashed (signal {number:d}, {number.name}) {where}: see engine.log of the run"
        case None:
            return f"the engine exited early (exit status {returncode}) {where}"
        case number:
            return f"a rank was ended by signal {number:d} ({number.name}) {where}: check who sent the signal"


def end_of(log: Path) -> str:
    """Returns the end of the log; empty if it cannot be read."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def is_banner(line: str) -> bool:
    """Returns whether a line of `engine.log` belongs to MPICH's exit banner."""
    return not line.strip(" =\t") or line.startswith(_BANNER)


def _signal(returncode: int | None) -> signal.Signals | None:
    """Returns the signal that ended a rank; None for the engine's own exit codes."""
    if returncode is None or returncode <= max(ExitCode):
        return None
    number = returncode - _SHELL if returncode > _SHELL else returncode
    return signal.Signals(number) if number in signal.valid_signals() else None


def _where(state: RunState) -> str:
    phase = state.current
    if phase is not None and phase not in state.recent:
        return f"in case {phase.case} {phase.operation}"
    return f"in case {state.case}" if state.case else "before the first case"
