"""Continues a run that was cut: by Ctrl-C, a time limit, a lost node, a power cut or a kill.

The engine repeats its decisions for the repetitions that are complete, and measures the rest in the same
order. The events continue in the same file, after a `cut` event.
"""

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from strider.engine import Engine, Json, to_json
from strider.errors import ExitCode, StriderError
from strider.launch import folder, leftovers, rundir
from strider.launch.earlier import Earlier, repair
from strider.launch.folder import Marker
from strider.launch.observers import free_name
from strider.launch.rundir import RunDirectory
from strider.processes import command_lines
from strider.store.checked_events import Event
from strider.suite import Changes, CheckedPlan, Plan, Suite
from strider.suite.document import parse
from strider.text_file import MOST_DOCUMENT_BYTES, json_of, read_regular, write_whole
from strider.units import format_seconds

CLAIM = ".resuming"
"""File of a run directory while a process resumes the run; it has a marker."""
QUIET_S = 600.0
"""After so many seconds without an event, a run on another host is no longer active."""
LINGER_S = 15.0
"""Time limit in seconds for the ranks of a killed run to exit."""
POLL_S = 0.1


@dataclass(frozen=True)
class Resumption:
    """A further start of a run.

    Attributes:
        directory: The run's directory.
        earlier: Its earlier starts.
        status: How the last of them ended: `interrupted`, `failed`, `time limit` or `killed`.
        time_limit_s: Time limit of this start in seconds; 0 for none.
        differences: Conditions that differ from those of the first start, one line each.
        elsewhere: Whether the ranks may be on other nodes than before.
        signal: Name of the signal that interrupted the last start; empty if none did.
        is_over: Whether a scheduler has ended the last start, on whichever node it was.
    """

    directory: RunDirectory
    earlier: Earlier
    status: str
    time_limit_s: float
    differences: Sequence[str] = ()
    elsewhere: bool = False
    signal: str = ""
    is_over: bool = False

    @property
    def record(self) -> Path:
        """The file from which the engine reads the earlier starts."""
        return self.directory.path / "earlier.json"

    def begin(self) -> None:
        """Makes the run directory ready for further events: repairs the events, removes the end of the run.

        Raises:
            StriderError: The store is not writable.
        """
        now = datetime.now(UTC)
        try:
            cut = self._cut(now)
            repair(self.directory.events, self.earlier, cut)
            write_whole(self.record, self._record(now))
            if self.directory.log.exists():
                self.directory.log.rename(free_name(self.directory.path, "engine-earlier", ".log"))
            process = asdict(folder.this_process(self.directory.run))
            before = self.earlier.cuts[:-1] if self.earlier.is_cut else self.earlier.cuts
            cuts: list[Json] = [*before, *([cut] if cut else [])]
            rundir.reopen(self.directory, cuts, process, self.time_limit_s)
        except OSError as error:
            raise rundir.cannot_write(self.directory, error) from error

    def _cut(self, now: datetime) -> Event | None:
        """Returns the event between the earlier starts and this one; None if no rank ever started."""
        if not self.earlier.runs:
            return None
        again = self.earlier.cuts[-1] if self.earlier.is_cut else None
        end = self.earlier.end or {}
        cut = {
            "event": "cut",
            "time_s": self.earlier.last_s,
            "status": self.status,
            "reason": self.signal or str(end.get("reason", "")),
            "at": self.earlier.cut_at,
            "repetitions": len(self.earlier.repetitions),
        }
        kept = {**cut, **{key: again[key] for key in cut}} if again else cut
        return {
            **kept,
            "resumed": rundir.iso(now),
            "time_limit_s": self.time_limit_s,
            "differences": list(self.differences),
        }

    def _record(self, now: datetime) -> str:
        return to_json(
            {
                "elapsed_s": self.earlier.elapsed_s(now),
                "time_limit_s": self.time_limit_s,
                "samples": self.earlier.samples,
                "errors": self.earlier.errors,
                "nodes": [] if self.elsewhere else self.earlier.nodes,
                "repetitions": self.earlier.repetitions,
            }
        )


def status_of_cut(info: dict[str, Any], earlier: Earlier) -> str:
    """Returns how the last start of a run ended.

    Args:
        info: `run.json`.
        earlier: The earlier starts.
    """
    if info.get("status") == "complete":
        return "time limit"
    if earlier.end is not None and earlier.end.get("status") != "complete":
        return str(earlier.end["status"])
    return str(info.get("status") or "killed")


def limit_of_resumption(plan_limit_s: float, status: str, earlier: Earlier, typed_s: float | None) -> float:
    """Returns the time limit of a further start in seconds; 0 for none.

    It is the rest of the last start's time. If there is none, the limit holds for this start again.

    Args:
        plan_limit_s: Time limit of the plan; 0 for none.
        status: How the last start ended.
        earlier: The earlier starts.
        typed_s: `--time-limit`; None if it was not given.
    """
    if typed_s is not None:
        return typed_s
    last_s = float(earlier.cuts[-1]["time_limit_s"]) if earlier.cuts else plan_limit_s
    if not last_s:
        return 0.0
    left_s = earlier.left_of(plan_limit_s)
    return plan_limit_s or last_s if status == "time limit" or left_s <= 0 else left_s


def planned_again(directory: RunDirectory, info: dict[str, Any], engine: Engine) -> CheckedPlan:
    """Returns the plan of a run, as it was checked.

    Raises:
        StriderError: It cannot be read, or this engine cannot run it.
    """
    try:
        text = directory.plan.read_text(encoding="utf-8")
        suite = (directory.path / "suite.toml").read_text(encoding="utf-8")
    except OSError as error:
        raise StriderError(f"cannot read {error.filename}: {error.strerror}: start a new run") from error
    try:
        plan = Plan.model_validate_json(text)
    except ValueError as error:
        raise StriderError(f"{directory.plan} is damaged: start a new run") from error
    result = engine.check(text)
    if result.errors:
        first = result.errors[0]
        raise StriderError(f"{directory.plan}: case {first.case}: {first.message}: start a new run")
    # The target as it was found then, wherever this process works.
    plan = plan.model_copy(update={"target": str(info["directory"])})
    document = parse(suite, str(directory.path / "suite.toml"))
    return CheckedPlan(Suite(document, plan, [], Changes(list(info.get("set", [])))), result)


def remove_earlier_folder(target: Path, run: str, *, is_over: bool = False) -> None:
    """Removes the folder that a killed start of a run left in the target.

    Args:
        target: The target.
        run: The run.
        is_over: Whether a scheduler has ended that start, also on another host.

    Raises:
        StriderError: It may be in use, is not Strider's, or cannot be removed.
    """
    name = f"{folder.PREFIX}{run}"
    left = next((one for one in leftovers.find(target) if one.path.name == name), None)
    if left is None:
        return
    if left.state != "abandoned" and not (is_over and left.state == "elsewhere"):
        remedy = "check there, then strider clean --force" if left.state == "elsewhere" else "move it away"
        raise StriderError(f"{left.path} is in the way: {left.reason}: {remedy}", ExitCode.CANNOT_RUN)
    problems = leftovers.clean(left).problems
    if problems:
        raise StriderError(problems[0], ExitCode.CANNOT_RUN)


@contextmanager
def claimed(directory: RunDirectory, *, is_over: bool = False) -> Iterator[None]:
    """Ensures that one process at a time resumes a run.

    Args:
        directory: The run's directory.
        is_over: Whether a scheduler has ended earlier processes on other hosts.

    Raises:
        StriderError: Another process resumes it.
    """
    path = directory.path / CLAIM
    other = _marker(path)
    is_elsewhere = other is not None and other.host != socket.gethostname() and not is_over
    if other is not None and (is_elsewhere or (other.host == socket.gethostname() and other.lives())):
        raise StriderError(
            f"process {other.pid} on {other.host} resumes {directory.run}: wait for its end; if it was "
            f"killed, remove {path}",
            ExitCode.CANNOT_RUN,
        )
    try:
        path.unlink(missing_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(to_json(asdict(folder.this_process(directory.run))))
    except FileExistsError:
        raise StriderError(f"another process resumes {directory.run}", ExitCode.CANNOT_RUN) from None
    except OSError as error:
        raise rundir.cannot_write(directory, error) from error
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def is_held(directory: RunDirectory) -> bool:
    """Returns whether a process of this host executes a run, or still writes its report."""
    markers = [_marker(directory.path / CLAIM)]
    with suppress(OSError, ValueError, AttributeError):
        markers.append(Marker.of(json_of(read_regular(directory.info, MOST_DOCUMENT_BYTES)).get("process")))
    return any(one.host == socket.gethostname() and one.lives() for one in markers if one is not None)


def require_over(directory: RunDirectory, info: dict[str, Any], *, is_over: bool = False) -> None:
    """Refuses a run that is under way; waits for ranks of a killed run to exit.

    Args:
        directory: The run's directory.
        info: `run.json`.
        is_over: Whether a scheduler has ended earlier processes on other hosts.

    Raises:
        StriderError: The run is, or may be, under way.
    """
    process = Marker.of(info.get("process"))
    if "ended" not in info and process is not None:
        if process.host != socket.gethostname() and is_over:
            return
        if process.host != socket.gethostname():
            _require_quiet(directory, process.host)
        elif process.lives():
            raise StriderError(
                f"{directory.run} is under way (process {process.pid}): wait for its end",
                ExitCode.CANNOT_RUN,
            )
    end = time.monotonic() + LINGER_S
    while ranks := processes_of(directory.run):
        if time.monotonic() > end:
            raise StriderError(
                f"{directory.run}: processes {', '.join(map(str, ranks))} are still there: end them first",
                ExitCode.CANNOT_RUN,
            )
        time.sleep(POLL_S)


def processes_of(run: str) -> list[int]:
    """Returns the processes of this host that execute a run: launchers and ranks."""
    # Of this user: arguments of other users' processes are no facts about a run.
    return sorted(pid for pid, words in command_lines(own=True) if ("--run", run) in pairwise(words))


def _require_quiet(directory: RunDirectory, host: str) -> None:
    latest = max(_changed(directory.events), _changed(directory.info))
    quiet_s = time.time() - latest
    if quiet_s < QUIET_S:
        raise StriderError(
            f"{directory.run} was started on {host} and may be under way there: its last event is "
            f"{format_seconds(max(0.0, quiet_s))} old; wait until it is {format_seconds(QUIET_S)} old",
            ExitCode.CANNOT_RUN,
        )


def _changed(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _marker(path: Path) -> Marker | None:
    try:
        return Marker.of(json_of(read_regular(path, MOST_DOCUMENT_BYTES)))
    except (OSError, ValueError):
        return None
