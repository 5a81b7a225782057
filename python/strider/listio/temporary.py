"""A temporary volume for one run, in the run's folder in the target."""

import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from strider.engine import Engine
from strider.errors import StriderError
from strider.listio.servers import ServerOptions, serve
from strider.listio.volume import VOLUME_FILE
from strider.own_files import only_owner_can_write
from strider.suite import Plan, PlannedCase

INTERFACE = "listio"
MOUNT = "listio"
"""Value of the key `mount` of cases whose files are on a mount of the run's volume."""
MPI_INTERFACE, MPI_PREFIX = "mpiio", "listio:"
SERVERS = 4


@contextmanager
def temporary_volume(plan: Plan, engine: Engine, own: Path, transport: str = "auto") -> Iterator[int]:
    """Starts a volume if cases of a plan need one and none exists; stops it at the end of the context.

    The servers also exit with this process, and their files are in the run's folder.

    Args:
        plan: What will be run.
        engine: The engine.
        own: The run's folder, where the engine looks for a volume first.
        transport: The transport; `auto`: the one that the cases name, or the best on this host.

    Yields:
        How many servers were started; 0 if none.

    Raises:
        StriderError: They do not start.
    """
    servers = servers_needed(plan, own)
    if servers == 0:
        yield 0
        return
    if transport == "auto":
        transport = transport_wanted(plan)
    options = ServerOptions(
        servers=servers, bytes_per_s=rate_wanted(plan), lifetime="starter", transport=transport
    )
    started = serve(engine, own, options)
    try:
        yield servers
    finally:
        started.stop()


def servers_needed(plan: Plan, own: Path) -> int:
    """How many servers a volume for a plan has to have; 0 where it needs none, or there is one."""
    searching = _searching(plan)
    if not searching or volume_above(own):
        return 0
    return max(SERVERS, *map(_servers_wanted, searching))


def named_volume(case: PlannedCase) -> str | None:
    """The volume file that a case names; empty: that of the run; None: the case uses no volume."""
    if uses_volume(case.interface):
        return str(case.interface.get("volume") or "")
    return "" if case.get("mount") == MOUNT else None


def volume_above(place: Path) -> Path | None:
    """The file of the volume that a directory is in, or None: the engine looks for it in the same way."""
    files = (folder / VOLUME_FILE for folder in (place, *place.parents))
    return next((file for file in files if _is_trusted(file)), None)


def _is_trusted(file: Path) -> bool:
    """Whether a file is this user's or root's: another one's could send a run's data to servers of theirs."""
    try:
        status = file.lstat()
    except OSError:
        return False
    return only_owner_can_write(status) and stat.S_ISREG(status.st_mode)


def rate_wanted(plan: Plan) -> int:
    """Returns the rate limit of each server in bytes per second; 0: no limit.

    Raises:
        StriderError: Cases have different limits.
    """
    wanted = sorted({int(case.interface.get("server_rate", 0)) for case in _searching(plan)} - {0})
    if len(wanted) > 1:
        raise StriderError(
            f"listio.server_rate is {wanted[0]} in one case and {wanted[1]} in another, but the servers "
            "of a run have one limit: start a volume for each with strider listio serve DIR --rate, and "
            "name it with listio.volume"
        )
    return wanted[0] if wanted else 0


def transport_wanted(plan: Plan) -> str:
    """The transport that all cases with one name; `auto` if they name several or none."""
    named = {transport_of(case.interface) for case in _searching(plan)} - {""}
    return named.pop() if len(named) == 1 else "auto"


def transport_of(interface: Mapping[str, object]) -> str:
    """The transport that a case names, by its interface with all parameters; empty if it names none."""
    return str(interface.get("transport") or "") or _hint(interface, "listio_transport")


def _hint(interface: Mapping[str, object], name: str) -> str:
    hints = interface.get("hints")
    return str(hints.get(name) or "") if isinstance(hints, Mapping) else ""


def uses_volume(interface: Mapping[str, object]) -> bool:
    """Returns whether files of a case are on a volume, by its interface with all parameters."""
    name = interface.get("name")
    return name == INTERFACE or (name == MPI_INTERFACE and interface.get("prefix") == MPI_PREFIX)


def _servers_wanted(case: PlannedCase) -> int:
    """Over how many servers the files of a case are striped; 0: all."""
    hinted = _hint(case.interface, "striping_factor")
    if hinted.isdecimal():
        return int(hinted)
    return max(int(case.interface.get("servers", 0)), int(case.get("mount_servers", 0)))


def _searching(plan: Plan) -> list[PlannedCase]:
    """Returns the cases that use the volume of the run."""
    return [case for case in plan.cases if named_volume(case) == ""]
