"""The file system of the tests: discards unsynced data, injects faults; mounted, driven, cleaned up."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness import wait_for
from strider.engine import Engine
from strider.launch.temporary import temporary_folder

CONTROL_TIMEOUT_S = 60
"""Longest wait for an answer of the daemon, which holds no locks while requests wait."""

MODES = {"default": [], "write-back": ["--write-back"], "direct": ["--direct"]}
"""Caching by the kernel: write-through, write-back, none (FOPEN_DIRECT_IO)."""

KINDS = {
    "short": "moves half and reports half",
    "unfilled": "moves all but the last quarter, or all but `amount` bytes, and reports all",
    "zero": "moves zeros",
    "flip": "flips one bit, of byte `amount`",
    "swap": "exchanges the two halves, or `amount` bytes and those that follow",
    "stale": "returns the content before the last write; drops a write",
    "shift": "moves by `amount` bytes (default: 1)",
    "swab": "reverses words of 8 bytes",
    "dropped": "reports success and does nothing",
    "lost-tail": "cuts `amount` bytes (default: 300) from the file",
    "append": "appends `amount` bytes (default: 777) to the file",
    "gap": "writes garbage to `span`",
    "delay": "waits for `amount` ms (default: 1000)",
    "hang": "waits for an interrupt, or for `clear`",
}
"""Kinds of fault that are no error of the operating system."""


@dataclass(frozen=True)
class Event:
    """A call of the kernel, or a mark of the test.

    Attributes:
        op: The call, such as `write`, `fsync`, `fdatasync`, `flush`, `open`; `mark` for a mark.
        path: The file, from `/` at the mount point; the text of a mark.
        offset: First byte, of calls that have one.
        length: Bytes.
        flags: Those of open: O_DIRECT, O_SYNC, …; reads and writes have them, too.
        process: The caller; 0 for write-back by the kernel.
        fault: The kind of fault that hit it, or nothing.
        stable: Whether the flags alone made its data stable (O_SYNC, O_DSYNC without the kernel's cache).
    """

    op: str
    path: str
    offset: int
    length: int
    flags: int
    process: int
    fault: str
    stable: bool


@dataclass(frozen=True)
class ForgetFs:
    """A mounted file system.

    Attributes:
        mount: The mount point.
        socket: Where the daemon takes commands, which works while the mount hangs.
        mode: A key of MODES.
        process: The daemon.
    """

    mount: Path
    socket: Path
    mode: str
    process: subprocess.Popen[str]

    def fault(
        self,
        op: str,
        kind: str,
        *,
        call: int | None = None,
        span: tuple[int, int] | None = None,
        amount: int | None = None,
        name: str = "",
        file: int | None = None,
        read_only: bool = False,
    ) -> None:
        """Lets calls go wrong from now on.

        Args:
            op: The call, as in `Event.op`; `sync`: fsync and fdatasync;
                `open`: create, too.
            kind: An error's name (EIO, ENOSPC, EDQUOT, ESTALE, EINTR, …), or a key of KINDS.
            call: The k-th call that matches, from 1; default: each.
            span: First byte and the one after the last: calls that touch them, and the bytes to damage. The
                kernel cuts cached transfers into calls of any size: only a span hits the same bytes.
            amount: Bytes or milliseconds, by kind.
            name: Part of the paths, from `/` at the mount point.
            file: The k-th created file of those, from 1; default: each.
            read_only: Only files opened with O_RDONLY: no read of a read-modify-write.
        """
        words = ["fault", op, kind]
        words += [f"call={call}"] if call is not None else []
        words += [f"range={span[0]}-{span[1]}"] if span is not None else []
        words += [f"amount={amount}"] if amount is not None else []
        words += [f"name={name}"] if name else []
        words += [f"file={file}"] if file is not None else []
        words += ["access=read-only"] if read_only else []
        self._command(" ".join(words))

    def clear(self) -> None:
        """Ends all faults; what hangs fails with EIO."""
        self._command("clear")

    def hits(self) -> list[int]:
        """How many calls each fault has hit, in the order of `fault`."""
        return [fault["hits"] for fault in self._command("faults")]

    def cut(self) -> None:
        """Loses data and names that are not stable; the programs that used them should be gone by then."""
        self._command("cut")

    def tear(self, unit: int, seed: int) -> None:
        """As `cut`, but each unit of bytes of each unsynced write lands or not: torn and out of order."""
        self._command(f"tear {unit} {seed}")

    def freeze(self, folder: str) -> None:
        """Remembers a folder, such as `/a/b`, as it is: programs that use it are about to be killed."""
        self._command(f"freeze {folder}")

    def thaw(self, *, cut: bool = False) -> None:
        """Undoes the actions on that folder since; with `cut`, its power fails, too."""
        self._command("thaw cut" if cut else "thaw")

    @contextmanager
    def keeping_images(self, folder: Path, every: int) -> Iterator[None]:
        """Keeps images of the disk after each so many-th sync: cut, torn, and one folder cut."""
        self._command(f"snapshots-in-part {every} {folder}")
        try:
            yield
        finally:
            self._command("snapshots")

    def persist(self) -> None:
        """Makes everything stable, and discards removed files."""
        self._command("persist")

    def dump(self, folder: Path, image: str = "disk") -> Path:
        """Copies an image to a folder of this machine: `disk`, the state after a power cut, or `now`."""
        self._command(f"dump {image} {folder}")
        return folder

    def mark(self, text: str) -> None:
        """Puts a mark into the log."""
        self._command(f"mark {text}")

    def erase(self) -> None:
        """Empties the log."""
        self._command("erase")

    def events(self, *ops: str, name: str = "") -> list[Event]:
        """The log: calls (default: all) on paths that end with `name`, marks as `mark`."""
        events = [Event(**line) for line in self._command("events")]
        return [event for event in events if (not ops or event.op in ops) and event.path.endswith(name)]

    def _command(self, text: str) -> list[Any]:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(CONTROL_TIMEOUT_S)
            connection.connect(str(self.socket))
            connection.sendall(text.encode() + b"\n")
            answer = b"".join(iter(lambda: connection.recv(1 << 20), b"")).decode()
        *lines, last = answer.splitlines()
        assert last == "ok", f"forgetfs: {text}: {last}"
        return [json.loads(line) for line in lines]


def program(engine: Engine) -> Path:
    """The daemon, built beside the engine; skips where it cannot be built or mounted."""
    if not Path("/dev/fuse").exists():
        pytest.skip("machine: the kernel has no FUSE (/dev/fuse)")
    built = Path(engine.path).resolve().parents[1] / "tests" / "forgetfs" / "forgetfs"
    if not built.exists():
        pytest.skip("needs libfuse3 (Debian packages libfuse3-dev and pkg-config) and `tools/setup.sh test`")
    return built


@contextmanager
def mounted(engine: Engine, mode: str = "default", *options: str) -> Iterator[ForgetFs]:
    """Mounts the file system; at the end it is unmounted and its daemon gone, whatever hangs.

    Args:
        engine: The engine, beside which the daemon was built.
        mode: A key of MODES.
        options: Further ones: `--strict` makes names stable by a sync of their folder only.
    """
    words = [program(engine)]
    # Not in a test's folder, whose path may be too long for a socket.
    with temporary_folder() as folder:
        yield from _mounted(words, folder, mode, options)


def _mounted(words: Sequence[Path], folder: Path, mode: str, options: Sequence[str]) -> Iterator[ForgetFs]:
    """Mounts the file system in a folder."""
    point = folder / "mount"
    point.mkdir()
    process = subprocess.Popen(
        [*words, point, folder / "control", *MODES[mode], *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        wait_for(lambda: point.is_mount() or process.poll() is not None, "forgetfs to be mounted")
        if process.poll() is not None:
            pytest.skip(f"machine: FUSE file systems may not be mounted: {process.communicate()[0].strip()}")
        wait_for((folder / "control").exists, "forgetfs to take commands")
        yield ForgetFs(point, folder / "control", mode, process)
    finally:
        _unmount(process, point)


def _unmount(process: subprocess.Popen[str], point: Path) -> None:
    # Its end unmounts, even busy mounts, and answers hanging requests.
    process.terminate()
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    if os.path.ismount(point) or _is_dead(point):
        subprocess.run(["umount", "--lazy", point], check=False)


def _is_dead(point: Path) -> bool:
    try:
        point.stat()
    except OSError:  # a mount without a daemon: ENOTCONN
        return True
    return False
