"""Processes of a lab: found again by the mark that all of them inherit, or by where they work."""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from strider.processes import Process, identify, read_each

MARK_VARIABLE = "STRIDER_LAB"
"""Environment variable that all processes of a lab inherit, also those that its daemons start."""

GRACE_S = 2.0
"""How long a process may take to end when asked; its data is thrown away anyhow."""


def marked(mark: str) -> Iterator[Process]:
    """All processes that have the mark in the environment that they were started with."""
    wanted = f"{MARK_VARIABLE}={mark}".encode()
    return _that(lambda process, _: wanted in (process / "environ").read_bytes().split(b"\0"))


def working_in(folder: Path, names: Collection[str]) -> Iterator[Process]:
    """All processes of some names whose working directory is a folder.

    For programs that write a title over their environment, and so over the mark.
    """
    return _that(lambda process, name: name in names and (process / "cwd").readlink() == folder)


def in_networks(namespaces: Collection[str]) -> Iterator[Process]:
    """All processes in network namespaces, each as `net:[INODE]`."""
    return _that(lambda process, _: str((process / "ns/net").readlink()) in namespaces)


def _that(condition: Callable[[Path, str], bool]) -> Iterator[Process]:
    """All processes for whose folder in /proc, and name, a condition holds."""

    def name_of(folder: Path) -> str | None:
        name = (folder / "comm").read_text(encoding="utf-8").strip()
        return name if condition(folder, name) else None

    for pid, name in read_each(name_of):
        if name is not None and (found := identify(pid, name)):
            yield found
