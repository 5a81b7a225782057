"""The folder that a file system is started in, and what recipes start it with.

Each daemon is on record before it can fail: daemons run in the foreground of
processes whose numbers are known, and all carry a mark in their environment for those that they start.
"""

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Literal

from strider.errors import ExitCode, StriderError
from strider.lab import cover
from strider.lab.processes import MARK_VARIABLE, marked
from strider.lab.record import Record
from strider.processes import Process, boot_id, identify

LOOPBACK = "127.0.0.1"
_AUTOMATIC_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST_PORT, _PORTS = 10000, 1 << 16
COMMAND_LIMIT_S = 60.0
WAIT_LIMIT_S = 60.0
POLL_S = 0.05
TAIL_LINES = 8
"""Lines of each log that an error shows."""


class Site:
    """A lab that is being started.

    Args:
        folder: The lab's folder, existing and empty.
        system: Name of the file system.
        say: Takes lines on the progress.
        options: The value of each option of the system.
    """

    def __init__(
        self,
        folder: Path,
        system: str,
        say: Callable[[str], None],
        options: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.say = say
        self.options = dict(options or {})
        self.record = Record(system=system, mark=secrets.token_hex(16), boot=boot_id())
        self.record.create(folder)
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self.make("log")

    # --- files ---

    def make(self, name: str) -> Path:
        """A new folder in the lab's folder."""
        path = self.folder / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name: str, text: str) -> Path:
        """A new file in the lab's folder."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    @property
    def mark(self) -> tuple[str, str]:
        """Name and value of the environment variable that all processes of the lab have."""
        return MARK_VARIABLE, self.record.mark

    # --- processes ---

    def isolate(self, *addresses: str) -> None:
        """Runs all later commands in a network namespace with only a loopback device.

        For servers that listen on every address, or that refuse 127.0.0.1.

        Args:
            addresses: Addresses of the loopback device besides 127.0.0.1.
        """
        namespace = self.write("network", "")
        self.run(["unshare", f"--net={namespace}", "ip", "link", "set", "lo", "up"])
        self.record.enter = ["nsenter", f"--net={namespace}"]
        self.record.write(self.folder)
        for address in addresses:
            self.run(["ip", "address", "add", f"{address}/32", "dev", "lo"])

    def cover(self, *places: str) -> list[str]:
        """Words that start a command which has folders of the lab in the place of others.

        Args:
            places: Folders of this machine that a server writes to whatever its settings say; those that do
                not exist need no cover.
        """
        existing = list(filter(os.path.isdir, places))
        for place in existing:
            self.make(f"cover{place}")
        return ["unshare", "--mount", "--propagation", "slave", *self.covering(*existing)]

    def covering(self, *places: str) -> list[str]:
        """Words that start a command after covering folders or files with the contents of `cover`.

        They need a mount namespace of their own.
        """
        pairs = [(place, f"{self.folder}/cover{place}") for place in places]
        return [sys.executable, "-I", cover.__file__, *(word for pair in pairs for word in pair), "--"]

    def daemon(self, name: str, words: list[str], network: Literal["own", "none"] = "own") -> None:
        """Starts a program that stays in the foreground and runs until the lab is taken down.

        Args:
            name: Of its log, and in messages.
            words: The command.
            network: That of the lab, or one in which nothing can be reached.
        """
        command = [*(self.record.enter if network == "own" else ["unshare", "--net"]), *words]
        try:
            with self.log(name).open("wb") as output:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=self._environment(),
                    cwd=self.folder,
                    start_new_session=True,
                )
        except OSError as error:
            raise StriderError(f"cannot start {command[0]}: {error.strerror}", ExitCode.CANNOT_RUN) from error
        self._daemons[name] = process
        found = identify(process.pid, name)
        if found:
            self._note([found])

    def run(self, words: list[str], limit_s: float = COMMAND_LIMIT_S) -> str:
        """Runs a command to its end and returns its output.

        Raises:
            StriderError: It fails or takes too long.
        """
        done = self._attempt(words, limit_s)
        if done.returncode != 0:
            raise _failure(f"{' '.join(words)}: exit code {done.returncode}", done.stdout)
        return done.stdout

    def succeeds(self, words: list[str]) -> bool:
        """Whether a command ends well."""
        return self._attempt(words, COMMAND_LIMIT_S).returncode == 0

    def log(self, name: str) -> Path:
        """The log of a daemon."""
        return self.folder / "log" / f"{name}.log"

    def note_children(self) -> None:
        """Puts the processes on record that the daemons have started."""
        known = {process.pid for process in self.record.processes}
        self._note([process for process in marked(self.record.mark) if process.pid not in known])

    def _note(self, processes: list[Process]) -> None:
        self.record.processes += processes
        self.record.write(self.folder)

    def _attempt(self, words: list[str], limit_s: float) -> subprocess.CompletedProcess[str]:
        command = [*self.record.enter, *words]
        try:
            return subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=self._environment(),
                cwd=self.folder,
                timeout=limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise _failure(f"{' '.join(words)}: timed out after {limit_s:.0f} s") from error
        except OSError as error:
            raise StriderError(f"cannot start {command[0]}: {error.strerror}", ExitCode.CANNOT_RUN) from error

    def _environment(self) -> dict[str, str]:
        search = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
        # English messages and decimal points, regardless of the user's locale.
        return {**os.environ, "PATH": search, "LC_ALL": "C", MARK_VARIABLE: self.record.mark}

    # --- waiting ---

    def wait(self, what: str, condition: Callable[[], bool], limit_s: float = WAIT_LIMIT_S) -> None:
        """Waits until a condition holds.

        Raises:
            StriderError: It does not within the limit, or a daemon has ended before.
        """
        self.say(f"waiting for {what}")
        end = time.monotonic() + limit_s
        while not condition():
            for name, process in self._daemons.items():
                if process.poll() is not None:
                    raise _failure(f"{name} exited with status {process.returncode}", _read(self.log(name)))
            if time.monotonic() > end:
                logs = [_read(self.log(name)) for name in self._daemons]
                raise _failure(f"timed out after {limit_s:.0f} s waiting for {what}", *logs)
            time.sleep(POLL_S)

    def wait_for_port(self, what: str, port: int) -> None:
        """Waits until a server of the lab listens."""
        words = ["ss", "--no-header", "--listening", "--numeric", "--tcp", f"sport = :{port}"]
        self.wait(what, lambda: bool(self.run(words).strip()))

    def wait_for_mount(self, name: str, point: Path) -> None:
        """Waits until a folder is a mount point in which a file can be made and removed."""
        probe = str(point / "probe")
        self.wait(
            f"the mount of {name}",
            lambda: (
                os.path.ismount(point) and self.succeeds(["touch", probe]) and self.succeeds(["rm", probe])
            ),
        )


def free_ports(count: int) -> list[int]:
    """Returns free ports on the loopback device, of those that Linux gives to no other program by itself."""
    end = int(_AUTOMATIC_PORTS.read_text(encoding="ascii").split()[0])
    ports = range(_FIRST_PORT, end if end > 2 * _FIRST_PORT else _PORTS)
    found: list[int] = []
    with ExitStack() as held:
        while len(found) < count:
            port = secrets.choice(ports)
            with suppress(OSError):
                held.enter_context(socket.socket()).bind((LOOPBACK, port))
                found.append(port)
    return found


def _failure(what: str, *logs: str) -> StriderError:
    tails = [f"  {line}" for log in logs for line in log.strip().splitlines()[-TAIL_LINES:]]
    return StriderError("\n".join([what, *tails]), ExitCode.CANNOT_RUN)


def _read(log: Path) -> str:
    try:
        return log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
