"""Mounts of the run's list-I/O volume, for the cases with `mount = "listio"`.

A mount is a directory of the run's folder. It ends with the run: this process unmounts it, and if this
process is killed, the process of the mount does.
"""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from strider import listio
from strider.engine import Engine
from strider.errors import ExitCode, StriderError
from strider.launch import folder
from strider.launch.folder import Folder
from strider.own_files import is_own_folder
from strider.processes import identify
from strider.suite import Plan

PREFIX = "mount-"
_END_S = 10.0
"""Time limit in seconds for the process of a mount to exit."""


@dataclass(frozen=True)
class RunMount:
    """A mount of a run.

    Attributes:
        servers: Over how many servers its new files are striped; 0: all.
        folder: The run's folder on it.
        process: The process that serves it.
    """

    servers: int
    folder: Path
    process: subprocess.Popen[str]

    @property
    def name(self) -> str:
        """What its counters are called by."""
        return f"mount of {self.servers} servers" if self.servers else "mount"


def mounts_wanted(plan: Plan) -> list[int]:
    """Over how many servers the files on each mount of a plan are striped; 0: all."""
    cases = [case for case in plan.cases if case.get("mount") == listio.MOUNT]
    return sorted({int(case.get("mount_servers", 0)) for case in cases})


@contextmanager
def mounts_of_run(plan: Plan, engine: Engine, own: Folder) -> Iterator[list[RunMount]]:
    """Mounts the volume of a run in the run's folder, until the end of the context.

    On the volume, the run has one folder, which all mounts show.

    Args:
        plan: What will be run.
        engine: The engine.
        own: The run's folder, in a directory with a running volume.

    Raises:
        StriderError: The volume cannot be mounted.
    """
    with ExitStack() as stack:
        mounts = [stack.enter_context(_mount(engine, own, servers)) for servers in mounts_wanted(plan)]
        if mounts:
            stack.callback(folder.remove, folder.create(mounts[0].folder.parent, own.run))
        yield mounts


def engine_words(plan: Plan, place: Path, mounts: Sequence[RunMount]) -> list[str]:
    """The options by which the engine finds the mounts, and the processes that work for the ranks.

    Args:
        plan: The plan to run.
        place: Default location of a volume for cases that do not name one.
        mounts: The mounts of the run.
    """
    return [*mount_words(mounts), *process_words(plan, place, mounts)]


def mount_words(mounts: Sequence[RunMount]) -> list[str]:
    """The options by which the engine finds the mounts."""
    return [word for one in mounts for word in ("--mount", f"{one.servers}={one.folder}")]


def process_words(plan: Plan, place: Path, mounts: Sequence[RunMount]) -> list[str]:
    """The options by which the engine records the counters of mounts and servers on this host."""
    found = [(process, 0) for one in mounts if (process := identify(one.process.pid, one.name))]
    for file in sorted(listio.volumes(plan, place)):
        is_ours = file.name == listio.VOLUME_FILE and is_own_folder(file.parent)
        volume = listio.read_volume(file.parent) if is_ours else None
        processes = listio.processes_of(file.parent) if volume else []
        if volume and len(processes) == len(volume.servers):
            ports = [int(address.rpartition(":")[2]) for address in volume.servers]
            found += zip(processes, ports, strict=True)
    named = {
        process.name: f"{process.name}={process.pid}:{process.start_ticks}:{port}" for process, port in found
    }
    return [word for text in named.values() for word in ("--process", text)]


@contextmanager
def _mount(engine: Engine, own: Folder, servers: int) -> Iterator[RunMount]:
    volume = listio.volume_above(own.path)
    if volume is None:
        raise StriderError(f"{own.path} is in no list-I/O volume that could be mounted", ExitCode.CANNOT_RUN)
    point = _make_point(own, f"{PREFIX}{servers}")
    options = listio.MountOptions(servers=servers, lifetime="starter")
    process = listio.start_mount(engine, volume.parent, point, options)
    try:
        yield RunMount(servers, point / own.path.name, process)
    finally:
        _unmount(point, process)


def _make_point(own: Folder, name: str) -> Path:
    opened = own.open()
    try:
        os.mkdir(name, mode=0o700, dir_fd=opened)
    except OSError as error:
        raise StriderError(
            f"cannot create {own.path / name}: {error.strerror}", ExitCode.CANNOT_RUN
        ) from error
    finally:
        os.close(opened)
    return own.path / name


def _unmount(point: Path, process: subprocess.Popen[str]) -> None:
    """Unmounts; what stays mounted after all is reported when the run's folder cannot be removed."""
    with suppress(StriderError):
        listio.unmount(point, lazily=True)
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
