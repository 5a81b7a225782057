"""Mounts volumes as directories, by FUSE, and unmounts them."""

import errno
import os
import select
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from strider.engine import Engine
from strider.errors import ExitCode, StriderError
from strider.listio.servers import Lifetime
from strider.listio.tool import READY, program
from strider.listio.volume import VOLUME_FILE
from strider.own_files import own_folder
from strider.processes import Process, command_lines, identify, is_alive
from strider.text_file import open_unfollowed

MOUNT = "strider-listio-mount"
FILE_SYSTEM = "fuse.strider-listio"
"""Type of these mounts in /proc/self/mountinfo."""
READY_S = 20.0
"""Time limit in seconds until a mount is ready."""
_MOUNTS = Path("/proc/self/mountinfo")
ENDED_S = 60.0
"""Time limit in seconds for the process of a mount to end after it was unmounted."""
_UNMOUNTED_S = 5.0
"""Time limit in seconds for fusermount3 to unmount a volume whose process was killed."""


def mount_program(engine: Engine) -> Path:
    """The program that serves mounts.

    Raises:
        StriderError: The engine was built without it.
    """
    return program(engine, MOUNT, "libfuse3 (Debian: libfuse3-dev, fuse3)", "mounts of volumes")


@dataclass(frozen=True)
class MountOptions:
    """How a volume is mounted.

    Attributes:
        caches: Whether the kernel may keep read data until a file is opened again.
        allows_others: Whether other users may use the mount.
        servers: Over how many servers new files are striped; 0: all.
        patience_s: How long a call waits for a server that does not answer or was lost, in seconds.
        lifetime: Whether it ends by `unmount` alone, or with the process that started it, too.
    """

    caches: bool = False
    allows_others: bool = False
    servers: int = 0
    patience_s: int = 30
    lifetime: Lifetime = "stop"

    def words(self) -> list[str]:
        """The options of the program."""
        flags = {"--cache": self.caches, "--allow-other": self.allows_others}
        until = "input-ends" if self.lifetime == "starter" else "signal"
        chosen = [flag for flag, is_set in flags.items() if is_set]
        numbers = {"--servers": self.servers, "--patience": self.patience_s}
        words = [word for name, number in numbers.items() for word in (name, str(number))]
        return [*chosen, *words, "--until", until]


def mount(engine: Engine, volume: Path, directory: Path, options: MountOptions | None = None) -> int:
    """Mounts a volume; returns when the directory can be used.

    Args:
        engine: The engine, beside which the program is.
        volume: The volume's directory.
        directory: Where it is mounted; an empty directory that is outside the volume.
        options: How; None for the defaults.

    Returns:
        The process that serves the mount.

    Raises:
        StriderError: The directory does not fit, or the mount is not ready in time; then it is not mounted.
    """
    _unmount_dead(directory)
    _check(volume, directory)
    return start_mount(engine, volume, directory, options or MountOptions()).pid


def start_mount(
    engine: Engine, volume: Path, directory: Path, options: MountOptions
) -> subprocess.Popen[str]:
    """Mounts a volume on a directory that fits; see `mount`.

    Returns:
        The process, which ends with its standard input if its `lifetime` is that of the starter.

    Raises:
        StriderError: It is not ready in time.
    """
    server = mount_program(engine)
    log = volume / "mount.log"
    with (
        own_folder(volume) as folder,
        open_unfollowed(Path(log.name), "ab", folder, 0o600) as messages,
    ):
        start = messages.tell()
        child = subprocess.Popen(
            [str(server), str((volume / VOLUME_FILE).resolve()), str(directory.resolve()), *options.words()],
            stdin=subprocess.PIPE if options.lifetime == "starter" else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=messages,
            text=True,
            cwd="/",
            start_new_session=True,
        )
    assert child.stdout is not None  # noqa: S101 - asked for
    with child.stdout as stream:
        readable, _, _ = select.select([stream], [], [], READY_S)
        if readable and stream.readline().startswith(READY):
            return child
    child.terminate()
    said = log.read_bytes()[start:].decode("utf-8", "replace").strip()
    reason = said or f"it was not ready within {READY_S:.0f} s"
    raise StriderError(f"cannot mount {volume} on {directory}: {reason}", ExitCode.CANNOT_RUN)


def unmount(directory: Path, *, lazily: bool = False) -> None:
    """Unmounts a volume; written data has reached the servers before.

    The process that served it continues to remove data files of removed names. It has ended when this
    returns, unless `lazily`: a check of the volume finds nothing of it.

    Args:
        directory: Where it is mounted.
        lazily: Whether it goes out of sight at once, and ends when no program uses it any more.

    Raises:
        StriderError: No volume is mounted there, files in it are open, or its process does not end.
    """
    point = _point(directory)
    if str(point) not in mounted():
        raise StriderError(f"no list-I/O volume is mounted on {directory}")
    serving = None if lazily else _process_of(point)
    done = subprocess.run(
        ["fusermount3", "-u", *(["-z"] if lazily else []), str(point)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise StriderError(f"cannot unmount {directory}: {done.stderr.strip()}", ExitCode.CANNOT_RUN)
    if serving is not None:
        _wait_for_end(directory, serving)


def _process_of(point: Path) -> Process | None:
    """The process of this user that serves a mount point: the latest, as earlier ones may live on."""
    found = [
        identify(pid, f"the mount on {point}")
        for pid, (program, *words) in command_lines(own=True)
        if Path(program).name == MOUNT and str(point) in words
    ]
    alive = [process for process in found if process is not None]
    return max(alive, key=lambda process: (process.start_ticks, process.pid), default=None)


def _wait_for_end(directory: Path, process: Process) -> None:
    end = time.monotonic() + ENDED_S
    while is_alive(process):
        if time.monotonic() > end:
            what = f"{directory} is unmounted, but its process {process.pid} has not ended in {ENDED_S:.0f} s"
            raise StriderError(
                f"{what}: it still removes data files, or a server does not answer; see mount.log of the "
                "volume, and check the volume when the process has ended",
                ExitCode.CANNOT_RUN,
            )
        time.sleep(0.02)


def unmount_below(directory: Path) -> None:
    """Unmounts all volumes in a directory, also those whose process was killed.

    Raises:
        StriderError: One cannot be unmounted.
    """
    top = _point(directory)
    for point in map(Path, reversed(mounted())):
        if point.is_relative_to(top):
            unmount(point, lazily=True)


def mounted() -> list[str]:
    """Mount points of volumes on this machine."""
    lines = [line.split(" ") for line in _MOUNTS.read_text(encoding="utf-8").splitlines()]
    return [_plain(words[4]) for words in lines if words[words.index("-") + 1] == FILE_SYSTEM]


def _point(directory: Path) -> Path:
    """The path of a mount point as the kernel shows it; one whose server is gone is not asked anything."""
    path = Path(os.path.abspath(directory))  # noqa: PTH100 - the last name is not to be resolved
    return path.parent.resolve() / path.name


def _plain(text: str) -> str:
    """A path as mountinfo writes it, with octal numbers for spaces."""
    return text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")


def _unmount_dead(directory: Path) -> None:
    """Unmounts volumes whose processes were killed.

    Their fusermount3 does so, too, unless it was killed. It is given time, because it would otherwise unmount
    a later mount in the same place.
    """
    point = _point(directory)
    end = time.monotonic() + _UNMOUNTED_S
    while str(point) in mounted() and _is_dead(point):
        if time.monotonic() > end:
            unmount(point, lazily=True)
        time.sleep(0.05)


def _is_dead(point: Path) -> bool:
    try:
        point.stat()
    except OSError as error:
        return error.errno in (errno.ENOTCONN, errno.ECONNABORTED)  # the latter while its process ends
    return False


def _check(volume: Path, directory: Path) -> None:
    if str(_point(directory)) in mounted():
        raise StriderError(
            f"a list-I/O volume is mounted on {directory}: unmount it, or name another directory"
        )
    if not directory.is_dir():
        raise StriderError(f"{directory} is not a directory: create it")
    if any(directory.iterdir()):
        raise StriderError(f"{directory} is not empty: name an empty directory")
    if directory.resolve().is_relative_to(volume.resolve()):
        raise StriderError(f"{directory} lies within the volume {volume}: name a directory outside it")
