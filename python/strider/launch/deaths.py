"""Why an engine ended that did not say so itself, from the exit status of its launcher."""

import os
import resource
import signal
from pathlib import Path

from strider.errors import ExitCode
from strider.launch.state import RunState

_SHELL = 128
"""What shells, Open MPI and Slurm add to the number of a signal; MPICH's launcher gives the number alone."""
_CRASHES = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)
_LOG_BYTES = 1 << 14
_NO_DESCRIPTORS = ("Too many open files", "EMFILE", "max open files limit")
_BANNER = (
    "=",
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING",
    "This typically refers to a problem with your application",
    "Please see the FAQ page for debugging suggestions",
)
"""What MPICH prints below the messages of a program, whatever it died from."""


def cause_of_death(returncode: int | None, state: RunState, log: str = "") -> str:
    """What happened, where, and what to look at, in one line.

    Args:
        returncode: Exit status of the launcher, negated the signal that killed it; None if unknown.
        state: What the engine has told.
        log: The end of what launcher and ranks printed.
    """
    where = _where(state)
    if any(words in log for words in _NO_DESCRIPTORS):
        # Launchers end in many ways then, as if by a signal too.
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return (
            f"the launcher or a rank could open no more files {where} (ulimit -n is {soft} here): "
            "raise the limit, or lower clients"
        )
    if returncode is not None and returncode < 0:
        return f"the launcher was killed (signal {-returncode}) {where}: see who ended it, or dmesg"
    match _signal(returncode):
        case signal.SIGKILL:
            return f"a rank was killed (signal 9) {where}, as when memory runs out: see dmesg"
        case number if number in _CRASHES:
            return f"a rank crashed (signal {number:d}, {number.name}) {where}: see engine.log of the run"
        case None:
            return f"the engine ended early (exit status {returncode}) {where}"
        case number:
            return f"a rank was ended by signal {number:d} ({number.name}) {where}: see who sent it"


def end_of(log: Path) -> str:
    """The end of what was printed; empty where that cannot be read."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def is_banner(line: str) -> bool:
    """Whether a line of `engine.log` is of the banner below the messages of a program, and says nothing."""
    return not line.strip(" =\t") or line.startswith(_BANNER)


def _signal(returncode: int | None) -> signal.Signals | None:
    """The signal that ended a rank; the engine's own exit codes are no signals."""
    if returncode is None or returncode <= max(ExitCode):
        return None
    number = returncode - _SHELL if returncode > _SHELL else returncode
    return signal.Signals(number) if number in signal.valid_signals() else None


def _where(state: RunState) -> str:
    phase = state.current
    if phase is not None and phase not in state.recent:
        return f"in case {phase.case} {phase.operation}"
    return f"in case {state.case}" if state.case else "before the first case"
