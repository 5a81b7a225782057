"""Starts, finds and stops the server processes of a volume."""

import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from strider import processes as process_table
from strider.engine import Engine
from strider.errors import ExitCode, StriderError
from strider.listio.hosts import HostRecord, read_hosts, spread, start_on_hosts, stop_on_hosts
from strider.listio.tool import SERVER, prepare_to_replace, program, ready_address
from strider.listio.volume import (
    VOLUME_FILE,
    Checksums,
    Volume,
    choose_transport,
    new_id,
    new_secret,
    read_volume,
)
from strider.own_files import OWN_MODE, new_file, own_folder, read_own, require_own_folder
from strider.processes import Process, boot_id
from strider.text_file import write_whole

PROCESSES_FILE = "listio-servers.json"
CHECK_FILE = "listio-check-advised"
"""Exists from the end of a server without `stop` until a check finds names and data files in order."""
READY_S = 20.0
"""Time limit in seconds for servers to become ready."""
STOP_S = 10.0
"""Time limit in seconds to complete current requests."""
_LOG_LINES = 3

Lifetime = Literal["stop", "starter"]
Store = Literal["files", "nothing"]
"""What becomes of written data: kept in files, or discarded."""
Folder = Literal["any", "existing"]
"""Whether a server may create its data or must find existing data, so that no file appears empty."""


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """Parameters of servers.

    Attributes:
        servers: How many; None for as many as the volume has, or 4.
        strip_bytes: Strip size of new files; None for the one of the volume, or 64 KiB.
        transport: Name of the transport, or `auto`.
        listen: Host on which they listen.
        store: `nothing`: discards data, to measure transport only.
        bytes_per_s: Most bytes that each of them moves in a second, read and written together; 0: no limit;
            None for the limit of the volume.
        lifetime: Whether they end with `stop` alone, or with the process that started them. Those on other
            hosts end with `stop`.
        hosts: Other hosts, as ssh knows them, over which they are spread in turn; none: all are on this one.
        program: Their program on other hosts; None for where it is on this one.
        checksums: Of data files; None for those of the volume, or `crc32c`.
        copies: Of data files, 1 or 2; None for the number of the volume, or 1.
        replace: Numbers of servers whose folders are lost and begin empty.
        memory_bytes: Upper limit of each for the communication buffers of all its clients; None for the
            server's default.
    """

    servers: int | None = None
    strip_bytes: int | None = None
    transport: str = "auto"
    listen: str = "127.0.0.1"
    store: Store = "files"
    bytes_per_s: int | None = None
    lifetime: Lifetime = "stop"
    hosts: Sequence[str] = ()
    program: str | None = None
    checksums: Checksums | None = None
    memory_bytes: int | None = None
    copies: int | None = None
    replace: Sequence[int] = ()


class ProcessRecord(BaseModel):
    """Which processes the servers of a volume are.

    Attributes:
        boot: Which start of the machine they belong to.
        processes: By number of the server.
        store: What becomes of written data.
    """

    model_config = ConfigDict(extra="forbid")

    format: Literal["strider-listio-servers"] = "strider-listio-servers"
    version: Literal[1] = 1
    boot: str
    processes: list[Process]
    store: Store = "files"


@dataclass
class Started:
    """Running servers.

    Attributes:
        volume: The volume file for clients.
        children: The processes, by number.
    """

    volume: Volume
    children: dict[int, subprocess.Popen[str]] = field(default_factory=dict)

    def stop(self) -> None:
        """Ends those that end with the process that started them."""
        for child in self.children.values():
            child.terminate()
        end = time.monotonic() + STOP_S
        for child in self.children.values():
            try:
                child.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            for stream in (child.stdin, child.stdout):
                if stream:
                    stream.close()


def serve(engine: Engine, directory: Path, options: ServerOptions) -> Started:
    """Starts the servers of a new or stopped volume that do not run, and waits until they are ready.

    Servers of this host that died while others run are started again at the address that they had, so that
    clients find them.

    Args:
        engine: The engine, beside which the server's program is.
        directory: The volume's; made if it does not exist.
        options: How they are to be.

    Raises:
        StriderError: All run already, they do not fit the volume, or do not start; then none of those that
            were to start is left. A folder cannot be replaced; others that end with `stop` run then.
    """
    server = program(engine, SERVER)
    _make(directory)
    if options.lifetime == "stop":
        require_own_folder(directory)
    known = read_volume(directory)
    lost = tuple(dict.fromkeys(options.replace))
    _require_lost(directory, known, options, lost)
    dead = dead_servers(directory)
    _note_unclean_end(directory)
    if known and dead and not options.hosts:
        started = _restart(server, directory, known, options, [each for each in dead if each not in lost])
        return _replace(engine, server, directory, started, options, lost)
    if not is_down(directory):
        remedy = f"stop them with strider listio stop {directory}"
        raise StriderError(
            f"{directory}: servers of this volume are already running: {remedy}", ExitCode.CANNOT_RUN
        )
    volume = _volume(directory, known, options)
    if known and not known.id:
        # Labels get the id one by one: if this start fails in between, the next one must know it.
        known.id = volume.id
        known.write(directory / VOLUME_FILE)
    folder: Folder = "existing" if known else "any"
    if options.hosts:
        _serve_on_hosts(options.program or str(server), directory, volume, options, folder)
        return Started(volume)
    (directory / PROCESSES_FILE).unlink(missing_ok=True)
    addresses = {n: f"{options.listen}:0" for n in range(len(volume.servers)) if n not in lost}
    for number in lost:
        volume.servers[number] = f"{options.listen}:0"
    started = _start_here(server, directory, volume, options, addresses, folder)
    try:
        volume.write(directory / VOLUME_FILE)
    except BaseException:
        started.stop()
        (directory / PROCESSES_FILE).unlink(missing_ok=True)
        raise
    return _replace(engine, server, directory, started, options, lost)


def _require_lost(
    directory: Path, known: Volume | None, options: ServerOptions, numbers: Sequence[int]
) -> None:
    """Raises unless the folders of these servers are lost, and may begin empty.

    Raises:
        StriderError: A folder cannot be replaced, or is not lost.
    """
    for number in numbers:
        folder = directory / f"server-{number}"
        if known is None or not 0 < number < len(known.servers) or known.copies < 2:
            raise StriderError(
                f"--replace {number}: only the folder of a server other than server 0, of a volume with "
                "--copies 2, can be replaced: restore the folder from a backup of this server"
            )
        if options.hosts or read_hosts(directory) is not None:
            raise StriderError(f"--replace {number}: not possible with servers on other hosts")
        if not _is_empty(folder):
            raise StriderError(f"--replace {number}: {folder} is not lost: move it away first")
        processes = processes_of(directory)
        if number < len(processes) and process_table.is_alive(processes[number]):
            raise StriderError(
                f"--replace {number}: server {number} still runs (process {processes[number].pid}): "
                "end it first"
            )


def _is_empty(folder: Path) -> bool:
    """Whether there is no such folder, or an empty one, such as that of a new disk."""
    if folder.is_symlink() or not folder.is_dir():
        return not os.path.lexists(folder)
    return all(each.name == "lost+found" for each in folder.iterdir())


def _replace(
    engine: Engine,
    server: Path,
    directory: Path,
    started: Started,
    options: ServerOptions,
    numbers: Sequence[int],
) -> Started:
    """Starts the servers whose folders are lost; the others run. Data are copied to them by a scrub."""
    for number in numbers:
        prepare_to_replace(engine, directory, number)
        # That took a while.
        _require_lost(directory, started.volume, options, [number])
        address = {number: started.volume.servers[number]}
        # From now on the folder that is lost would be refused.
        started.volume.replaced[number] = 1 + started.volume.replaced.get(number, 0)
        started.volume.write(directory / VOLUME_FILE)
        replaced = _start_here(server, directory, started.volume, options, address, "any")
        started.children |= replaced.children
        started.volume.write(directory / VOLUME_FILE)
    return started


def _start_here(
    server: Path,
    directory: Path,
    volume: Volume,
    options: ServerOptions,
    addresses: Mapping[int, str],
    folder: Folder,
) -> Started:
    """Starts servers of this host at addresses, by number, and records them beside those that run.

    The volume has their addresses then. If one does not start, all of them are stopped.
    """
    started = Started(volume)
    try:
        for number, address in addresses.items():
            words = _words(directory, number, volume, options, address)
            command = [str(server), *words, "--folder", folder]
            started.children[number] = _start(command, _log(directory, number), volume, options)
        for number, address in _wait_until_ready(started.children, directory).items():
            volume.servers[number] = address
        running = dict(enumerate(processes_of(directory)))
        now = running | _identified(started.children, directory)
        _record(directory, now, len(volume.servers), options.store)
    except BaseException:
        started.stop()
        raise
    return started


def dead_servers(directory: Path) -> list[int]:
    """The numbers of the servers of this host that do not run, if others do."""
    alive = [process_table.is_alive(process) for process in processes_of(directory)]
    return [number for number, runs in enumerate(alive) if not runs] if any(alive) else []


def _restart(
    server: Path, directory: Path, volume: Volume, options: ServerOptions, numbers: Sequence[int]
) -> Started:
    """Starts some servers of a volume whose others run, as they were."""
    own = {"servers", "epoch", "id", "replaced"}
    wanted = _volume(directory, volume, options).model_dump(exclude=own)
    if not volume.id:
        raise StriderError(
            f"{directory}: other servers of this volume, of an older release, are running: stop them with "
            f"strider listio stop {directory}"
        )
    if wanted != volume.model_dump(exclude=own) or options.store != _process_record(directory).store:
        raise StriderError(
            f"{directory}: other servers of this volume are running with other options: repeat the options "
            f"with which they were started, or stop them with strider listio stop {directory}"
        )
    addresses = {number: volume.servers[number] for number in numbers}
    return _start_here(server, directory, volume, options, addresses, "existing")


def _serve_on_hosts(
    program: str, directory: Path, volume: Volume, options: ServerOptions, folder: Folder
) -> None:
    record = HostRecord(program=program, hosts=spread(options.hosts, len(volume.servers)))

    def words(number: int, address: str) -> list[str]:
        own = _words(directory, number, volume, options, f"{address}:0")
        return [*own, "--folder", folder, "--action", "detach"]

    volume.servers = start_on_hosts(record, directory, words, volume.secret)
    try:
        volume.write(directory / VOLUME_FILE)
    except BaseException:
        stop_on_hosts(record, directory)
        raise


def stop(directory: Path) -> int:
    """Stops the servers of a volume on all hosts; keeps the data.

    Returns:
        How many there were.

    Raises:
        StriderError: One cannot be stopped, or other users can write to the directory.
    """
    require_own_folder(directory)
    _note_unclean_end(directory)
    alive = [process for process in processes_of(directory) if process_table.is_alive(process)]
    left = process_table.stop(alive, STOP_S)
    if left:
        names = ", ".join(f"{process.name} (process {process.pid})" for process in left)
        raise StriderError(f"cannot stop {names}", ExitCode.CANNOT_RUN)
    (directory / PROCESSES_FILE).unlink(missing_ok=True)
    record = read_hosts(directory)
    return len(alive) + (stop_on_hosts(record, directory) if record else 0)


def processes_of(directory: Path) -> list[Process]:
    """The processes that were started as servers of a volume; none of before the machine's start."""
    record = _process_record(directory)
    return record.processes if record.boot == boot_id() else []


def _process_record(directory: Path) -> ProcessRecord:
    """The record of the servers of a volume on this host; an empty one where there is none."""
    content = read_own(directory / PROCESSES_FILE)
    if content is None:
        return ProcessRecord(boot="", processes=[])
    try:
        return ProcessRecord.model_validate_json(content)
    except ValidationError as error:
        raise StriderError(
            f"cannot read {directory / PROCESSES_FILE}: {error}", ExitCode.CANNOT_RUN
        ) from error


def is_check_advised(directory: Path) -> bool:
    """Returns whether servers of this host ended without `stop`, and no check has been clean since.

    A server that is killed may leave data files of no file.
    """
    record = _process_record(directory)
    has_ended = record.boot != boot_id() or not all(map(process_table.is_alive, record.processes))
    return (directory / CHECK_FILE).exists() or (bool(record.processes) and has_ended)


def note_clean_check(directory: Path) -> None:
    """Notes that a check found names and data files in order, so that earlier ends need none."""
    (directory / CHECK_FILE).unlink(missing_ok=True)


def _note_unclean_end(directory: Path) -> None:
    """Keeps information from the record of the processes, before it is replaced or removed."""
    if is_check_advised(directory):
        with suppress(OSError):
            (directory / CHECK_FILE).touch(mode=0o600)


def is_down(directory: Path) -> bool:
    """Returns whether no server of a volume is running; servers on other hosts count until stopped."""
    return read_hosts(directory) is None and not any(map(process_table.is_alive, processes_of(directory)))


def _make(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StriderError(f"cannot create {directory}: {error.strerror}", ExitCode.CANNOT_RUN) from error


def _volume(directory: Path, known: Volume | None, options: ServerOptions) -> Volume:
    """The volume as it is to be; its servers' addresses are not known yet."""
    servers = options.servers or (len(known.servers) if known else len(options.hosts) or 4)
    if known and servers != len(known.servers):
        raise StriderError(
            f"{directory} is a volume of {len(known.servers)} servers, not {servers}, and its files are "
            "striped over them: remove --servers, or choose another directory"
        )
    if known and options.checksums not in (None, known.checksums):
        raise StriderError(
            f"{directory} is a volume with checksums {known.checksums}, not {options.checksums}: remove "
            "--checksums, or choose another directory"
        )
    if known and options.copies not in (None, known.copies):
        raise StriderError(
            f"{directory} is a volume with --copies {known.copies}, not {options.copies}: remove --copies, "
            "or choose another directory"
        )
    copies = known.copies if known else options.copies or 1
    if copies > servers:
        raise StriderError(f"--copies: {copies} copies need {copies} servers or more: raise --servers")
    return Volume(
        copies=copies,
        servers=[""] * servers,
        transport=choose_transport(options.transport, "other" if options.hosts else "this"),
        strip_bytes=options.strip_bytes or (known.strip_bytes if known else 65536),
        server_bytes_per_s=_rate(known, options),
        secret=known.secret if known else new_secret(),
        id=(known.id if known else "") or new_id(),
        epoch=1 + (known.epoch if known else 0),
        checksums=known.checksums if known else options.checksums or "crc32c",
        replaced=known.replaced if known else {},
    )


def _rate(known: Volume | None, options: ServerOptions) -> int:
    if options.bytes_per_s is not None:
        return options.bytes_per_s
    return known.server_bytes_per_s if known else 0


def _words(directory: Path, number: int, volume: Volume, options: ServerOptions, listen: str) -> list[str]:
    """The options of a server that listens at an address, host:port."""
    words = {
        "--directory": str(directory.resolve()),
        "--number": str(number),
        "--servers": str(len(volume.servers)),
        "--volume": volume.id,
        "--epoch": str(volume.epoch),
        "--secret-file": "-",
        "--listen": listen,
        "--transport": volume.transport,
        "--store": options.store,
        "--checksums": volume.checksums,
        "--copies": str(volume.copies),
        "--rate": str(volume.server_bytes_per_s),
    }
    if replaced := volume.replaced.get(number):
        words["--replaced"] = str(replaced)
    if options.memory_bytes is not None:
        words["--memory-bytes"] = str(options.memory_bytes)
    return [word for option in words.items() for word in option]


def _start(
    command: Sequence[str], log_file: Path, volume: Volume, options: ServerOptions
) -> subprocess.Popen[str]:
    until = "input-ends" if options.lifetime == "starter" else "signal"
    with own_folder(log_file.parent) as folder, new_file(folder, log_file.name) as log:
        # Not interrupted by Ctrl-C in the terminal: the starting process stops it.
        child = subprocess.Popen(
            [*command, "--until", until],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd="/",
            start_new_session=True,
        )
    _tell_secret(child.stdin, volume.secret, close=options.lifetime == "stop")
    return child


def _tell_secret(stream: IO[str] | None, secret: str, close: bool) -> None:
    """Through a pipe: arguments and files are visible to others."""
    assert stream is not None  # noqa: S101 - asked for
    try:
        stream.write(secret + "\n")
        stream.flush()
        if close:
            stream.close()
    except BrokenPipeError:
        return  # it has exited; the wait for readiness reports why


def _wait_until_ready(children: Mapping[int, subprocess.Popen[str]], directory: Path) -> dict[int, str]:
    """The addresses that servers say when they serve, by number."""
    end = time.monotonic() + READY_S
    return {number: _ready(child, number, directory, end) for number, child in children.items()}


def _ready(child: subprocess.Popen[str], number: int, directory: Path, end: float) -> str:
    stream = child.stdout
    assert stream is not None  # noqa: S101 - asked for
    readable, _, _ = select.select([stream], [], [], max(0.0, end - time.monotonic()))
    line = stream.readline() if readable else ""
    if address := ready_address(line):
        return address
    why = _last_lines(_log(directory, number)) or (
        "it exited" if readable else f"not ready within {READY_S:.0f} s"
    )
    raise StriderError(f"server {number} of {directory} failed to start: {why}", ExitCode.CANNOT_RUN)


def _log(directory: Path, number: int) -> Path:
    return directory / f"server-{number}.log"


def _last_lines(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(line.strip() for line in lines[-_LOG_LINES:])


def _identified(children: Mapping[int, subprocess.Popen[str]], directory: Path) -> dict[int, Process]:
    """The processes of servers, by number."""
    found = {n: process_table.of_program(child.pid, f"server {n}") for n, child in children.items()}
    alive = {number: process for number, process in found.items() if process}
    if len(alive) < len(children):
        raise StriderError(f"a server of {directory} exited after it became ready", ExitCode.CANNOT_RUN)
    return alive


def _not_started(number: int) -> Process:
    """A server that is started after others."""
    return Process(pid=0, start_ticks=0, name=f"server {number}")


def _record(directory: Path, processes: Mapping[int, Process], servers: int, store: Store) -> None:
    """Records the processes before the volume is published."""
    own = [processes.get(number, _not_started(number)) for number in range(servers)]
    record = ProcessRecord(boot=boot_id(), processes=own, store=store)
    write_whole(directory / PROCESSES_FILE, record.model_dump_json(indent=1) + "\n", OWN_MODE)
