"""The rank on this host that ended first: MPICH's launcher kills the others, and names the lowest."""

import fcntl
import os
import resource
import select
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from strider.launch.state import FirstEnd, RunState
from strider.processes import executable
from strider.store.checked_events import Event

MOST_RANKS = 512
"""Most ranks that are watched: each needs a descriptor."""
_SHARE = 4
"""Most ranks likewise, as this part of the limit of open files."""
_INFO = struct.Struct("=QQ11Ii")
"""The first version of `struct pidfd_info`: mask, ..., exit code."""
_EXIT = 1 << 3
"""The bit of its mask for the exit code, which Linux knows since 6.15."""
_GET_INFO = 3 << 30 | _INFO.size << 16 | 0xFF << 8 | 11


def is_same_host(one: str, other: str) -> bool:
    """Returns whether two names are equal, or one is the other with a domain."""
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")


@dataclass
class _Watched:
    """A process descriptor for each rank on this host; epoll returns them in the order of their ends.

    Attributes:
        ended: The queue of ends.
        pids: The process of each descriptor.
    """

    ended: select.epoll
    pids: dict[int, int]


class RankWatch:
    """Notes the rank on this host that ended first, without waiting for it."""

    def __init__(self, program: str) -> None:
        """Watches nothing yet.

        Args:
            program: Name of the program of the ranks: equal names of hosts do not mean equal pids.
        """
        self._program = program
        self._nodes: Sequence[Event] = ()
        self._watched: _Watched | None = None
        self._first: int | None = None

    def look(self, state: RunState) -> None:
        """Begins with the ranks of a `run` event; later notes the first end in the state."""
        if state.nodes is not self._nodes:
            self.close()
            self._nodes = state.nodes
            self._open(_local_pids(state.nodes))
        if self._watched is None:
            return
        if self._first is None:
            ended = self._watched.ended.poll(0)
            self._first = ended[0][0] if ended else None
        if self._first is not None:
            pids = self._watched.pids
            state.first_end = FirstEnd(pids[self._first], _status(self._first), frozenset(pids.values()))

    def close(self) -> None:
        """Closes the descriptors."""
        if self._watched:
            self._watched.ended.close()
            for descriptor in self._watched.pids:
                os.close(descriptor)
        self._watched = self._first = None

    def _open(self, pids: Sequence[int]) -> None:
        """Watches all of these processes, or none: without one of them, the first would not be certain."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if not pids or len(pids) > min(MOST_RANKS, soft // _SHARE):
            return
        with suppress(OSError):  # also of Linux before 5.3
            self._watched = _Watched(select.epoll(), {})
            for pid in pids:
                descriptor = os.pidfd_open(pid)
                self._watched.pids[descriptor] = pid
                self._watched.ended.register(descriptor, select.EPOLLIN)
            if {executable(pid) for pid in pids} == {self._program} and not self._watched.ended.poll(0):
                return
        self.close()


def _local_pids(nodes: Sequence[Event]) -> list[int]:
    here = socket.gethostname()
    return [pid for node in nodes if is_same_host(node["name"], here) for _, pid in node.get("processes", [])]


def _status(descriptor: int) -> int | None:
    """Returns the wait status of an ended process; None before its parent waited, or if Linux lacks it."""
    info = bytearray(_INFO.pack(_EXIT, *[0] * 13))
    with suppress(OSError):
        fcntl.ioctl(descriptor, _GET_INFO, info)
        mask, *_, status = _INFO.unpack(info)
        return int(status) if mask & _EXIT else None
    return None
