"""Memory and latency of one list-I/O server with many clients, active and idle, and with silent connections.

    .strider/venv/bin/python benchmarks/many_clients.py [TRANSPORT [MEMORY [SECONDS]]]

TRANSPORT is cma (default) or tcp, MEMORY the server's bytes for communication buffers (default 268435456).
Each row of active clients has a new server, which keeps its files in memory (/dev/shm). Active clients write
and read in turn for SECONDS (default 3), each a file of its own. `resident` is the largest memory of the
server so far. A silent connection sends nothing; a client connects while there are 10 000 of them. Needs a
hard limit of 15 000 open files. Builds `strider-many-clients` and `strider-listio-server` beside the engine.
"""

import json
import re
import resource
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from common import Json, build, list_server
from rich.console import Console
from rich.table import Table

IDLE = 10_000
IDLE_OF_A_PROCESS = 2500
"""Each client has four descriptors."""
SMALL, LARGE = 4096, 65536


@dataclass(frozen=True)
class Service:
    """A running server, and the programs."""

    folder: Path
    volume: Path
    address: str
    pid: int

    def resident_mib(self) -> float:
        """The largest memory of the server so far."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024

    def words(self, clients: int, size: int, seconds: float) -> list[str]:
        """The command of clients."""
        program = self.folder / "benchmarks/listio/strider-many-clients"
        return [str(word) for word in (program, self.volume, clients, size, seconds)]

    def measure(self, clients: int, size: int, seconds: float) -> Json:
        """What active clients saw."""
        done = subprocess.run(
            self.words(clients, size, seconds), check=True, stdout=subprocess.PIPE, text=True
        )
        return json.loads(done.stdout)

    @contextmanager
    def idle(self, clients: int) -> Iterator[None]:
        """Clients that are connected and ask for nothing."""
        with ExitStack() as stack:
            for _ in range(0, clients, IDLE_OF_A_PROCESS):
                words = self.words(IDLE_OF_A_PROCESS, 0, 0)
                process = stack.enter_context(
                    subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                )
                if next(iter(process.stdout or []), "") != "ready\n":
                    sys.exit("the idle clients could not connect")
            yield

    @contextmanager
    def silent(self, count: int) -> Iterator[None]:
        """Connections on which no byte is sent."""
        host, port = self.address.rsplit(":", 1)
        with ExitStack() as stack:
            for _ in range(count):
                stack.enter_context(socket.create_connection((host, int(port))))
            yield


@contextmanager
def serving(folder: Path, transport: str, memory: str) -> Iterator[Service]:
    """A new server."""
    with (
        tempfile.TemporaryDirectory(dir="/dev/shm") as place,
        list_server(folder, Path(place), transport, "--memory-bytes", memory) as (volume, ready),
    ):
        yield Service(folder, volume, ready["address"], ready["pid"])


def main(transport: str = "cma", memory: str = str(256 << 20), seconds: str = "3") -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    folder = build("strider-many-clients", "strider-listio-server")
    table = Table(title=f"{transport}, memory {memory} bytes", title_justify="left")
    for column in (
        "clients",
        "bytes",
        "requests/s",
        "p50 µs",
        "p95 µs",
        "p99 µs",
        "max µs",
        "errors",
        "resident MiB",
    ):
        table.add_column(column, justify="right")

    def add(label: str, size: int, found: Json, service: Service) -> None:
        latencies = [f"{found[key]:.0f}" for key in ("p50_us", "p95_us", "p99_us", "max_us")]
        rate = f"{found['requests'] / float(seconds):.0f}"
        table.add_row(
            label, str(size), rate, *latencies, str(found["errors"]), f"{service.resident_mib():.0f}"
        )

    for clients in (1, 10, 100, 1000):
        for size in (SMALL, LARGE):
            with serving(folder, transport, memory) as service:
                add(str(clients), size, service.measure(clients, size, float(seconds)), service)
    with serving(folder, transport, memory) as service, service.idle(IDLE):
        print(f"{IDLE} idle clients: {service.resident_mib():.0f} MiB resident")
        for clients in (1, 1000):
            for size in (SMALL, LARGE):
                found = service.measure(clients, size, float(seconds))
                add(f"{clients}, {IDLE} idle", size, found, service)
    with serving(folder, transport, memory) as service, service.silent(IDLE):
        found = service.measure(1, SMALL, 1)
        print(f"{IDLE} silent connections: a client connected in {found['connect_max_us'] / 1000:.1f} ms")
    Console(width=140).print(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
