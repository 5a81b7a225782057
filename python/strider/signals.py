"""Termination signals: a defined exit code at any time, from start-up to exit.

A command has three stages. Before its work a signal ends the process at once (`exit_at_once`). During its
work a signal raises KeyboardInterrupt (`Raising`). Once its exit code is decided a signal ends the process at
once with that code. A signal that was ignored when the process started, as with nohup, stays ignored.
"""

import atexit
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import CodeType, FrameType

from strider.errors import ExitCode

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Termination signals."""

Handler = Callable[[int, FrameType | None], object]


def handled() -> list[signal.Signals]:
    """Returns the signals of `ENDING` that are not ignored."""
    return [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]


def install(handler: Handler) -> None:
    """Installs a handler for all signals of `ENDING` that are not ignored."""
    for number in handled():
        signal.signal(number, handler)


def unblock() -> None:
    """Unblocks the signals that `./strider` blocks while the interpreter starts."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def exit_at_once(code: ExitCode | int, message: str = "") -> None:
    """Makes signals end the process with an exit code, without unwinding.

    Args:
        code: The exit code.
        message: A line for stderr; empty for none.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        if message:
            os.write(2, f"{message}\n".encode())
        os._exit(int(code))

    install(end)


class Raising:
    """A signal handler that raises KeyboardInterrupt and records the signal.

    C extension imports may replace the exception, and finalizers drop it.

    Args:
        within: Code of the function whose caller catches the exception. While the function is not running, as
            before its call and in the caller's handlers, a signal ends the process at once.
        code: The exit code then.
        message: A line for stderr then.

    Attributes:
        received: The signals received, in order.
    """

    def __init__(self, within: CodeType, code: ExitCode, message: str) -> None:
        self.received: list[signal.Signals] = []
        self._within, self._code, self._message = within, code, message

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handles a signal.

        Raises:
            KeyboardInterrupt: The function is running.
        """
        self.received.append(signal.Signals(number))
        while frame is not None and frame.f_code is not self._within:
            frame = frame.f_back
        if frame is None:
            os.write(2, f"{self._message}\n".encode())
            os._exit(int(self._code))
        raise KeyboardInterrupt


class LastOfAll:
    """Ends the process with an exit code after all other exit handlers.

    If a KeyboardInterrupt passes through code compiled from a string, such as a dataclass method, the
    interpreter exits by SIGINT although the exception was handled.

    Attributes:
        code: The exit code; None to leave the exit code to the interpreter.
    """

    def __init__(self) -> None:
        """Registers itself before all others, because handlers run in reverse order."""
        self.code: int | None = None
        atexit.register(self)

    def __call__(self) -> None:
        """Flushes the standard streams, and ends the process if a code is set."""
        if self.code is None:
            return
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(self.code)


def received_so_far() -> list[signal.Signals]:
    """Returns the signals received by the installed `Raising`; empty with another handler."""
    for number in ENDING:
        handler = signal.getsignal(number)
        if isinstance(handler, Raising):
            return list(handler.received)
    return []
