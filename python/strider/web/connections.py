"""Connections: accepted so that those of strangers never keep a user out, and closed where nothing comes.

A connection is unauthenticated until a request on it has shown a session. Such connections have a share of
the process's descriptors; when it is used up, the oldest of them is closed. So a flood of connections
displaces itself, and a user's new connection has time to show its cookie.
"""

import asyncio
import contextlib
import errno
import logging
import socket
import time
import traceback
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_S = 10.0
"""For the head of a request, from the connection or the first byte on."""
RETRY_S = 0.5
"""Where the machine has no more descriptors, until it is asked for one again."""
BATCH = 16
"""Connections that are accepted before anything else is done."""
SHARE = 4
"""One part in so many of all descriptors is for strangers, another one for users; the rest is for files."""
LEAST, MOST = 16, 1024
CONNECTION = "strider.connection"
"""Where a request finds its connection."""

LOG_BURST, LOG_EVERY_S, LOG_CHARACTERS = 10, 10.0, 3000
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

_log = logging.getLogger("uvicorn.error")


class Door:
    """Accepts connections on a socket that listens.

    Args:
        listener: The socket.
        descriptors: How many the process may have.
    """

    def __init__(self, listener: socket.socket, descriptors: int) -> None:
        self._listener = listener
        self._room = max(LEAST, min(MOST, descriptors // SHARE))
        self._strangers: dict[Connection, None] = {}
        self._users: set[Connection] = set()
        self._make: Callable[[], Connection] | None = None
        self._begun: set[asyncio.Task[Any]] = set()

    def open(self, make: Callable[[], "Connection"]) -> None:
        """Accepts from now on; `make` gives the protocol of a connection."""
        self._make = make
        self._listener.setblocking(False)
        self._resume()

    def close(self) -> None:
        """Accepts no more."""
        if self._make:
            self._make = None
            asyncio.get_running_loop().remove_reader(self._listener)

    def _resume(self) -> None:
        if self._make:
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(BATCH):
            try:
                accepted, _ = self._listener.accept()
            except OSError as error:
                if error.errno in _EXHAUSTED:
                    self._pause(error)
                return
            accepted.setblocking(False)
            assert self._make is not None  # noqa: S101 - else nothing is accepted
            task = loop.create_task(_connected(self._make, accepted))
            self._begun.add(task)
            task.add_done_callback(self._begun.discard)

    def _pause(self, error: OSError) -> None:
        """Makes room, and does not ask again at once, as the listener stays readable."""
        _log.warning("cannot accept connections: %s", error.strerror)
        self._drop_oldest()
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listener)
        loop.call_later(RETRY_S, self._resume)

    def _drop_oldest(self) -> None:
        oldest = next(iter(self._strangers), None)
        if oldest:
            del self._strangers[oldest]
            oldest.transport.abort()

    def came(self, connection: "Connection") -> None:
        """A connection is there, of a stranger; it may cost the oldest one its place."""
        self._strangers[connection] = None
        if len(self._strangers) > self._room:
            self._drop_oldest()

    def gone(self, connection: "Connection") -> None:
        """A connection is closed."""
        self._strangers.pop(connection, None)
        self._users.discard(connection)

    def is_user(self, connection: "Connection") -> bool:
        """Counts a connection as one of a user from now on; false where there is no room for more of them."""
        if connection not in self._users:
            if len(self._users) >= self._room:
                return False
            self._strangers.pop(connection, None)
            self._users.add(connection)
        return True


async def _connected(make: Callable[[], "Connection"], accepted: socket.socket) -> None:
    try:
        await asyncio.get_running_loop().connect_accepted_socket(make, accepted)
    except OSError:
        with contextlib.suppress(OSError):
            accepted.close()


class Connection(H11Protocol):
    """A connection that knows its door, and closes where the head of a request does not come.

    Args:
        door: Where it came in.
        rest: What uvicorn gives to its protocol.
    """

    def __init__(self, door: Door, **rest: Any) -> None:  # noqa: ANN401 - uvicorn names it apart
        super().__init__(**rest)
        self._door = door
        self._timer: asyncio.TimerHandle | None = None
        self.app = self._introduced(self.app)

    def _introduced(self, app: ASGIApp) -> ASGIApp:
        async def introduced(scope: Scope, receive: Receive, send: Send) -> None:
            scope[CONNECTION] = self
            await app(scope, receive, send)

        return introduced

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._door.came(self)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._door.gone(self)
        self._stop_watching()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def admitted(self) -> bool:
        """Whether a request that has shown a session may be answered on this connection."""
        return self._door.is_user(self)

    def _watch(self) -> None:
        """Gives the head of the next request its time, unless a request is being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_watching()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEADER_S, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Sparingly(logging.Filter):
    """Lets some messages of a log through at once, and then one from time to time, none of them long."""

    def __init__(self) -> None:
        super().__init__()
        self._budget, self._at, self._left_out = float(LOG_BURST), time.monotonic(), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a message is shown; one that is says how many were not."""
        now = time.monotonic()
        self._budget = min(LOG_BURST, self._budget + (now - self._at) / LOG_EVERY_S)
        self._at = now
        if self._budget < 1:
            self._left_out += 1
            return False
        self._budget -= 1
        more = f" ({self._left_out} earlier messages omitted)" if self._left_out else ""
        self._left_out = 0
        text = record.getMessage()[:LOG_CHARACTERS] + more
        if record.exc_info:
            text += "\n" + "".join(traceback.format_exception(*record.exc_info))[-LOG_CHARACTERS:]
        record.msg, record.args, record.exc_info = text, (), None
        return True


def log_sparingly() -> None:
    """Shows warnings of the server and of asyncio on the terminal, through `Sparingly`."""
    handler = logging.StreamHandler()
    handler.addFilter(Sparingly())
    handler.setFormatter(logging.Formatter("strider: %(message)s"))
    for name in ("uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
