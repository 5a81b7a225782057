"""The server: where it listens, and how it ends."""

import contextlib
import os
import resource
import signal
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from strider import signals
from strider.errors import ExitCode, StriderError
from strider.web.app import application
from strider.web.connections import Connection, Door, log_sparingly
from strider.web.guard import ENTRANCE, Keys
from strider.web.site import Site

MOST_FILES = 8192
"""Open at a time, where the machine allows it."""
LEAVE_S = 2
"""For pages that are being read when the server ends."""


def serve(site: Site, place: Path | int, say: Callable[[str], None]) -> None:
    """Serves the pages until Ctrl-C or SIGTERM; a run that is under way is then interrupted as by Ctrl-C.

    Args:
        site: The ground.
        place: A path for a unix socket, or a port of the loopback interface (0 for any that is free).
        say: Shows the user the address of the page.

    Raises:
        StriderError: It cannot listen there.
    """
    descriptors = _raise_file_limit()
    with _listening(place) as listener:
        if isinstance(place, Path):
            for warning in _risks(place):
                say(f"warning: {warning}")
            host = "localhost:8080"
            say(f"listening on the socket {place}; on your own machine:")
            say(f"  ssh -L 8080:{place.absolute()} {socket.gethostname()}")
        else:
            host = f"127.0.0.1:{listener.getsockname()[1]}"

        def invite(what: str) -> None:
            say(f"{what} open http://{host}{ENTRANCE}?token={keys.new_token()}")

        keys = Keys(used=lambda: invite("in another browser,"))
        invite("then" if isinstance(place, Path) else "please")
        say("the address is valid once; Ctrl-C ends the server and the active run")
        _run(lambda by_hand: application(site, keys, by_hand), listener, descriptors)


class _Server(uvicorn.Server):
    """uvicorn with a door of ours: its own accepts whatever comes, and logs each failure.

    Attributes:
        signal: Which one ends it.
    """

    def __init__(self, config: uvicorn.Config, door: Door) -> None:
        super().__init__(config)
        self._door = door
        self.signal = 0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])

        def connection() -> Connection:
            state = self.server_state
            return Connection(
                self._door, config=self.config, server_state=state, app_state=self.lifespan.state
            )

        self._door.open(connection)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._door.close()
        await super().shutdown(sockets=sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.signal = self.signal or sig
        super().handle_exit(sig, frame)


def _run(make: Callable[[Callable[[], bool]], ASGIApp], listener: socket.socket, descriptors: int) -> None:
    """Serves until a signal.

    Args:
        make: Makes the application; its argument returns whether the server was ended by Ctrl-C.
        listener: Where it listens.
        descriptors: How many the process may have.
    """
    log_sparingly()
    config = uvicorn.Config(
        make(lambda: server.signal == signal.SIGINT),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        loop="asyncio",
        ws="none",
        proxy_headers=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=LEAVE_S,
    )
    server = _Server(config, Door(listener, descriptors))
    # uvicorn ends at SIGINT and SIGTERM, and then raises the signal again.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.SIGHUP in signals.handled():
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listener])


@contextmanager
def _listening(place: Path | int) -> Iterator[socket.socket]:
    """A listening socket that only this user, or only this machine, can reach."""
    if isinstance(place, Path):
        with _unix_socket(place) as listener:
            yield listener
        return
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", place))
        except OSError as error:
            raise StriderError(
                f"cannot listen on port {place}: {error.strerror}: choose another one with --port",
                ExitCode.CANNOT_RUN,
            ) from error
        listener.listen()
        yield listener


def _risks(path: Path) -> Iterator[str]:
    """What others may do to a socket, by the folders that it is in.

    Raises:
        StriderError: They may put another one in its place.
    """
    folder = path.absolute().parent.resolve()
    mine = (0, os.geteuid())
    for above in (folder, *folder.parents):
        found = above.stat()
        sticky, mode = found.st_mode & stat.S_ISVTX, found.st_mode
        if found.st_uid not in mine or (mode & stat.S_IWOTH and not sticky):
            raise StriderError(
                f"other users can replace the socket {path}, because they can write to {above}: choose "
                "your own folder, for example $XDG_RUNTIME_DIR"
            )
        if mode & stat.S_IWGRP and not sticky:
            yield f"members of the group of {above} can replace the socket {path}"
    if folder.stat().st_mode & stat.S_IWOTH:
        yield f"all users can write to {folder}: after the server exits, they can listen on {path}"


@contextmanager
def _unix_socket(path: Path) -> Iterator[socket.socket]:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with listener:
        before = os.umask(0o177)
        try:
            list(_risks(path))
            _remove_dead(path)
            listener.bind(str(path))
        except OSError as error:
            raise StriderError(
                f"cannot listen on {path}: {error.strerror or error}: choose another path for --socket",
                ExitCode.CANNOT_RUN,
            ) from error
        finally:
            os.umask(before)
        made = path.stat()
        listener.listen()
        try:
            yield listener
        finally:
            with contextlib.suppress(OSError):
                # Another server may have taken the path since.
                if path.stat().st_ino == made.st_ino:
                    path.unlink()


def _remove_dead(path: Path) -> None:
    """Removes a socket that a killed server left; one that still answers stays, and binding fails."""
    if not path.exists() or not stat.S_ISSOCK(path.lstat().st_mode):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()


def _raise_file_limit() -> int:
    """How many descriptors this process may have, more than before where that is possible."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_FILES
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)
