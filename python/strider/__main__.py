"""`python -m strider`, and the command `strider`."""

import gc
import os
import sys

from strider import signals
from strider.errors import ExitCode

_INTERRUPTED = "strider: interrupted"
_NEW_OBJECTS = 100_000
"""New objects after which Python looks for cycles of objects. Strider makes millions, and few cycles."""


def start() -> int:
    """Runs the command line of this process.

    Returns:
        The exit code. Signals can no longer change it.
    """
    _open_closed_streams()
    signals.exit_at_once(ExitCode.CANNOT_RUN, _INTERRUPTED)
    signals.unblock()
    last = signals.LastOfAll()
    # numpy's thread pool would reserve gigabytes of address space, and Strider only sums a few thousand
    # numbers.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_NEW_OBJECTS)
    from strider.cli import main

    raising = signals.Raising(main.__code__, ExitCode.CANNOT_RUN, _INTERRUPTED)
    try:
        signals.install(raising)
        code = main()
        _flush()
    except KeyboardInterrupt:
        code = _interrupted()
    except Exception:
        if not raising.received:
            raise
        # For example an interrupted import: its exception does not help the user.
        code = _interrupted()
    signals.exit_at_once(code)
    if raising.received:
        last.code = int(code)
    return code


def _open_closed_streams() -> None:
    """Opens streams that the caller has closed (`>&-`), so that no file gets the number of a stream."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened == number:
                os.set_inheritable(number, True)
            else:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, mode))


def _interrupted() -> int:
    signals.exit_at_once(ExitCode.CANNOT_RUN)
    print(_INTERRUPTED, file=sys.stderr)
    return int(ExitCode.CANNOT_RUN)


def _flush() -> None:
    """Flushes the standard streams; discards buffered output if the pipe is closed."""
    from strider.console import discard_output

    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()


if __name__ == "__main__":
    sys.exit(start())
