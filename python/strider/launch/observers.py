"""Counters of other machines, such as storage servers, during a run: `observe` of the engine there, by ssh.

The engine over there writes to ssh, and ends when its input does. So it ends with this process, however that
comes about, and nobody has to reach the machine again.
"""

import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from strider import ssh
from strider.errors import ExitCode, StriderError

INTERVAL_S = 0.5
"""Time between two readings over there."""
START_LIMIT_S = 20.0
"""How long a machine may take until its first line has come."""
END_LIMIT_S = 5.0
"""How long it may take to write its last line."""
POLL_S = 0.05


@dataclass(frozen=True)
class Observing:
    """What is to be observed.

    Attributes:
        hosts: As ssh knows them: `[user@]host[:port]`, names of its configuration too.
        engine: The engine over there.
    """

    hosts: Sequence[str] = ()
    engine: str = "strider-engine"

    @classmethod
    def of(cls, hosts: str | None, engine: str) -> "Observing":
        """What was typed: hosts with commas between, and the path of the engine over there.

        Raises:
            StriderError: A host or the path is none, or the lines of two hosts would go to one file.
        """
        named = ssh.parse_hosts("--observe", hosts) if hosts is not None else []
        by_file: dict[str, str] = {}
        for host in named:
            if (other := by_file.setdefault(_file_name(host), host)) != host:
                raise StriderError(
                    f'--observe: the lines of "{other}" and "{host}" would both go to {_file_name(host)}: '
                    "name one of them otherwise, as by an alias in ssh's configuration"
                )
        ssh.check_program("--observe-engine", engine)
        return cls(named, engine)


@dataclass
class Observer:
    """One machine that is observed.

    Attributes:
        host: The machine.
        file: Where its lines are kept.
        process: ssh.
        messages: A file with what ssh and the engine over there say.
        problem: Why there is nothing more from it; empty while all is well.
    """

    host: str
    file: Path
    process: subprocess.Popen[bytes]
    messages: Path
    problem: str = field(default="", init=False)

    def move(self, directory: Path) -> None:
        """Takes its file, which goes on being written, to another directory of the same file system."""
        self.file = self.file.rename(directory / self.file.name)

    def has_begun(self) -> bool:
        """Whether its first line has come."""
        return b"\n" in self.file.read_bytes()

    def end(self) -> None:
        """Lets it write its last line; ends ssh if that takes too long."""
        early = self.process.poll()
        if self.process.stdin:
            with suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            self.problem = "did not end by itself"
        if early is not None:
            self.problem = f"ended before the run did ({self.reason()}): what came until then is kept"

    def reason(self) -> str:
        """The last thing that ssh or the engine over there said."""
        lines = ssh.message_lines(self.messages.read_text(encoding="utf-8", errors="replace"))
        return lines[-1] if lines else f"ssh ended with exit status {self.process.returncode}"


@contextmanager
def observers(observing: Observing, store: Path, tell: Callable[[str], None]) -> Iterator[list[Observer]]:
    """Observes machines until the end of the block.

    Args:
        observing: Which machines.
        store: Where run directories are made; the lines are kept in a folder there until they are moved.
        tell: Takes what went wrong with one of them later, which ends no run.

    Raises:
        StriderError: A machine cannot be reached, or there is no engine on it. Nothing is left running.
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
                    tell(f"observing {observer.host} {observer.problem}")


@contextmanager
def _folder(store: Path) -> Iterator[Path]:
    try:
        store.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix=".observed-", dir=store)
    except OSError as error:
        raise StriderError(f"cannot write to {store}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    with folder as path:
        yield Path(path)


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
                start_new_session=True,  # away from the terminal's Ctrl-C
            )
    except OSError as error:
        raise StriderError(f"cannot start ssh: {error.strerror}", ExitCode.CANNOT_RUN) from error
    return Observer(host, file, process, said)


def _command(host: str, engine: str) -> list[str]:
    observe = ["observe", "--out", "-", "--interval", str(INTERVAL_S), "--until", "input-closes"]
    return ssh.command(host, [engine, *observe])


def _await(found: Sequence[Observer]) -> None:
    """Waits until the first line of each has come.

    Raises:
        StriderError: One ended before, or takes too long.
    """
    limit = time.monotonic() + START_LIMIT_S
    for observer in found:
        while not observer.has_begun():
            if observer.process.poll() is not None:
                raise _unreachable(observer, observer.reason())
            if time.monotonic() > limit:
                raise _unreachable(observer, f"nothing came within {START_LIMIT_S:g} s")
            time.sleep(POLL_S)


def _unreachable(observer: Observer, reason: str) -> StriderError:
    return StriderError(
        f"cannot observe {observer.host}: {reason}: ssh must get there without a password, and "
        "--observe-engine must name the engine there",
        ExitCode.CANNOT_RUN,
    )
