"""Processes that are found again, and stopped without ever hitting another one with the same number."""

import os
import select
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict

KILLED_S = 10.0
"""How long a process may take to be gone that was killed."""

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Process(BaseModel):
    """A process that cannot be mistaken for a later one with the same number.

    Attributes:
        pid: Process number.
        start_ticks: When it started, in clock ticks since the machine did (field 22 of /proc/PID/stat).
        name: What it is, for messages.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    start_ticks: int
    name: str


def boot_id() -> str:
    """Which start of the machine this is; empty where that cannot be told."""
    with suppress(OSError):
        return _BOOT_ID.read_text(encoding="ascii").strip()
    return ""


def start_ticks(pid: int) -> int:
    """When a process was started, in clock ticks since the machine was; 0 where that cannot be told."""
    fields = _stat_fields(pid)
    return int(fields[19]) if fields else 0


def identify(pid: int, name: str) -> Process | None:
    """What a process is, None if it has ended."""
    fields = _stat_fields(pid)
    if fields is None or fields[0] in ("Z", "X"):
        return None
    return Process(pid=pid, start_ticks=int(fields[19]), name=name)


def is_alive(process: Process) -> bool:
    """Whether exactly this process runs."""
    return identify(process.pid, process.name) == process


def stop(processes: Iterable[Process], grace_s: float) -> list[Process]:
    """Asks processes to end, and ends those that do not.

    Args:
        processes: The processes.
        grace_s: How long they may take.

    Returns:
        Those that live on all the same.
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
    """A descriptor for each process that is alive; from then on its number cannot come to mean another."""
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
    """Waits until processes have ended, and removes those that have from `held`."""
    poll = select.poll()
    for descriptor in held:
        poll.register(descriptor, select.POLLIN)
    end = time.monotonic() + limit_s
    while held and (left_s := end - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(left_s * 1000):
            poll.unregister(descriptor)
            os.close(descriptor)
            del held[descriptor]


def _stat_fields(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the state (the third) on."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name stands in parentheses and may hold anything, parentheses too.
    return text[text.rindex(")") + 2 :].split()
