"""Starts the engine in its own session, interrupts it, and kills it if necessary."""

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
from strider.processes import descendants
from strider.text_file import open_unfollowed

_PR_SET_PDEATHSIG = 1
"""From <linux/prctl.h>."""


@dataclass(frozen=True)
class EngineProcess:
    """The launcher's process with all ranks of this machine as descendants.

    Attributes:
        process: The process.
        launcher: The launcher.
        program: Name of the program of the ranks.
    """

    process: subprocess.Popen[bytes]
    launcher: Launcher
    program: str = ""

    @property
    def returncode(self) -> int | None:
        """Exit status of the launcher, or the negated signal that killed it; None before `kill`."""
        return self.process.returncode

    def running(self) -> bool:
        """Returns whether the launcher is running.

        An exited launcher is not reaped here, so that its pid and process group cannot be reused.
        """
        if self.process.returncode is not None:
            return False
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.process.pid, options) is None

    def interrupt(self) -> None:
        """Asks the ranks to end their phase, remove their files and stop."""
        if self.running():
            # Popen.send_signal would reap the process.
            os.kill(self.process.pid, self.launcher.interrupt)

    def kill(self) -> None:
        """Kills the launcher and all its descendants on this machine; reaps the launcher."""
        if self.process.returncode is not None:
            return
        for pid in reversed(descendants(self.process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def start(
    launcher: Launcher, ranks: int, program: list[str], log: Path, confined: Confinement | None = None
) -> EngineProcess:
    """Starts a program on a number of ranks, isolated from Ctrl-C in the terminal; logs its output.

    The launcher receives SIGTERM when this process dies, even by SIGKILL.

    Raises:
        StriderError: The launcher does not start.
    """
    confined = confined or Confinement()
    environment: Mapping[str, str] = {**os.environ, **launcher.environment, **confined.environment}
    try:
        with open_unfollowed(log, "wb") as output:
            process = subprocess.Popen(
                [*confined.around, *launcher.command(ranks), *program],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                pass_fds=confined.descriptors,
                preexec_fn=_leash(),  # safe: this process has a single thread
            )
    except OSError as error:
        raise StriderError(f"cannot start {launcher.name}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    return EngineProcess(process, launcher, Path(program[0]).name)


def _leash() -> Callable[[], None]:
    """Returns a preexec function: the child receives SIGTERM when this process dies."""
    import ctypes

    libc, parent = ctypes.CDLL(None), os.getpid()

    def tie() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        # If the parent died before the call, no signal is sent.
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    return tie


@dataclass
class Interruptions:
    """Termination signals received during the run, in order.

    Attributes:
        received: The signals received.
        on_next: Called on each signal with the number received so far; None for nothing.
        settled: Whether the exit code is final.
    """

    received: list[signal.Signals] = field(default_factory=list)
    on_next: Callable[[int], None] | None = None
    settled: bool = False

    def settle(self, code: int) -> None:
        """Sets the final exit code: a further signal ends the process with it immediately."""
        self.on_next = lambda _: os._exit(code)
        self.settled = True

    def note(self, number: int, _: FrameType | None) -> None:
        """The signal handler."""
        self.received.append(signal.Signals(number))
        if self.on_next:
            self.on_next(len(self.received))


@contextmanager
def interruptions() -> Iterator[Interruptions]:
    """Collects Ctrl-C, SIGTERM and SIGHUP instead of ending the process, unless they are ignored.

    Restores the handlers at the end, unless the exit code is final.

    Raises:
        KeyboardInterrupt: A signal was received earlier and its exception was lost.
    """
    if signals.received_so_far():
        raise KeyboardInterrupt
    noted = Interruptions()
    before = {number: signal.signal(number, noted.note) for number in signals.handled()}
    try:
        yield noted
    finally:
        for number, handler in before.items():
            if not (noted.settled and isinstance(handler, signals.Raising)):
                signal.signal(number, handler)
