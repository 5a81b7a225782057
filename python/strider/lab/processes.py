"""Processes of a lab: found again by the mark that all of them inherit."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from strider.processes import Process, identify

MARK_VARIABLE = "STRIDER_LAB"
"""Environment variable that all processes of a lab inherit, also those that its daemons start."""

GRACE_S = 2.0
"""How long a process may take to end when asked; its data is thrown away anyhow."""


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
