"""Whether the servers of the volumes answer that a run will use: asked once, not found out in every case."""

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from strider.engine import Engine, Json
from strider.errors import ExitCode, StriderError
from strider.listio.hosts import read_hosts
from strider.listio.servers import is_down
from strider.listio.temporary import INTERFACE, volume_above
from strider.listio.tool import ask_volume
from strider.listio.volume import VOLUME_FILE, read_volume
from strider.suite import Plan


def require_answers(plan: Plan, engine: Engine, target: Path) -> None:
    """Refuses a run on a volume whose servers do not all answer.

    Args:
        plan: What will be run.
        engine: The engine.
        target: Where cases look for a volume that name none.

    Raises:
        StriderError: One does not answer; the message says what to do.
    """
    for file in volumes(plan, target):
        # What is no volume of ours to start, or is not there, the engine tells.
        if file.name == VOLUME_FILE and file.exists():
            _require(file, engine)


def volumes(plan: Plan, target: Path) -> set[Path]:
    """The files of the volumes that the cases of a plan use and that exist before it."""
    cases = [case for case in plan.cases if case.interface["name"] == INTERFACE]
    named = {str(case.interface.get("volume") or "") for case in cases}
    found = {Path(name) for name in named if name}
    above = volume_above(target) if "" in named else None
    return found | ({above} if above else set())


def reaches_into_servers(plan: Plan, place: Path) -> bool:
    """Whether clients of a plan would copy to and from the memory of servers, as processes of one host can.

    Args:
        plan: What will be run.
        place: Where cases look for a volume that name none.
    """
    above = volume_above(place)
    for case in plan.cases:
        if case.interface["name"] != INTERFACE:
            continue
        file = Path(case.interface["volume"]) if case.interface.get("volume") else above
        volume = read_volume(file.parent) if file and file.name == VOLUME_FILE else None
        transport = str(case.interface.get("transport") or (volume.transport if volume else ""))
        if transport == "cma" or "shm" in transport:
            return True
    return False


def _require(file: Path, engine: Engine) -> None:
    directory = file.parent
    if is_down(directory):
        raise StriderError(f"{directory} is stopped: {serve_command(directory)}", ExitCode.CANNOT_RUN)
    servers = ask_volume(engine, file)
    dead = [str(server["server"]) for server in servers if not server["answers"]]
    if dead:
        which = f"server {dead[0]}" if len(dead) == 1 else f"servers {', '.join(dead)}"
        verb = "does" if len(dead) == 1 else "do"
        raise StriderError(
            f"{which} of {directory} {verb} not answer: {restart_commands(directory)}", ExitCode.CANNOT_RUN
        )


def serve_command(directory: Path) -> str:
    """What starts the servers of a volume again, where they were."""
    record = read_hosts(directory)
    hosts = f" --hosts {','.join(dict.fromkeys(record.hosts))}" if record else ""
    return f"strider listio serve {shlex.quote(str(directory))}{hosts}"


def restart_commands(directory: Path) -> str:
    """What to do about servers that do not answer."""
    return f"strider listio stop {shlex.quote(str(directory))}, then {serve_command(directory)}"


def problems(servers: Iterable[dict[str, Json]]) -> Iterator[str]:
    """Why servers do not answer, without what is said of them anyway."""
    for server in servers:
        if not server["answers"]:
            reason = str(server["error"]).split(f"{server['address']}: ")[-1]
            yield f"server {server['server']} does not answer: {reason}"
