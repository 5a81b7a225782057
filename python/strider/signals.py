"""Signals that end a command: one exit code, from the first instruction of Python to the last.

A command goes through three stages. Before its work a signal ends the process at once (`exit_at_once`).
During its work a signal raises KeyboardInterrupt (`Raising`). Once its exit code is decided a signal ends the
process at once with that code. A signal that was ignored when the process started, as with nohup, stays
ignored.
"""

import atexit
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from strider.errors import ExitCode

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a command to end."""

Handler = Callable[[int, FrameType | None], object]


def heeded() -> list[signal.Signals]:
    """The signals of `ENDING` that are not ignored."""
    return [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]


def install(handler: Handler) -> None:
    """Makes a function the handler of all signals of `ENDING` that are not ignored."""
    for number in heeded():
        signal.signal(number, handler)


def unblock() -> None:
    """Lets signals through that `./strider` blocks while the interpreter starts."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def exit_at_once(code: ExitCode | int, message: str = "") -> None:
    """From now on a signal ends the process with an exit code, without unwinding.

    Args:
        code: The exit code.
        message: A line for the error stream; none if empty.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        if message:
            os.write(2, f"{message}\n".encode())
        os._exit(int(code))

    install(end)


class Raising:
    """A signal handler that raises KeyboardInterrupt, and remembers that it did.

    Imports of C libraries turn the exception into one of their own, and finalizers drop it.

    Attributes:
        received: The signals, in the order of their arrival.
    """

    def __init__(self) -> None:
        """Has received none."""
        self.received: list[signal.Signals] = []

    def __call__(self, number: int, _: FrameType | None) -> None:
        """Handles a signal.

        Raises:
            KeyboardInterrupt: Always.
        """
        self.received.append(signal.Signals(number))
        raise KeyboardInterrupt


class LastOfAll:
    """Ends the process with an exit code after all that others do at its exit.

    The interpreter notes a KeyboardInterrupt that passes through code run from a string, such as that of a
    dataclass, and ends by SIGINT at last, although the exception was handled.

    Attributes:
        code: The exit code; None where the interpreter ends by itself.
    """

    def __init__(self) -> None:
        """Comes before all others, since what is registered first is called last."""
        self.code: int | None = None
        atexit.register(self)

    def __call__(self) -> None:
        """Flushes what was printed, and ends the process if there is a code."""
        if self.code is None:
            return
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(self.code)


def received_so_far() -> list[signal.Signals]:
    """What the `Raising` in force has received; nothing where another handler is."""
    for number in ENDING:
        handler = signal.getsignal(number)
        if isinstance(handler, Raising):
            return list(handler.received)
    return []
