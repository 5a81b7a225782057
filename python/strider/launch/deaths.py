"""Why the engine ended without an `end` event, from the exit status and the output of its launcher."""

import os
import re
import resource
import signal
from dataclasses import dataclass
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
_LOST_PROCESS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^=\s+PID (?P<pid>\d+) RUNNING AT (?P<node>\S+)\n=\s+EXIT CODE: (?P<status>\d+)",  # MPICH
        r"rank (?P<rank>\d+) with PID (?P<pid>\d+) on node (?P<node>\S+) exited on\s+"
        r"signal (?P<status>\d+)",  # Open MPI
        r"^\[(?P<node>[^\s:]+):(?P<pid>\d+)[^\]]*\] Caught signal (?P<status>\d+) ",  # UCX, in the rank
        r"^srun: error: (?P<node>\S+): task (?P<rank>\d+): (?P<signal>[A-Z][a-z ]+)",
    )
)
_LOST_NODE = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^Connection to (?P<node>\S+) closed by remote host\.",  # ssh
        r"^Timeout, server (?P<node>\S+) not responding\.",  # ssh with ServerAliveInterval
        r"^\s*Remote daemon: .* on node (?P<node>\S+)$",  # Open MPI
        r"^srun: error: Node failure on (?P<node>\S+)",
    )
)


@dataclass(frozen=True)
class LostProcess:
    """A rank that ended abnormally, as the launcher reports it.

    Attributes:
        node: Its node.
        number: The signal that ended it; None for another reason.
        rank: Its rank; None if the launcher does not report it.
        pid: Its process id; None if the launcher does not report it.
    """

    node: str
    number: signal.Signals | None
    rank: int | None = None
    pid: int | None = None

    def __str__(self) -> str:
        known = f"rank {self.rank}" if self.rank is not None else "a rank"
        pid = f" (process {self.pid})" if self.pid is not None else ""
        return f"{known} on {self.node}{pid}"


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
    if node := lost_node(log):
        return (
            f"node {node} was lost {where}: its launcher daemon or the connection to it ended; "
            f"check that {node} is up and reachable"
        )
    lost = lost_process(log)
    if lost and lost.number:
        return _end_of_rank(str(lost), lost.number, where, f" on {lost.node}")
    if returncode is not None and returncode < 0:
        return f"the launcher was killed (signal {-returncode}) {where}: check who sent the signal, and dmesg"
    number = _signal(returncode)
    if number is None:
        return f"the engine exited early (exit status {returncode}) {where}"
    return _end_of_rank("a rank", number, where)


def _end_of_rank(rank: str, number: signal.Signals, where: str, there: str = "") -> str:
    """Returns what a signal did to a rank.

    Args:
        rank: The rank, as far as it is known.
        number: The signal.
        where: Where the run was.
        there: Where to look, as far as it is known.
    """
    match number:
        case signal.SIGKILL:
            return f"{rank} was killed (signal 9) {where}, possibly out of memory: check dmesg{there}"
        case _ if number in _CRASHES:
            return f"{rank} crashed (signal {number:d}, {number.name}) {where}: see engine.log of the run"
        case _:
            return f"{rank} was ended by signal {number:d} ({number.name}) {where}: check who sent the signal"


def is_lost(log: str) -> bool:
    """Returns whether the launcher or a rank reports a lost node, or a rank that a signal ended."""
    process = lost_process(log)
    return bool(lost_node(log)) or (process is not None and process.number is not None)


def lost_node(log: str) -> str:
    """Returns the first node to which the launcher lost its connection; empty if it reports none."""
    found = [match for pattern in _LOST_NODE for match in pattern.finditer(log)]
    return min(found, key=lambda match: match.start())["node"] if found else ""


def lost_process(log: str) -> LostProcess | None:
    """Returns the first rank that the launcher reports as ended abnormally; None if it reports none."""
    found = [match for pattern in _LOST_PROCESS for match in pattern.finditer(log)]
    if not found:
        return None
    known = min(found, key=lambda match: match.start()).groupdict()
    number = _signal(int(known["status"])) if known.get("status") else _named(known["signal"])
    rank, pid = (int(known[key]) if known.get(key) else None for key in ("rank", "pid"))
    return LostProcess(known["node"], number, rank, pid)


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


def _named(text: str) -> signal.Signals | None:
    """Returns the signal with a description, such as `Killed`."""
    return next((each for each in signal.Signals if signal.strsignal(each) == text.strip()), None)


def _where(state: RunState) -> str:
    phase = state.current
    if phase is not None and phase not in state.recent:
        return f"in case {phase.case} {phase.operation}"
    return f"in case {state.case}" if state.case else "before the first case"
