"""Checks once before a run that the servers of its volumes respond."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from strider.engine import Engine, Json
from strider.errors import ExitCode, StriderError
from strider.listio.hosts import read_hosts
from strider.listio.servers import dead_servers, is_down
from strider.listio.temporary import MOUNT, named_volume, transport_of, volume_above
from strider.listio.tool import ask_volume
from strider.listio.volume import VOLUME_FILE, choose_transport, read_volume
from strider.own_files import is_own_folder
from strider.suite import Plan


def require_answers(plan: Plan, engine: Engine, target: Path) -> None:
    """Raises unless all servers of a plan's volumes respond.

    Args:
        plan: The plan to run.
        engine: The engine.
        target: Default location of a volume for cases that do not name one.

    Raises:
        StriderError: A server does not respond; the message has a remedy.
    """
    for file in volumes(plan, target):
        # The engine reports invalid and missing volumes.
        if file.name == VOLUME_FILE and file.exists():
            require_servers(file, engine)


def volumes(plan: Plan, target: Path) -> set[Path]:
    """Returns the files of existing volumes that a plan uses."""
    named = {name for case in plan.cases if (name := named_volume(case)) is not None}
    found = {Path(name) for name in named if name}
    above = volume_above(target) if "" in named else None
    return found | ({above} if above else set())


def reaches_into_servers(plan: Plan, place: Path) -> bool:
    """Returns whether clients of a plan would access the servers' memory (cma).

    Args:
        plan: The plan to run.
        place: Default location of a volume for cases that do not name one.
    """
    above = volume_above(place)
    for case in plan.cases:
        name = named_volume(case)
        if name is None or case.get("mount") == MOUNT:
            continue
        file = Path(name) if name else above
        volume = read_volume(file.parent) if file and file.name == VOLUME_FILE else None
        transport = transport_of(case.interface) or (volume.transport if volume else "")
        if transport == "cma" or "shm" in transport:
            return True
    return False


def require_servers(file: Path, engine: Engine, may_be_out: bool = False) -> None:
    """Raises unless all servers of the volume that a file describes respond and are in.

    Args:
        file: The volume file.
        engine: The engine.
        may_be_out: Whether servers may be out; these need not respond.

    Raises:
        StriderError: One does not respond; the message has a remedy.
    """
    directory = file.parent
    is_ours = is_own_folder(directory)
    if is_ours and is_down(directory):
        raise StriderError(
            f"{directory} is stopped: start it with {serve_command(directory)}", ExitCode.CANNOT_RUN
        )
    servers = ask_volume(engine, file)
    out = [server["server"] for server in servers if server["out"]]
    silent = [number for number in silent_of(servers) if not may_be_out or number not in out]
    if silent:
        numbers = ", ".join(map(str, silent))
        which = f"server {numbers}" if len(silent) == 1 else f"servers {numbers}"
        verb = "does" if len(silent) == 1 else "do"
        raise StriderError(
            f"{which} of {directory} {verb} not answer: "
            + (restart_commands(directory, silent) if is_ours else "ask its owner to restart it"),
            ExitCode.CANNOT_RUN,
        )
    if out and not may_be_out:
        # Its neighbour would do its work, and the rates would be those of fewer servers.
        raise StriderError(f"server {out[0]} of {directory} {out_text(directory)}", ExitCode.CANNOT_RUN)


def silent_of(servers: Iterable[dict[str, Json]]) -> list[int]:
    """Returns the numbers of the servers that do not respond."""
    return [int(server["server"]) for server in servers if not server["answers"]]


def serve_command(directory: Path) -> str:
    """Returns the command that restarts the servers of a volume on their hosts, with their transport."""
    record, volume = read_hosts(directory), read_volume(directory)
    hosts = f" --hosts {','.join(dict.fromkeys(record.hosts))}" if record else ""
    usual = choose_transport("auto", "other" if record else "this")
    transport = f" --transport {volume.transport}" if volume and volume.transport != usual else ""
    return f"strider listio serve {shlex.quote(str(directory))}{hosts}{transport}"


def restart_commands(directory: Path, silent: Sequence[int]) -> str:
    """Returns the commands for servers that do not respond.

    Args:
        directory: The volume's.
        silent: Their numbers. `serve` alone starts those whose processes have ended; one that runs and does
            not respond has to be stopped first.
    """
    if set(silent) <= set(dead_servers(directory)):
        return serve_command(directory)
    return f"strider listio stop {shlex.quote(str(directory))}, then {serve_command(directory)}"


def problems(servers: Iterable[dict[str, Json]]) -> Iterator[str]:
    """Returns why servers do not respond, without the common prefix."""
    for server in servers:
        if not server["answers"]:
            reason = str(server["error"]).split(f"{server['address']}: ")[-1]
            yield f"server {server['server']} does not answer: {reason}"


def out_text(directory: Path) -> str:
    """Returns the remedy for a server of a volume that is out, after its name."""
    return f"is out, as it may have missed changes: strider listio scrub {shlex.quote(str(directory))}"
