"""Records counters of other machines, such as storage servers, during a run, by `observe` over ssh.

The remote engine writes to ssh and exits when its stdin closes. So it always exits with this process, even if
the machine can no longer be reached.
"""

import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from strider import ssh
from strider.errors import ExitCode, StriderError
from strider.own_files import make_store

INTERVAL_S = 0.5
"""Sampling interval on the remote machine in seconds."""
START_LIMIT_S = 20.0
"""Time limit for the first line of a machine in seconds."""
END_LIMIT_S = 5.0
"""Time limit for its last line in seconds."""
POLL_S = 0.05


@dataclass(frozen=True)
class Observing:
    """The machines to observe.

    Attributes:
        hosts: Hosts for ssh: `[user@]host[:port]` or names in its configuration.
        engine: Path of the engine on these hosts.
    """

    hosts: Sequence[str] = ()
    engine: str = "strider-engine"

    @classmethod
    def of(cls, hosts: str | None, engine: str) -> "Observing":
        """Parses a comma-separated host list and the path of the remote engine.

        Raises:
            StriderError: A host or the path is invalid, or two hosts would write to the same file.
        """
        named = ssh.parse_hosts("--observe", hosts) if hosts is not None else []
        by_file: dict[str, str] = {}
        for host in named:
            if (other := by_file.setdefault(_file_name(host), host)) != host:
                raise StriderError(
                    f'--observe: "{other}" and "{host}" would both write to {_file_name(host)}: use an '
                    "alias in the ssh configuration for one of them"
                )
        ssh.check_program("--observe-engine", engine)
        return cls(named, engine)


@dataclass
class Observer:
    """An observed machine.

    Attributes:
        host: The machine.
        file: File of its lines.
        process: ssh.
        messages: File with stderr of ssh and of the remote engine.
        problem: Why recording ended; empty while it is active.
    """

    host: str
    file: Path
    process: subprocess.Popen[bytes]
    messages: Path
    problem: str = field(default="", init=False)

    def move(self, directory: Path) -> None:
        """Moves its file, which stays open for writing, to a directory on the same file system.

        Each start of a resumed run has a file of its own.
        """
        self.file = self.file.rename(free_name(directory, self.file.stem, self.file.suffix))

    def has_begun(self) -> bool:
        """Returns whether its first line has arrived."""
        return b"\n" in self.file.read_bytes()

    def end(self) -> None:
        """Lets it write its last line; terminates ssh after the time limit."""
        early = self.process.poll()
        if self.process.stdin:
            with suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            self.problem = "did not exit in time"
        if early is not None:
            self.problem = f"exited before the end of the run ({self.reason()}); records up to then are kept"

    def reason(self) -> str:
        """Returns the last message of ssh or of the remote engine."""
        lines = ssh.message_lines(self.messages.read_text(encoding="utf-8", errors="replace"))
        return lines[-1] if lines else f"ssh exited with status {self.process.returncode}"


@contextmanager
def observers(observing: Observing, store: Path, tell: Callable[[str], None]) -> Iterator[list[Observer]]:
    """Observes machines until the end of the block.

    Args:
        observing: The machines.
        store: Store of run directories; the files are kept in a folder there until they are moved.
        tell: Receives later errors of a machine, which do not end the run.

    Raises:
        StriderError: A machine is unreachable or has no engine. No process is left running.
    """
    if not observing.hosts:
        yield []
        return
    found: list[Observer] = []
    begun = False
    with _folder(store) as folder:
        try:
            for host in observing.hosts:
                found.append(_start(host, observing.engine, folder))
            _await(found)
            begun = True
            yield found
        finally:
            for observer in found:
                observer.end()
                if begun and observer.problem:
                    tell(f"observer on {observer.host} {observer.problem}")


@contextmanager
def _folder(store: Path) -> Iterator[Path]:
    try:
        make_store(store)
        folder = tempfile.TemporaryDirectory(prefix=".observed-", dir=store)
    except OSError as error:
        raise StriderError(f"cannot write to {store}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    with folder as path:
        yield Path(path)


def free_name(directory: Path, stem: str, suffix: str) -> Path:
    """Returns a path in a directory that does not exist: `STEM.jsonl`, `STEM-2.jsonl` and so on."""
    names = (f"{stem}{f'-{number}' if number > 1 else ''}{suffix}" for number in count(1))
    return next(directory / name for name in names if not (directory / name).exists())


def _file_name(host: str) -> str:
    return f"observed-{re.sub(r'[^A-Za-z0-9._-]', '_', host)}.jsonl"


def _start(host: str, engine: str, folder: Path) -> Observer:
    file = folder / _file_name(host)
    said = file.with_suffix(".messages")
    try:
        with file.open("wb") as lines, said.open("wb") as messages:
            process = subprocess.Popen(
                _command(host, engine),
                stdin=subprocess.PIPE,
                stdout=lines,
                stderr=messages,
                start_new_session=True,  # not interrupted by Ctrl-C in the terminal
            )
    except OSError as error:
        raise StriderError(f"cannot start ssh: {error.strerror}", ExitCode.CANNOT_RUN) from error
    return Observer(host, file, process, said)


def _command(host: str, engine: str) -> list[str]:
    observe = ["observe", "--out", "-", "--interval", str(INTERVAL_S), "--until", "input-closes"]
    return ssh.command(host, [engine, *observe])


def _await(found: Sequence[Observer]) -> None:
    """Waits for the first line of each machine.

    Raises:
        StriderError: A machine exits early, or exceeds the time limit.
    """
    limit = time.monotonic() + START_LIMIT_S
    for observer in found:
        while not observer.has_begun():
            if observer.process.poll() is not None:
                raise _unreachable(observer, observer.reason())
            if time.monotonic() > limit:
                raise _unreachable(observer, f"no data within {START_LIMIT_S:g} s")
            time.sleep(POLL_S)


def _unreachable(observer: Observer, reason: str) -> StriderError:
    return StriderError(
        f"cannot observe {observer.host}: {reason}: check that ssh works without a password and that "
        "--observe-engine is the path of the engine there",
        ExitCode.CANNOT_RUN,
    )
