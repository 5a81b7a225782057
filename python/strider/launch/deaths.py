"""Why the engine ended without an `end` event, from the exit status and the output of its launcher."""

import os
import re
import resource
import signal
import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from strider.errors import ExitCode
from strider.launch.first_end import is_same_host
from strider.launch.rank_words import not_waiting
from strider.launch.state import RunState, Unanswered
from strider.text import enumerated

_SHELL = 128
"""Offset of signal numbers in exit codes of shells, Open MPI and Slurm; MPICH adds none."""
_CRASHES = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)
_LOG_BYTES = 1 << 14
_LOST_DAEMON = "control_cb (pm/pmiserv/pmiserv_cb.c"
"""MPICH's report that the connection to one of its daemons ended; it does not say which."""
_MOST_NODES = 8
_MOST_RANKS = 16
"""No longer list of ranks."""
_NO_DESCRIPTORS = ("Too many open files", "EMFILE", "max open files limit")
_BANNER = (
    "=",
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING",
    "This typically refers to a problem with your application",
    "Please see the FAQ page for debugging suggestions",
)
"""Banner that MPICH prints after any abnormal exit."""
_ONLY_KILLED = re.compile(r"^YOUR APPLICATION TERMINATED WITH THE EXIT STRING: .*\(signal 9\)", re.MULTILINE)
_LOST_PROCESS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^=[ \t]+PID (?P<pid>\d{1,10}) RUNNING AT (?P<node>\S+)\n"
        r"=[ \t]+EXIT CODE: (?P<status>\d{1,10})",  # MPICH
        r"rank (?P<rank>\d{1,10}) with PID (?P<pid>\d{1,10}) on node (?P<node>\S+) exited on\s+"
        r"signal (?P<status>\d{1,10})",  # Open MPI
        # UCX, in the rank
        r"^\[(?P<node>[^\s:]+):(?P<pid>\d{1,10})[^\]\n]*\] Caught signal (?P<status>\d{1,10}) ",
        r"^srun: error: (?P<node>\S+): task (?P<rank>\d{1,10}): (?P<signal>[A-Z][a-z ]+)",
    )
)
_SILENT_NODE = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^Timeout, server (?P<node>\S+) not responding\.",  # ssh with ServerAliveInterval
        r"^[ \t]*Remote daemon: .* on node (?P<node>\S+)$",  # Open MPI
    )
)
"""Nodes whose ranks may be active."""
_LOST_NODE = (
    *_SILENT_NODE,
    re.compile(r"^Connection to (?P<node>\S+) closed by remote host\.", re.MULTILINE),  # ssh
    re.compile(r"^srun: error: Node failure on (?P<node>\S+)", re.MULTILINE),
)


@dataclass(frozen=True)
class LostProcess:
    """A rank that ended abnormally, as the launcher reports it.

    Attributes:
        node: Its node.
        number: The signal that ended it; None for another reason.
        rank: Its rank; None if the launcher does not report it.
        pid: Its process id; None if the launcher does not report it.
        is_certain: Whether no other rank on its node can have ended before it.
    """

    node: str
    number: signal.Signals | None
    rank: int | None = None
    pid: int | None = None
    is_certain: bool = True

    def __str__(self) -> str:
        known = f"rank {self.rank}" if self.rank is not None else "a rank"
        pid = f" (process {self.pid})" if self.pid is not None else ""
        return f"{known} on {self.node}{pid}{'' if self.is_certain else ' or another rank there'}"


def cause_of_death(returncode: int | None, state: RunState, log: str = "") -> str:
    """Returns what happened, where, and what to check, in one line.

    Args:
        returncode: Exit status of the launcher, or the negated signal that killed it; None if unknown.
        state: State of the run from its events.
        log: The end of the output of launcher and ranks.
    """
    return f"{_cause(returncode, state, log)}{_consequence(state, log)}"


def _cause(returncode: int | None, state: RunState, log: str) -> str:
    """Returns what happened, where, and what to check."""
    where = _where(state)
    if state.unanswered:
        return _not_answering(state.unanswered, where)
    if any(words in log for words in _NO_DESCRIPTORS):
        # Launchers report this in many ways, some as a signal.
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return (
            f"the launcher or a rank reached the limit of open files {where} (ulimit -n is {soft} here): "
            "raise the limit, or reduce clients"
        )
    if nodes := lost_nodes(log):
        return _lost_connections(nodes, state, where)
    lost = lost_process(log)
    if lost and lost.number:
        return _end_of_process(lost, state, log, where)
    if returncode is not None and returncode < 0:
        return f"the launcher was killed (signal {-returncode}) {where}: check who sent the signal, and dmesg"
    number = _signal(returncode)
    if late := not_waiting(log, _all_ranks(state)):
        return (
            f"the other ranks waited in vain for {late} {where}: check for hanging I/O and a stopped process "
            "there"
        )
    if _LOST_DAEMON in log:
        there = enumerated([node["name"] for node in state.nodes], _MOST_NODES) or "a node"
        return (
            f"the launcher lost a daemon (hydra_pmi_proxy) on one of {there} {where}: check who ended it, "
            "and dmesg, on these nodes"
        )
    if number is None:
        return f"the engine exited early (exit status {returncode}) {where}"
    return _end_of_rank("a rank", number, where)


def _end_of_process(lost: LostProcess, state: RunState, log: str, where: str) -> str:
    """Returns what happened to the rank that the launcher reports, or to the one that ended before it.

    After a signal ended one rank, MPICH's launcher kills the others on its node, and reports the lowest.
    """
    number, exit_status = lost.number, 0
    first = state.first_end
    if lost.number is signal.SIGKILL and lost.rank is None:
        if first is None or lost.pid not in first.among:
            lost = replace(lost, is_certain=len(_ranks_of_node(lost.node, state)) < 2)
        elif lost.pid != first.pid:
            lost = replace(lost, pid=first.pid)
            number, exit_status = _ending(first.status, log)
    rank, there = str(replace(lost, rank=_rank_of(lost, state))), f" on {lost.node}"
    if number:
        return _end_of_rank(rank, number, where, there)
    status = f" (exit status {exit_status})" if exit_status else ""
    return f"{rank} ended first {where}{status}: see engine.log of the run, and check dmesg{there}"


def _ending(status: int | None, log: str) -> tuple[signal.Signals | None, int]:
    """Returns the signal that ended a rank and its exit status, from its wait status or MPICH's report."""
    if status is None:
        # MPICH combines the signals of all ranks bit by bit, with those 9 that it sent.
        return signal.SIGKILL if _ONLY_KILLED.search(log) else None, 0
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)), 0
    return None, os.WEXITSTATUS(status)


def _all_ranks(state: RunState) -> list[tuple[int, str]]:
    """Returns the ranks with their nodes; empty if they are not known."""
    return [(rank, node["name"]) for node in state.nodes for rank, _ in node.get("processes", [])]


def _lost_connections(nodes: Sequence[str], state: RunState, where: str) -> str:
    """Returns which nodes were lost: all at once means that this host lost its own link."""
    with_ranks = [f"{node}{_ranks_on(node, state)}" for node in nodes[:_MOST_NODES]]
    named = enumerated([*with_ranks, *nodes[_MOST_NODES:]], _MOST_NODES)
    if len(nodes) == 1:
        return (
            f"node {named} was lost {where}: its launcher daemon or the connection to it ended; check that "
            f"{nodes[0]} is up and reachable"
        )
    others = [node["name"] for node in state.nodes if not is_same_host(node["name"], socket.gethostname())]
    if others and all(any(is_same_host(name, node) for node in nodes) for name in others):
        return f"this host lost its connection to {named} {where}: check the network link of this host"
    return (
        f"nodes {named} were lost {where}: their launcher daemons or the connections to them ended; check "
        "that they are up and reachable"
    )


def silent_nodes(log: str, state: RunState) -> list[str]:
    """Returns the nodes that do not answer any more, on which ranks may be active."""
    return [*_nodes_in(log, _SILENT_NODE), *(state.unanswered.nodes if state.unanswered else [])]


def kept_for(silent: Sequence[str], path: Path) -> str:
    """Returns that the folder of a run is left because of nodes on which ranks may be active."""
    nodes = enumerated(silent)
    return (
        f"ranks may still run on {nodes}, so {path} is kept: when strider-engine has ended there, remove it "
        f"with strider clean {path.parent}"
    )


def _not_answering(unanswered: Unanswered, where: str) -> str:
    """Returns which nodes do not answer, with the evidence."""
    names = ", ".join(unanswered.nodes)
    node, verb = ("nodes", "do") if len(unanswered.nodes) > 1 else ("node", "does")
    reason = unanswered.reason or "no answer in time"
    return (
        f"{node} {names} {verb} not answer srun {where} ({reason}), and the other nodes do; check that "
        f"{names} and slurmd there are up"
    )


def _consequence(state: RunState, log: str) -> str:
    """Returns the effect of the loss of a node or rank on the other ranks, as a sentence after the cause."""
    ranks = sum(node["ranks"] for node in state.nodes)
    if ranks < 2 or not state.case:
        return ""
    if state.unanswered:
        return ". The other ranks waited for it"
    if nodes := lost_nodes(log):
        gone = sum(len(_ranks_of_node(node, state)) for node in nodes)
    elif (lost := lost_process(log)) and lost.number:
        gone = 1
    else:
        return ""
    others = ranks - gone
    if others < 1:
        return ""
    number = f"other {others} ranks" if gone and others > 1 else "other rank" if gone else "other ranks"
    return f". The {number} could not continue without {'them' if len(nodes) > 1 else 'it'}"


def _ranks_on(node: str, state: RunState) -> str:
    """Returns the ranks of a node as an apposition; empty if they are unknown or many."""
    ranks = _ranks_of_node(node, state)
    if not ranks or len(ranks) > _MOST_RANKS:
        return ""
    words = f"ranks {', '.join(map(str, ranks))}" if len(ranks) > 1 else f"rank {ranks[0]}"
    return f" ({words})"


def _ranks_of_node(name: str, state: RunState) -> list[int]:
    """Returns the ranks on a node of that name; empty if they are unknown."""
    found = [node for node in state.nodes if is_same_host(node["name"], name)]
    return [rank for rank, _ in found[0].get("processes", [])] if len(found) == 1 else []


def _rank_of(lost: LostProcess, state: RunState) -> int | None:
    """Returns the rank of a process; None unless only one has that id, on its node or in the run."""
    if lost.rank is not None or lost.pid is None:
        return lost.rank
    alike = [
        (node["name"], rank)
        for node in state.nodes
        for rank, pid in node.get("processes", [])
        if pid == lost.pid
    ]
    here = [one for one in alike if is_same_host(one[0], lost.node)]
    found = here if len(here) == 1 else alike
    return found[0][1] if len(found) == 1 else None


def _end_of_rank(rank: str, number: signal.Signals, where: str, there: str = "") -> str:
    """Returns the effect of a signal on a rank.

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
    return bool(lost_nodes(log)) or (process is not None and process.number is not None)


def lost_nodes(log: str) -> list[str]:
    """Returns the nodes to which the launcher lost its connection, in the order of its reports."""
    return _nodes_in(log, _LOST_NODE)


def _nodes_in(log: str, patterns: Sequence[re.Pattern[str]]) -> list[str]:
    found = [match for pattern in patterns for match in pattern.finditer(log)]
    return list(dict.fromkeys(match["node"] for match in sorted(found, key=lambda match: match.start())))


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
    if members := state.together.get(state.case, ()):
        # Results of other groups than that of rank 0 come at the end of a repetition.
        return f"in cases {', '.join(map(str, members[:-1]))} and {members[-1]}, which ran at the same time"
    if phase is not None and phase not in state.recent:
        return f"in case {phase.case} {phase.operation}"
    return f"in case {state.case}" if state.case else "before the first case"
