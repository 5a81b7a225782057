"""The mount and the MPI-IO layer while servers are killed, full or slow, and connections are cut."""

import errno
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kills import (
    Clients,
    Found,
    client_program,
    findings,
    kill_pair,
    require_whole_after_repair,
    serve_again,
    working,
)
from proxies import Proxy
from strider.engine import Engine
from strider.listio import (
    VOLUME_FILE,
    MountOptions,
    ServerOptions,
    mount,
    preload_variables,
    processes_of,
    read_volume,
    scrub,
    serve,
    stop,
    unmount,
)

SECONDS = float(os.environ.get("STRIDER_LAYERS_S", "5"))
SERVERS = 4
CLIENTS = 4
MOUNTS = 2
DISK_BYTES = 48 << 20
FIRST = {1: ("full disk", "kill", "hang", "cut", "kill"), 2: ("kill", "cut", "kill")}
"""The first faults of volumes with one copy, and with two; later ones are chosen at random."""
LATER = {
    1: ("full disk", "kill", "kill", "cut", "delay", "pause", "hang"),
    2: ("kill", "kill", "cut", "delay", "pause"),
}
PATIENCE_S = {1: 1, 2: 20}
"""Of clients, by copies."""
LOST = {errno.ETIMEDOUT, errno.ECONNRESET, errno.ECONNREFUSED}
"""Errors of calls that did not reach a server."""
TRANSFER = re.compile("pread|pwrite|read|write:|write_at:")


@dataclass
class Harm:
    """A volume on a small disk, with a proxy before each server; and the planted faults.

    Attributes:
        volume: The directory of the volume.
        clients_volume: The directory of the volume file of clients.
        options: Of the servers.
        disk: Whether it has a disk of its own, which can be full.
        kills_ms: For each kill, from before until its two servers had ended, by the monotonic clock.
        full_ms: When the disk was full.
        fills: Servers that got their missed changes.
        counts: Of each fault.
    """

    engine: Engine
    volume: Path
    clients_volume: Path
    options: ServerOptions
    has_disk: bool
    choose: random.Random
    proxies: list[Proxy] = field(default_factory=list)
    kills_ms: list[tuple[float, float]] = field(default_factory=list)
    full_ms: list[tuple[float, float]] = field(default_factory=list)
    fills: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def copies(self) -> int:
        """Copies of the data."""
        return self.options.copies or 1

    def start(self) -> None:
        """Starts the servers and the proxies."""
        serve(self.engine, self.volume, self.options)
        seen = read_volume(self.volume)
        assert seen is not None
        self.proxies = [Proxy(server) for server in seen.servers]
        seen.servers = [proxy.address for proxy in self.proxies]
        self.clients_volume.mkdir()
        seen.write(self.clients_volume / VOLUME_FILE)

    def end(self) -> None:
        """Stops the servers and the proxies."""
        for proxy in self.proxies:
            proxy.close()
        stop(self.volume)

    def run(self, seconds: float) -> None:
        """Does harm for so long, and ends it."""
        end = time.monotonic() + seconds
        first = [fault for fault in FIRST[self.copies] if self._can_do(fault)]
        later = [fault for fault in LATER[self.copies] if self._can_do(fault)]
        while first or time.monotonic() < end:
            fault = first.pop(0) if first else self.choose.choice(later)
            self.counts[fault] = self.counts.get(fault, 0) + 1
            getattr(self, "_" + fault.replace(" ", "_"))()
            time.sleep(self.choose.uniform(0.1, 0.4))

    def _can_do(self, fault: str) -> bool:
        return fault != "full disk" or self.has_disk

    def _kill(self) -> None:
        begin = time.monotonic()
        kill_pair(self.volume, self.choose)
        self.kills_ms.append((begin * 1000, time.monotonic() * 1000))
        time.sleep(self.choose.choice([0, 0.3, 1.2]))
        serve_again(self.engine, self.volume, self.options)
        if self.copies == 2:
            filled = scrub(self.engine, self.volume)["filled"]
            assert not [each for each in filled if each["reason"]], filled
            self.fills += len(filled)

    def _cut(self) -> None:
        for proxy in self.choose.sample(self.proxies, self.choose.randint(1, SERVERS)):
            proxy.cut(self.choose)

    def _delay(self) -> None:
        for proxy in self.proxies:
            proxy.delay_s = 0.02
        time.sleep(0.5)
        for proxy in self.proxies:
            proxy.delay_s = 0

    def _pause(self) -> None:
        self._stop_for(self.choose.uniform(0.1, 0.7))

    def _hang(self) -> None:
        self._stop_for(2 * PATIENCE_S[self.copies])

    def _stop_for(self, seconds: float) -> None:
        process = self.choose.choice(processes_of(self.volume))
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGCONT)

    def _full_disk(self) -> None:
        filler = self.volume / "filler"
        begin = time.monotonic()
        for size in (65536, 4096):
            with suppress(OSError), filler.open("ab", buffering=0) as file:
                while file.write(bytes(size)) == size:
                    pass
        assert os.statvfs(self.volume).f_bavail < DISK_BYTES // 4096 // 100
        time.sleep(0.4)
        filler.unlink()
        self.full_ms.append((begin * 1000, time.monotonic() * 1000))


@contextmanager
def harmed(engine: Engine, folder: Path, copies: int) -> Iterator[Harm]:
    """A volume that serves."""
    volume = folder / "volume"
    volume.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0700", "none", str(volume)]
    has_disk = subprocess.run(words, capture_output=True, check=False).returncode == 0
    options = ServerOptions(servers=SERVERS, strip_bytes=4096, transport="tcp", copies=copies)
    harm = Harm(engine, volume, folder / "clients", options, has_disk, random.Random(copies))
    try:
        harm.start()
        yield harm
    finally:
        harm.end()
        if has_disk:
            subprocess.run(["umount", volume], check=True)


@contextmanager
def programs_on_mounts(harm: Harm, folder: Path, patience_s: int) -> Iterator[Clients]:
    """Processes that work by calls of POSIX, in turn on a mount without and one with the kernel's cache."""
    program = client_program(harm.engine, "strider-listio-kills-posix")
    directories = [folder / "mount", folder / "caching mount"]
    with ExitStack() as stack:
        for directory, caches in zip(directories, (False, True), strict=True):
            directory.mkdir()
            options = MountOptions(caches=caches, patience_s=patience_s)
            mount(harm.engine, harm.clients_volume, directory, options)
            stack.callback(unmount, directory)
        yield stack.enter_context(
            working(
                [
                    [program, directories[number % MOUNTS], number, CLIENTS, 1, patience_s * 1000]
                    for number in range(CLIENTS)
                ]
            )
        )


@contextmanager
def ranks_of_a_program(harm: Harm, folder: Path, patience_s: int) -> Iterator[Clients]:
    """An MPI program, whose first rank speaks for all."""
    program = client_program(harm.engine, "strider-listio-kills-mpiio")
    variables = os.environ | preload_variables(harm.engine, harm.clients_volume, None, os.environ)
    launch = [harm.engine.version.mpi.mpiexec, "-n", CLIENTS]
    # Transfers whose lock is lost fail, also with two copies.
    modes = "both" if harm.copies == 1 else "nonatomic"
    with working([[*launch, program, "listio:", 1, patience_s * 1000, modes]], variables) as clients:
        yield clients


def require_reasons(found: Sequence[Found], harm: Harm) -> None:
    """Each error names the failed call, and that of MPI the place: no space only once the disk was full."""
    for error, tenths in [pair for each in found for pair in each["errors"].items()]:
        number = re.search(r"errno (\d+)$", error)
        if number is None:
            assert re.search(r": MPI_ERR_(IO|NO_SPACE): .*(server \d|another rank|for this one)", error), (
                error
            )
        if "NO_SPACE" in error or (number and int(number[1]) == errno.ENOSPC):
            begins = [begin for begin, _ in harm.full_ms]
            assert begins, error
            assert (min(tenths) + 1) * 100 >= min(begins), error
        elif number:
            allowed = LOST | ({errno.EIO} if error.startswith("fsync") else set())
            assert int(number[1]) in allowed, error


def require_losses_reported(found: Sequence[Found], harm: Harm) -> None:
    """No sync succeeded whose data a server held only in memory when it was killed.

    Args:
        found: What programs say whose syncs make data of all of them stable.
        harm: When servers were killed.
    """
    syncs = [sync for each in found for sync in each["syncs"]]
    for since, sync in [promise for each in found for promise in each["promises"]]:
        for before, after in harm.kills_ms:
            is_broken = since < before and after < sync
            is_stable = any(end >= since and begin <= before for begin, end in syncs)
            assert not is_broken or is_stable, (since, before, after, sync)


LAYERS = {"mount": programs_on_mounts, "mpiio": ranks_of_a_program}


@pytest.mark.parametrize("copies", [1, 2], ids=["one copy", "two copies"])
@pytest.mark.parametrize("layer", LAYERS)
# proves listio: error-string
def test_layers_keep_their_promises_when_servers_fail(
    engine: Engine, tmp_path: Path, layer: str, copies: int
) -> None:
    """Nothing acknowledged is lost, each error says why, and no call takes longer than it may."""
    patience_s = PATIENCE_S[copies]
    with harmed(engine, tmp_path, copies) as harm:
        with LAYERS[layer](harm, tmp_path, patience_s) as clients:
            harm.run(SECONDS)
            found = findings(clients)
        require_whole_after_repair(engine, harm.volume)
    sums = {key: sum(each[key] for each in found) for key in ("calls", "failed", "losses", "blocks_compared")}
    sums["failed transfers"] = sum(each["failed_transfers"] for each in found)
    sums["promises"] = sum(len(each["promises"]) for each in found)
    longest_ms = max(each["longest_ms"] for each in found)
    cuts = sum(proxy.cuts for proxy in harm.proxies)
    print(f"{harm.counts}, {cuts} cuts, {harm.fills} fills: {sums}, longest call: {longest_ms} ms")
    print({error: len(times) for each in found for error, times in each["errors"].items()})
    assert len(found) == CLIENTS
    assert [mistake for each in found for mistake in each["mistakes"]] == []
    require_reasons(found, harm)
    if copies == 1:
        assert sums["failed transfers"] > 0, "the faults were felt"
        assert sums["losses"] > 0, "syncs after restarts"
        groups = MOUNTS if layer == "mount" else CLIENTS
        for number in range(groups):
            require_losses_reported(found[number::groups], harm)
    else:
        failed = [error for each in found for error in each["errors"] if TRANSFER.search(error.split(" ")[0])]
        assert failed == []
    assert longest_ms < 5 * CLIENTS * patience_s * 1000
