"""The engine as a process: started in a session of its own, interrupted, and killed if it must be."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from strider import signals
from strider.errors import ExitCode, StriderError
from strider.launch.confinement import Confinement
from strider.launch.launchers import Launcher

_PR_SET_PDEATHSIG = 1
"""From <linux/prctl.h>."""


@dataclass(frozen=True)
class EngineProcess:
    """The launcher's process with all ranks of this machine below it."""

    process: subprocess.Popen[bytes]
    launcher: Launcher

    @property
    def returncode(self) -> int | None:
        """Exit status of the launcher, the negated number of a signal that killed it; None before `kill`."""
        return self.process.returncode

    def running(self) -> bool:
        """Whether the launcher runs.

        One that has ended is not reaped here: only until then are its number and its group surely its own.
        """
        if self.process.returncode is not None:
            return False
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.process.pid, options) is None

    def interrupt(self) -> None:
        """Asks the ranks to end their phase, remove their files and stop."""
        if self.running():
            # Not by Popen.send_signal, which reaps.
            os.kill(self.process.pid, self.launcher.interrupt)

    def kill(self) -> None:
        """Ends the launcher and everything that it started on this machine, at once; reaps the launcher."""
        if self.process.returncode is not None:
            return
        for pid in reversed(_descendants(self.process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def start(
    launcher: Launcher, ranks: int, program: list[str], log: Path, confined: Confinement | None = None
) -> EngineProcess:
    """Starts a program on a number of ranks, away from the terminal's Ctrl-C; its output goes to `log`.

    The launcher is asked to end when this process dies, even if nothing was left to do so (SIGKILL).

    Raises:
        StriderError: The launcher does not start.
    """
    confined = confined or Confinement()
    environment: Mapping[str, str] = {**os.environ, **launcher.environment, **confined.environment}
    try:
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*confined.around, *launcher.command(ranks), *program],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                pass_fds=confined.descriptors,
                preexec_fn=_leash(),  # safe: this process has one thread
            )
    except OSError as error:
        raise StriderError(f"cannot start {launcher.name}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    return EngineProcess(process, launcher)


def _leash() -> Callable[[], None]:
    """What a child runs before its program, so that it gets SIGTERM at the death of this process."""
    import ctypes

    libc, parent = ctypes.CDLL(None), os.getpid()

    def tie() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        # The parent may have died before the call, and then no signal comes.
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    return tie


@dataclass
class Interruptions:
    """Signals that ask for the end of the run, in the order of their arrival.

    Attributes:
        received: The signals.
        on_next: What is done at the arrival of one, with how many there are then; None for nothing.
        settled: Whether the exit code is decided.
    """

    received: list[signal.Signals] = field(default_factory=list)
    on_next: Callable[[int], None] | None = None
    settled: bool = False

    def settle(self, code: int) -> None:
        """Decides the exit code: a further signal ends the process with it, at once."""
        self.on_next = lambda _: os._exit(code)
        self.settled = True

    def note(self, number: int, _: FrameType | None) -> None:
        """The signal handler."""
        self.received.append(signal.Signals(number))
        if self.on_next:
            self.on_next(len(self.received))


@contextmanager
def interruptions() -> Iterator[Interruptions]:
    """Collects Ctrl-C, SIGTERM and SIGHUP instead of dying from them, unless they are ignored.

    At the end the handlers are as before; those of a command whose exit code is settled stay.

    Raises:
        KeyboardInterrupt: A signal came earlier, and something has dropped the exception.
    """
    if signals.received_so_far():
        raise KeyboardInterrupt
    noted = Interruptions()
    before = {number: signal.signal(number, noted.note) for number in signals.heeded()}
    try:
        yield noted
    finally:
        for number, handler in before.items():
            if not (noted.settled and isinstance(handler, signals.Raising)):
                signal.signal(number, handler)


def _descendants(pid: int) -> list[int]:
    """Processes below a process, parents first; launchers may put them into sessions of their own."""
    found: list[int] = []
    pending = [pid]
    while pending:
        current = pending.pop(0)
        listing = Path(f"/proc/{current}/task/{current}/children")
        try:
            children = [int(child) for child in listing.read_text().split()]
        except OSError:
            children = []
        found += children
        pending += children
    return found
