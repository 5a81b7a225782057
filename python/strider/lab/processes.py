"""Processes of a lab: found again, and stopped without ever hitting another one with the same number."""

import os
import select
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from strider.lab.record import Process

MARK_VARIABLE = "STRIDER_LAB"
"""Environment variable that all processes of a lab inherit, also those that its daemons start."""

GRACE_S = 2.0
"""How long a process may take to end when asked; its data is thrown away anyhow."""
KILLED_S = 10.0


def identify(pid: int, name: str) -> Process | None:
    """What a process is, None if it has ended."""
    fields = _stat_fields(pid)
    if fields is None or fields[0] in ("Z", "X"):
        return None
    return Process(pid=pid, start_ticks=int(fields[19]), name=name)


def is_alive(process: Process) -> bool:
    """Whether exactly this process runs."""
    return identify(process.pid, process.name) == process


def marked(mark: str) -> Iterator[Process]:
    """All processes that have the mark in the environment that they were started with."""
    wanted = f"{MARK_VARIABLE}={mark}".encode()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        # Processes end while one looks, and those of others may be closed to us: not ours either way.
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found = identify(int(folder.name), (folder / "comm").read_text(encoding="utf-8").strip())
                if found:
                    yield found


def stop(processes: Iterable[Process], grace_s: float = GRACE_S) -> list[Process]:
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
