"""A TCP proxy that cuts and delays the connections of clients to a server."""

from __future__ import annotations

import random
import socket
import threading
import time
from contextlib import suppress

CHUNK_BYTES = 65536


class Proxy:
    """Relays connections to a server, one thread for each direction.

    Attributes:
        address: Where it listens, host:port.
        delay_s: How long it holds each chunk of bytes.
        cuts: Connections that it has cut.
    """

    def __init__(self, server: str) -> None:
        host, port = server.rsplit(":", 1)
        self._server = (host, int(port))
        self._listener = socket.create_server((host, 0), backlog=64)
        self.address = f"{host}:{self._listener.getsockname()[1]}"
        self.delay_s = 0.0
        self.cuts = 0
        self._lock = threading.Lock()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._doomed: set[tuple[socket.socket, socket.socket]] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, choose: random.Random) -> None:
        """Cuts connections at once, or each within the next bytes that it transfers."""
        with self._lock:
            pairs = [pair for pair in self._pairs if choose.random() < 0.7]
            if choose.random() < 0.5:
                self._doomed.update(pairs)
                return
        for pair in pairs:
            self._end(pair)

    def close(self) -> None:
        """Ends all connections, and accepts no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            self._end(pair)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self._server, timeout=5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            pair = (client, server)
            for end in pair:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._pairs.add(pair)
            for source, target in (pair, pair[::-1]):
                threading.Thread(target=self._relay, args=(pair, source, target), daemon=True).start()

    def _relay(
        self, pair: tuple[socket.socket, socket.socket], source: socket.socket, target: socket.socket
    ) -> None:
        with suppress(OSError):
            while chunk := source.recv(CHUNK_BYTES):
                if self.delay_s:
                    time.sleep(self.delay_s)
                if pair in self._doomed:
                    target.sendall(chunk[: random.randrange(len(chunk) + 1)])
                    break
                target.sendall(chunk)
        self._end(pair)

    def _end(self, pair: tuple[socket.socket, socket.socket]) -> None:
        with self._lock:
            if pair not in self._pairs:
                return
            self._pairs.remove(pair)
            self._doomed.discard(pair)
            self.cuts += 1
        for end in pair:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
