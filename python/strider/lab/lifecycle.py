"""Starts, checks and stops a lab."""

import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from strider.errors import ExitCode, StriderError
from strider.lab import mounts
from strider.lab.processes import GRACE_S, in_networks, marked, working_in
from strider.lab.record import FILE, Record, read
from strider.lab.site import Site
from strider.lab.system import System
from strider.own_files import require_own_folder
from strider.processes import Process, boot_id, is_alive, stop

State = Literal["up", "down", "incomplete"]
"""`incomplete`: something was started, but not everything works; `down` removes it."""

LONGEST_FOLDER = 60
"""Characters of a lab's folder: servers make sockets below it, whose names may have 107."""
PLAIN = re.compile(r"[\w./+-]+", re.ASCII)
"""Characters of a folder's name: it stands in the configuration of servers."""


def folder_of(system: System, at: Path | None) -> Path:
    """The folder of a lab.

    Args:
        system: The file system.
        at: The folder that holds the lab's, None for the default one.

    Raises:
        StriderError: No lab can be in this folder.
    """
    folder = (at or _default_parent()).resolve() / system.name
    if not PLAIN.fullmatch(str(folder)):
        raise StriderError(
            f"{folder}: the path may contain only letters, digits and ./_+-: choose another folder (--at)"
        )
    if len(str(folder)) > LONGEST_FOLDER:
        raise StriderError(
            f"{folder}: the path may have at most {LONGEST_FOLDER} characters: choose another folder (--at)"
        )
    return folder


def up(system: System, folder: Path, say: Callable[[str], None], options: Sequence[str] = ()) -> Record:
    """Starts a lab and waits until it is ready; removes everything on failure.

    Args:
        system: What to start.
        folder: Where; it must not exist, or be empty.
        say: Takes lines on the progress.
        options: Options of the system that differ from the default, `KEY=VALUE` each.

    Raises:
        StriderError: It is up already, or cannot be started; the message says why.
    """
    settings = system.settings(options)
    _check_machine(system)
    state = state_of(folder)
    if state != "down":
        remedy = f"remove it with strider lab down {system.name} --at {shlex.quote(str(folder.parent))}"
        raise StriderError(f"{folder} holds a lab that is {state}: {remedy}", ExitCode.CANNOT_RUN)
    _make(folder)
    site = Site(folder, system.name, say, settings)
    try:
        site.record.endpoints = system.start(site)
        site.note_children()
        site.record.state = "up"
        site.record.write(folder)
    except BaseException:
        say("stopping what was started")
        try:
            down(folder, say)
        except StriderError as error:
            say(error.message)  # the first error is the one to end with
        raise
    return site.record


def down(folder: Path, say: Callable[[str], None]) -> None:
    """Stops all processes of a lab, unmounts, and removes its files, also after a crash.

    Raises:
        StriderError: Something could not be stopped or unmounted, or other users can write to the folder; it
            is named, and no file was removed.
    """
    _require_own(folder)
    record = read(folder)
    # While their namespaces are mounted: afterwards nothing shows whose these processes are.
    networks = mounts.namespaces(record.namespaces if record else [])
    _stop(in_networks(networks))
    for point in mounts.unmount_below(folder):
        say(f"{point} was in use; processes with open files there will get errors")
    if record:
        # Of another start of the machine nothing lives on, and its numbers are those of others now.
        known = reversed(record.processes) if record.boot == boot_id() else []
        found = [*marked(record.mark), *working_in(folder, record.unmarked)]
        _stop([*known, *found])
    mounts.unmount_below(folder)
    if left := mounts.below(folder):
        raise StriderError(f"cannot unmount {', '.join(map(str, left))}", ExitCode.CANNOT_RUN)
    if folder.exists():
        _remove(folder)
    if folder.parent == _default_parent().resolve():
        with suppress(OSError):  # it does not exist, or holds another lab
            folder.parent.rmdir()


def state_of(folder: Path) -> State:
    """Returns the state of a lab from its processes and mounts."""
    record = read(folder)
    if record is None:
        return "down"
    points = [endpoint.mount for endpoint in record.endpoints if endpoint.mount]
    is_whole = (
        record.state == "up"
        and record.boot == boot_id()
        and all(map(is_alive, record.processes))
        and set(points) <= set(mounts.below(folder))
    )
    return "up" if is_whole else "incomplete"


def _stop(processes: Iterable[Process]) -> None:
    alive = stop(processes, GRACE_S)
    if alive:
        names = ", ".join(f"{process.name} (process {process.pid})" for process in alive)
        raise StriderError(f"cannot stop {names}", ExitCode.CANNOT_RUN)


def _default_parent() -> Path:
    return Path(tempfile.gettempdir()) / "strider-lab"


def _check_machine(system: System) -> None:
    obstacle = system.obstacle()
    if obstacle:
        raise StriderError(f"{system.name}: {obstacle}", ExitCode.CANNOT_RUN)
    missing = system.missing_packages()
    if missing:
        command = f"apt-get install --no-install-recommends {' '.join(missing)}"
        raise StriderError(
            f"{system.name} needs missing Debian packages: {command}\n  or let strider install them: "
            f"strider lab up {system.name} --install",
            ExitCode.CANNOT_RUN,
        )


def _make(folder: Path) -> None:
    """Creates the lab's folder, writable by the owner only and accessible to the servers' users."""
    _require_own(folder)
    try:
        folder.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        folder.mkdir(exist_ok=True)
        _require_own(folder)
        folder.chmod(0o755)
    except OSError as error:
        raise StriderError(f"cannot create {folder}: {error.strerror}", ExitCode.CANNOT_RUN) from error


def _require_own(folder: Path) -> None:
    """Checks that no other user can change where a lab's folder is: all in it is removed at the end.

    Raises:
        StriderError: Another user can, or the folder is a link.
    """
    if folder.is_symlink():
        raise StriderError(f"{folder} is a symbolic link: choose another folder (--at)")
    require_own_folder(folder, "all")


def _remove(folder: Path) -> None:
    """Removes a lab's folder, its record last: an interrupted removal can be repeated."""
    for path in folder.iterdir():
        if path.name == FILE:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    (folder / FILE).unlink(missing_ok=True)
    folder.rmdir()
