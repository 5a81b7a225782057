"""Checks once before a run that the servers of its volumes respond."""

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from strider.engine import Engine, Json
from strider.errors import ExitCode, StriderError
from strider.listio.hosts import read_hosts
from strider.listio.servers import is_down
from strider.listio.temporary import MOUNT, named_volume, transport_of, volume_above
from strider.listio.tool import ask_volume
from strider.listio.volume import VOLUME_FILE, read_volume
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
            _require(file, engine)


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


def _require(file: Path, engine: Engine) -> None:
    directory = file.parent
    if is_down(directory):
        raise StriderError(
            f"{directory} is stopped: start it with {serve_command(directory)}", ExitCode.CANNOT_RUN
        )
    servers = ask_volume(engine, file)
    dead = [str(server["server"]) for server in servers if not server["answers"]]
    if dead:
        which = f"server {dead[0]}" if len(dead) == 1 else f"servers {', '.join(dead)}"
        verb = "does" if len(dead) == 1 else "do"
        raise StriderError(
            f"{which} of {directory} {verb} not answer: {restart_commands(directory)}",
            ExitCode.CANNOT_RUN,
        )


def serve_command(directory: Path) -> str:
    """Returns the command that restarts the servers of a volume on their hosts."""
    record = read_hosts(directory)
    hosts = f" --hosts {','.join(dict.fromkeys(record.hosts))}" if record else ""
    return f"strider listio serve {shlex.quote(str(directory))}{hosts}"


def restart_commands(directory: Path) -> str:
    """Returns the commands for servers that do not respond."""
    return f"strider listio stop {shlex.quote(str(directory))}, then {serve_command(directory)}"


def problems(servers: Iterable[dict[str, Json]]) -> Iterator[str]:
    """Returns why servers do not respond, without the common prefix."""
    for server in servers:
        if not server["answers"]:
            reason = str(server["error"]).split(f"{server['address']}: ")[-1]
            yield f"server {server['server']} does not answer: {reason}"
