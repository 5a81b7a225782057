"""The nodes of a run before its start: each answers, with the same engine, target, clock and enough room.

The launcher of the run starts `strider-engine node` once on each node. A node that does not answer is named
within seconds; MPI would wait for it for minutes.
"""

import json
import math
import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from strider.engine import Engine
from strider.errors import ExitCode, StriderError
from strider.launch.clocks import CLOCK_S, clock_note
from strider.launch.confinement import guard
from strider.launch.deaths import is_banner, lost_process
from strider.launch.kernel_files import text_of
from strider.launch.launchers import LAUNCHERS, Launcher
from strider.launch.launchers.allocation import allocation
from strider.launch.launchers.hosts import Host, RankMapping
from strider.launch.process import EngineProcess
from strider.processes import descendants, identify
from strider.text import printable, shortened
from strider.units import format_bytes_rounded

DEADLINE_S = 10.0
"""Time limit in seconds for all answers; each answer extends it to at least half of it from then on."""
ALONE_S = 30.0
"""Time limit of each host when those that did not answer are asked one by one: a login may take long."""
LIMIT_VARIABLE = "STRIDER_NODE_TIMEOUT"
"""Environment variable with a larger time limit in seconds for both."""
_LOGINS = 3
"""A start on all hosts may take so many times as long as the slowest login alone."""
TELL_S = 15.0
"""Time in seconds after which the hosts that are still waited for are named again."""
ENDED_S = 1.0
"""Time in seconds for words that are on their way when all that a launcher started has ended."""
MOST_ALONE = 32
_HERE_S = 60.0
LOCAL = ("localhost", "127.0.0.1", "::1")
"""Names of this host that mean another one elsewhere."""
_REMEDIES = {
    "missing": "mount or create it there",
    "not a directory": "name a directory of all hosts",
    "read-only": "mount it there so that it can be written",
}
"""What to do about a target that cannot be measured."""
_MOST_WORDS = 300
_MOST_LINES = 20
_COMM = 15
"""Length of the names that the kernel gives processes."""
_MOST_LINE_BYTES = 1 << 16
"""Of a longer line only the end counts."""
_MOST_SHOWN = 1000
"""Of a line of the launcher, in characters."""
_KEYS = {
    "node": str,
    "rank": str,
    "host": str,
    "folder": bool,
    "memory_available_bytes": int,
    "open_files": int,
    "file_bytes": int,
    "time_ns": int,
    "interfaces": list,
    "files": list,
}
"""Keys of an answer beside `engine` and `build`, and their types."""
_KEYS_OF_TARGET = {"reason": str, "free_bytes": int}

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Room:
    """The requirements of a run on each node.

    Attributes:
        ranks: Ranks on all nodes.
        space_bytes: Free space in the target.
        memory_bytes: Available memory.
        interfaces: Interfaces of the plan.
        files: Files that each rank reads.
        store: A file in the store, which the first rank alone needs; empty: not asked for.
        open_files: Descriptors of a rank.
        file_bytes: Size of the largest file.
    """

    ranks: int
    space_bytes: int
    memory_bytes: int
    interfaces: Sequence[str] = ()
    files: Sequence[str] = ()
    store: str = ""
    open_files: int = 0
    file_bytes: int = 0

    @property
    def words(self) -> list[str]:
        """The options of `strider-engine node` that ask for them."""
        files = [*self.files, *([self.store] if self.store else [])]
        asked = {"--interface": self.interfaces, "--file": files}
        return [word for option, values in asked.items() for value in values for word in (option, value)]


@dataclass
class Answers:
    """The answers of a launcher and its processes.

    Attributes:
        nodes: The answers, with the times of this host in nanoseconds before and after each.
        said: Lines of the launcher.
    """

    nodes: list[dict[str, Any]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Alone:
    """How a host answers alone.

    Attributes:
        took_s: Time of its answer in seconds; 0 if it gives none.
        reason: Why it gives none.
        unreached: The launcher's message, if the host itself gave no sign.
    """

    took_s: float = 0.0
    reason: str = ""
    unreached: str = ""


def require_nodes(
    launcher: Launcher, engine: Engine, target: Path, own: Path, room: Room, tell: Tell
) -> None:
    """Asks each node of a run, and reports clocks that differ.

    Args:
        launcher: Launcher of the run; nothing is asked if it stays on this host, or if neither places nor an
            allocation name nodes.
        engine: The engine.
        target: The directory to measure.
        own: The run's folder in it.
        room: The run's requirements on each node.
        tell: Receives lines of the launcher, and notes.

    Raises:
        StriderError: A node cannot take part; each is named, with the reason and a remedy.
    """
    mapping = _mapping_of_question(launcher, room.ranks)
    if mapping is None:
        return
    program = [str(engine.path.resolve()), "node", "--target", str(target), "--folder", str(own), *room.words]
    here = _here(program)
    limit_s = _limit_s(DEADLINE_S)
    answers = _ask(launcher, launcher.words(mapping), program, mapping.ranks, limit_s, tell)
    silent, slowest_s = _silent(launcher, mapping, program, answers, tell)
    if slowest_s:
        # All that were silent answer alone: logins may be slow, or these hosts do not reach this one.
        limit_s += _LOGINS * slowest_s
        within = f"within {math.ceil(slowest_s)} s"
        tell(f"each answers alone {within}: asking all hosts again, for at most {limit_s:.0f} s")
        answers = _ask(launcher, launcher.words(mapping), program, mapping.ranks, limit_s, tell)
        silent = _unreached(launcher, mapping, answers, limit_s)
        if not silent:
            tell("all hosts answered: the run starts")
    nodes = {_name(answer, mapping): answer for answer in answers.nodes}
    errors = [
        *silent,
        *_without_rank(nodes),
        *(line for name, answer in nodes.items() for line in _reasons(answer, name, here, target, room)),
    ]
    if errors:
        raise StriderError("\n".join(errors), ExitCode.CANNOT_RUN)
    clocks = [(f"host {name}", _clock_off_s(answer)) for name, answer in nodes.items()]
    if note := clock_note([("this host", 0.0), *clocks]):
        tell(note)


def _without_rank(nodes: Mapping[str, dict[str, Any]]) -> list[str]:
    """Returns a line for each host whose process does not know its rank, if others do."""
    lacking = [name for name, answer in nodes.items() if answer.get("rank") == ""]
    return [
        f"host {name}: the launcher's variables do not reach the engine there, so it does not know its rank: "
        "check what its login and start scripts remove from the environment"
        for name in (lacking if len(lacking) < len(nodes) else [])
    ]


def _mapping_of_question(launcher: Launcher, ranks: int) -> RankMapping | None:
    """Returns the mapping of the processes that answer; None if nothing is asked.

    Within an allocation and without places, one process answers on each of its nodes, or as many as there are
    ranks. Only a launcher given as a command knows on which nodes it starts ranks: then all ranks are asked.
    """
    if launcher.reach == "this host":
        return None
    if launcher.places.are_given:
        return launcher.places.each_once(ranks)
    found = allocation()
    if found is None or found.nodes < 2 or ranks < 2:
        return None
    nodes = min(found.nodes, ranks)
    takes_nodes = launcher.is_srun or launcher.name in LAUNCHERS
    return RankMapping(nodes, nodes, 1) if takes_nodes else RankMapping(ranks)


def _limit_s(usual_s: float) -> float:
    """Returns the larger of a time limit and that of the environment.

    Raises:
        StriderError: The variable is no number of seconds.
    """
    text = os.environ.get(LIMIT_VARIABLE, "")
    if text and not re.fullmatch(r"[0-9]{1,5}", text):
        raise StriderError(f"{LIMIT_VARIABLE}={shortened(text)}: give a number of seconds, such as 60")
    return max(usual_s, float(text or 0))


def run_clock_note(event: Mapping[str, Any]) -> str:
    """Returns a sentence on times of day that the ranks found wrong, of the `run` event; empty if none."""
    nodes = event.get("nodes") or [] if event["event"] == "run" else []
    return clock_note(
        [
            (f"node {node['name'] or number}", node.get("time_of_day_offset_s", 0.0))
            for number, node in enumerate(nodes)
        ]
    )


def _here(program: Sequence[str]) -> dict[str, Any]:
    """Returns the answer of this host."""
    try:
        done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=_HERE_S)
        answer: dict[str, Any] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise StriderError(
            f"{program[0]} does not answer on this host: rebuild it", ExitCode.CANNOT_RUN
        ) from error
    if not isinstance(answer, dict) or (lacking := _lacking(answer)):
        what = f"no {', '.join(lacking)}" if isinstance(answer, dict) else "no object"
        raise StriderError(f"{program[0]} gives {what} on this host: rebuild it", ExitCode.CANNOT_RUN)
    return answer


def _ask(
    launcher: Launcher,
    words: Sequence[str],
    program: Sequence[str],
    count: int,
    limit_s: float,
    tell: Tell,
    *,
    stays: bool = True,
) -> Answers:
    """Returns the answers of the processes, until all did, the launcher ends, or the time limit passes.

    Args:
        launcher: Their launcher.
        words: Its command.
        program: The question.
        count: Number of processes.
        limit_s: Time limit in seconds.
        tell: Receives lines of the launcher.
        stays: Whether an answer can come when no process of the launcher runs any more.
    """
    answers = Answers()
    before = time.time_ns()
    try:
        child = subprocess.Popen(
            [*guard(Path(program[0])), *words, *program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **launcher.environment},
            start_new_session=True,
        )
    except OSError as error:
        raise StriderError(f"cannot start {launcher.name}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    process = EngineProcess(child, launcher)
    try:
        _listen(child, answers, before, count, limit_s, tell, stays=stays)
    finally:
        process.kill()
        for stream in (child.stdout, child.stderr):
            if stream:
                stream.close()
    return answers


def _listen(
    child: "subprocess.Popen[bytes]",
    answers: Answers,
    before: int,
    count: int,
    limit_s: float,
    tell: Tell,
    *,
    stays: bool,
) -> None:
    rests = {stream.fileno(): b"" for stream in (child.stdout, child.stderr) if stream}
    with selectors.DefaultSelector() as selector:
        for descriptor in rests:
            selector.register(descriptor, selectors.EVENT_READ)
        end = time.monotonic() + limit_s
        while selector.get_map() and len(answers.nodes) < count:
            left_s = max(0.0, end - time.monotonic())
            ready = selector.select(left_s if stays else min(left_s, ENDED_S))
            if not ready and not stays and time.monotonic() < end and not _have_ended(child, answers):
                continue
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fd)
                *lines, rests[key.fd] = (rests[key.fd] + data).split(b"\n")
                rests[key.fd] = rests[key.fd][-_MOST_LINE_BYTES:]
                for line in lines:
                    if _hear(line[-_MOST_LINE_BYTES:].decode("utf-8", "replace"), answers, before, tell):
                        end = max(end, time.monotonic() + limit_s / 2)
            if not ready or time.monotonic() >= end:
                return


def _have_ended(child: "subprocess.Popen[bytes]", answers: Answers) -> bool:
    """Returns whether a launcher has spoken, and nothing that it started, such as `ssh`, runs here."""
    own = {Path(word).name[:_COMM] for word in cast(Sequence[str], child.args)}
    running = [pid for pid in descendants(child.pid) if identify(pid, "")]
    return bool(answers.said) and all(text_of(Path(f"/proc/{pid}/comm")).strip() in own for pid in running)


def _hear(line: str, answers: Answers, before: int, tell: Tell) -> bool:
    """Notes a line; returns whether it is an answer."""
    begin = line.find('{"strider_node"')
    if begin >= 0:
        try:
            answer, _ = json.JSONDecoder().raw_decode(line[begin:])
        except (ValueError, RecursionError):
            return False
        answers.nodes.append({**answer, "before_ns": before, "after_ns": time.time_ns()})
        return True
    if line.strip() and len(answers.said) < _MOST_LINES:
        answers.said.append(printable(line.strip()[:_MOST_SHOWN]))
        if not is_banner(line):
            tell(answers.said[-1])
    return False


def _silent(
    launcher: Launcher, mapping: RankMapping, program: Sequence[str], answers: Answers, tell: Tell
) -> tuple[list[str], float]:
    """Returns a line for each host that does not answer, or one if they have no names.

    Returns:
        The lines, and the longest time of a host that answers alone; 0 if there is none, or if another does
        not answer at all.
    """
    missing = mapping.ranks - len(answers.nodes)
    if missing <= 0:
        return [], 0.0
    names = _not_heard(mapping, answers)
    if not names:
        unit = "nodes" if mapping.nodes else "ranks"
        return [
            f"{missing} of {mapping.ranks} {unit} do not answer within {_limit_s(DEADLINE_S):.0f} s "
            f"({_words(launcher, answers)}): check the allocation, and that the engine is on all nodes, or "
            f"allow more time with {LIMIT_VARIABLE}=60"
        ], 0.0
    if launcher.name != "mpiexec" or len(names) > MOST_ALONE:
        return [_not_answering(launcher, names, answers)], 0.0
    limit_s = _limit_s(ALONE_S)
    tell(f"{', '.join(names)} did not answer: asking each alone, for at most {limit_s:.0f} s")
    with ThreadPoolExecutor(len(names)) as pool:
        asked = {name: pool.submit(_alone, launcher, name, program, limit_s) for name in names}
        while late := wait(asked.values(), timeout=TELL_S).not_done:
            tell(f"still waiting for {', '.join(name for name in names if asked[name] in late)}")
    alone = [each.result() for each in asked.values()]
    reasons = [each.reason for each in alone if each.reason]
    unreached = [each.unreached for each in alone if each.unreached]
    if 1 < len(unreached) == len(mapping.names):
        # What all hosts have in common is this one.
        return [
            f"none of the hosts {', '.join(names)} answers ({unreached[0]}): check their "
            f"names, and the network link and the ssh settings of this host; allow more time with "
            f"{LIMIT_VARIABLE}=60"
        ], 0.0
    return reasons, 0.0 if reasons else max(each.took_s for each in alone)


def _not_heard(mapping: RankMapping, answers: Answers) -> list[str]:
    """Returns the named hosts that did not answer."""
    heard = {_name(answer, mapping) for answer in answers.nodes}
    return [name for name in mapping.names if name not in heard]


def _not_answering(launcher: Launcher, names: Sequence[str], answers: Answers) -> str:
    shown = ", ".join(names[:MOST_ALONE])
    return (
        f"{len(names)} hosts do not answer ({_words(launcher, answers)}): {shown}: check that they are "
        f"up, or allow more time with {LIMIT_VARIABLE}=60"
    )


def _unreached(launcher: Launcher, mapping: RankMapping, answers: Answers, limit_s: float) -> list[str]:
    """Returns a line for hosts that answer alone, but not beside the others."""
    names = ", ".join(_not_heard(mapping, answers))
    if not names:
        return []
    local = next((name for name in mapping.names if name in LOCAL), "")
    remedy = (
        f"name this host as {names} knows it, instead of {local}"
        if local
        else (f"check that {names} can connect to this host, and all hosts to each other")
    )
    return [
        f"{names} answers alone, but not beside the other hosts within {limit_s:.0f} s "
        f"({_words(launcher, answers)}): {remedy}"
    ]


def _alone(launcher: Launcher, name: str, program: Sequence[str], limit_s: float) -> _Alone:
    """Asks one host."""
    words = launcher.words(RankMapping(1, 1, 1, (Host(name, 1),)))
    begin = time.monotonic()
    answers = _ask(launcher, words, program, 1, limit_s, lambda _: None, stays=False)
    if answers.nodes:
        return _Alone(took_s=time.monotonic() - begin)
    return _why_silent(launcher, name, program, answers)


def _why_silent(launcher: Launcher, name: str, program: Sequence[str], answers: Answers) -> _Alone:
    """Returns why a host does not answer alone."""
    said = _words(launcher, answers)
    lost = lost_process("\n".join(answers.said))
    if lost and lost.number:
        how = f"it ended by signal {lost.number:d}, {lost.number.name}"
    elif program[0] in said or Path(program[0]).name in said:
        how = said
    else:
        reason = (
            f"host {name} does not answer ({said}): check its name, and that ssh {name} true works without "
            f"a question; allow more time with {LIMIT_VARIABLE}=60"
        )
        return _Alone(reason=reason, unreached=said)
    return _Alone(reason=f"host {name} does not start {program[0]} ({how}): install the same engine there")


def _words(launcher: Launcher, answers: Answers) -> str:
    said = " ".join(line for line in answers.said if not is_banner(line)) or "no message"
    return f"{launcher.name}: {said[:_MOST_WORDS]}"


def _name(answer: dict[str, Any], mapping: RankMapping) -> str:
    """Returns the name of a node as on the command line, or its own."""
    if node := answer.get("node"):
        return shortened(str(node))
    rank = str(answer.get("rank", ""))
    is_number = re.fullmatch(r"[0-9]{1,9}", rank) is not None
    known = mapping.names[int(rank)] if is_number and int(rank) < len(mapping.hosts) else ""
    return known or shortened(str(answer.get("host") or "without a name"))


def _lacking(answer: dict[str, Any]) -> list[str]:
    """Returns the keys that an answer lacks, or has with a value of another type."""
    target = answer.get("target")
    return [
        *_without(answer, {"engine": str, "build": str, **_KEYS}),
        *_without(target if isinstance(target, dict) else {}, _KEYS_OF_TARGET, "target."),
    ]


def _without(values: dict[str, Any], keys: Mapping[str, type], prefix: str = "") -> list[str]:
    # Strictly: a truth value is an int, too.
    return [f"{prefix}{key}" for key, kind in keys.items() if type(values.get(key)) is not kind]


def _reasons(answer: dict[str, Any], name: str, here: dict[str, Any], target: Path, room: Room) -> list[str]:
    """Returns why a node cannot take part, one line each."""
    found = []
    if any(answer.get(key) != here[key] for key in ("engine", "build")):
        versions = f"{_version(answer)} there, {_version(here)} here"
        found.append(f"host {name} has another engine: {versions}: install the same on all hosts")
    if lacking := _lacking(answer):
        keys = ", ".join(lacking)
        bad = f"host {name} gives a bad answer, without {keys}: install the same engine on all hosts"
        return found or [bad]
    place = answer["target"]
    if place["reason"]:
        return [*found, _against_target(name, target, shortened(place["reason"]))]
    if not answer["folder"]:
        found.append(
            f"host {name}: {target} is another file system than on this host: mount the same one on all hosts"
        )
    found += [
        f"host {name} cannot use interface {one['name']}: {one['reason']}"
        for one in _named(answer, "interfaces")
    ]
    found += [
        f"host {name} cannot read {one['name']} ({one['reason']}): put it on a file system of all hosts"
        for one in _named(answer, "files")
        if one["name"] != room.store
    ]
    if room.store and answer.get("rank") in ("0", ""):
        found += [
            f"host {name} cannot read the store {Path(room.store).parent} ({one['reason']}), and its first "
            "rank writes there: put the store on a file system of both hosts (--store)"
            for one in _named(answer, "files")
            if one["name"] == room.store
        ]
    if place["free_bytes"] < room.space_bytes:
        found.append(
            f"host {name}: {target} has {format_bytes_rounded(place['free_bytes'])} free, and a case needs "
            f"{format_bytes_rounded(room.space_bytes)}: free space there"
        )
    available = answer["memory_available_bytes"]
    if 0 < available < room.memory_bytes:
        found.append(
            f"host {name} has {format_bytes_rounded(available)} of memory available, and its ranks need "
            f"{format_bytes_rounded(room.memory_bytes)}: reduce --per-node"
        )
    return [*found, *_limits(answer, name, room)]


def _against_target(name: str, target: Path, reason: str) -> str:
    if remedy := _REMEDIES.get(reason):
        return f"host {name}: {target} is {reason}: {remedy}"
    return f"host {name} cannot write to {target} ({reason}): permit it there, or choose another directory"


def _limits(answer: dict[str, Any], name: str, room: Room) -> list[str]:
    """Returns which limits of a process are too low on a node; -1 is none."""
    found = []
    if 0 <= answer["open_files"] < room.open_files:
        found.append(
            f"host {name} permits {answer['open_files']} open files, and a rank needs {room.open_files}: "
            "raise ulimit -n there"
        )
    if 0 <= answer["file_bytes"] < room.file_bytes:
        found.append(
            f"host {name} permits files of {format_bytes_rounded(answer['file_bytes'])}, and a run needs "
            f"{format_bytes_rounded(room.file_bytes)}: raise ulimit -f there"
        )
    return found


def _named(answer: dict[str, Any], key: str) -> list[dict[str, str]]:
    """Returns the missing requirements of a node, with names and reasons that can be printed."""
    return [
        {part: printable(str(one.get(part, "unknown"))[:_MOST_SHOWN]) for part in ("name", "reason")}
        for one in answer[key]
        if isinstance(one, dict)
    ]


def _version(answer: dict[str, Any]) -> str:
    engine, build = (shortened(str(answer.get(key, "unknown"))) for key in ("engine", "build"))
    return f"{engine} ({build})"


def _clock_off_s(answer: dict[str, Any]) -> float:
    """Returns how far a clock is off in seconds; 0 within the time limits of the question."""
    after = (answer["time_ns"] - answer["after_ns"]) / 1e9
    before = (answer["time_ns"] - answer["before_ns"]) / 1e9
    if after > CLOCK_S:
        return float(after)
    return float(before) if before < -CLOCK_S else 0.0
