"""Identifies processes across restarts and stops them safely, even if a pid is reused."""

import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

KILLED_S = 10.0
"""Time limit in seconds for a killed process to exit."""

_Read = TypeVar("_Read")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Process(BaseModel):
    """A process, identified by pid and start time.

    Attributes:
        pid: Process id.
        start_ticks: Start time in clock ticks since boot (field 22 of /proc/PID/stat).
        name: Its name in messages.
        executable: Name of its program; empty if it may run several.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    start_ticks: int
    name: str
    executable: str = ""


def boot_id() -> str:
    """Returns the boot id of this machine; empty if unknown."""
    with suppress(OSError):
        return _BOOT_ID.read_text(encoding="ascii").strip()
    return ""


def start_ticks(pid: int) -> int:
    """Returns the start time of a process in clock ticks since boot; 0 if unknown."""
    fields = _stat_fields(pid)
    return int(fields[19]) if fields else 0


def identify(pid: int, name: str) -> Process | None:
    """Returns the identity of a process; None if it has exited."""
    fields = _stat_fields(pid)
    if fields is None or fields[0] in ("Z", "X"):
        return None
    return Process(pid=pid, start_ticks=int(fields[19]), name=name)


def of_program(pid: int, name: str) -> Process | None:
    """Returns the identity of a process that runs one program to its end; None if it has exited."""
    found = identify(pid, name)
    return found.model_copy(update={"executable": executable(pid)}) if found else None


def is_alive(process: Process) -> bool:
    """Returns whether exactly this process is running."""
    find = of_program if process.executable else identify
    return find(process.pid, process.name) == process


def still_runs(pid: int, boot: str, start: int) -> bool:
    """Returns whether a process that was noted earlier is running on this host; a reused pid does not count.

    Args:
        pid: Process id.
        boot: Boot id of its host; empty if unknown.
        start: Its start time in clock ticks since boot; 0 if unknown.
    """
    ticks = start_ticks(pid)
    return bool(ticks) and start in (0, ticks) and boot in ("", boot_id())


def descendants(pid: int) -> list[int]:
    """Returns the descendants of a process, parents first, also those in other sessions."""
    found: list[int] = []
    pending = [pid]
    while pending:
        current = pending.pop(0)
        listing = Path(f"/proc/{current}/task/{current}/children")
        try:
            children = [int(child) for child in listing.read_text(encoding="ascii").split()]
        except OSError:
            children = []
        found += children
        pending += children
    return found


def read_each(read: Callable[[Path], _Read]) -> Iterator[tuple[int, _Read]]:
    """Yields the id of each process on this host, and what `read` returns for its folder in /proc.

    Leaves out processes that exit meanwhile, and those that this user may not read.
    """
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found = read(folder)
            except OSError:
                continue
            yield int(folder.name), found


def command_lines(*, own: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yields the id and the command line of each process on this host, or only of those of this user."""

    def words(folder: Path) -> list[str]:
        if own and folder.stat().st_uid != os.geteuid():
            return []
        line = (folder / "cmdline").read_bytes().removesuffix(b"\0")
        return os.fsdecode(line).split("\0") if line else []

    return ((pid, line) for pid, line in read_each(words) if line)


def stop(processes: Iterable[Process], grace_s: float) -> list[Process]:
    """Terminates processes, and kills those that do not exit in time.

    Args:
        processes: The processes.
        grace_s: Time in seconds before they are killed.

    Returns:
        The processes that are still running.
    """
    held = dict(_hold(processes))
    try:
        _signal(held, signal.SIGTERM)
        _wait(held, grace_s)
        _signal(held, signal.SIGKILL)
        _wait(held, KILLED_S)
        return list(held.values())
    finally:
        for descriptor in held:
            os.close(descriptor)


def _hold(processes: Iterable[Process]) -> Iterator[tuple[int, Process]]:
    """Returns a pidfd for each running process, which stays valid even if the pid is reused."""
    for process in dict.fromkeys(processes):
        try:
            descriptor = os.pidfd_open(process.pid)
        except ProcessLookupError:
            continue
        if is_alive(process):
            yield descriptor, process
        else:
            os.close(descriptor)


def _signal(held: Iterable[int], number: signal.Signals) -> None:
    for descriptor in held:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, number)


def _wait(held: dict[int, Process], limit_s: float) -> None:
    """Waits for processes to exit, and removes them from `held`."""
    poll = select.poll()
    for descriptor in held:
        poll.register(descriptor, select.POLLIN)
    end = time.monotonic() + limit_s
    while held and (left_s := end - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(left_s * 1000):
            poll.unregister(descriptor)
            os.close(descriptor)
            del held[descriptor]


def executable(pid: int) -> str:
    """Returns the name of a process's program, which may have been moved or replaced; empty if unknown."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/exe").readlink().name.removesuffix(" (deleted)")
    return ""


def _stat_fields(pid: int) -> list[str] | None:
    """Returns the fields of /proc/PID/stat from the third (state) on."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name is in parentheses and may itself contain parentheses.
    return text[text.rindex(")") + 2 :].split()
