"""Errors that end a command: a message for the user and an exit code.

Any module of the package may raise them; `strider.cli.main` catches them.
"""

import resource
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every command."""

    OK = 0
    """Success; the results are valid."""
    CHECK_FAILED = 1
    """Measured, but a check failed: wrong data, an error in a case, an interrupted run."""
    BAD_INPUT = 2
    """Invalid suite, option or name; nothing was done."""
    CANNOT_RUN = 3
    """The input is valid, but this machine cannot run it: no engine, no space, no permission."""


DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""Exceptions of code that works on values of a damaged document, which nothing has checked before."""


class StriderError(Exception):
    """An error that the user can resolve.

    Args:
        message: The error and its remedy; one line for each mistake.
        exit_code: The exit code of the command.
    """

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.BAD_INPUT) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


class DamagedRunError(StriderError):
    """A file of a run directory is invalid; the message names file, place and field."""


def in_words(error: BaseException) -> str:
    """Formats an exception in one line, with the address space limit if one is set."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # numpy prints the error below a page of advice.
    kept = [line for line in lines if line.startswith("Original error")] or lines
    text = kept[0] if kept else type(error).__name__
    if isinstance(error, MemoryError):
        return f"out of memory{_address_limit()}"
    if isinstance(error, ImportError):
        return f"cannot load a library: {text}{_address_limit()}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {text}{_address_limit()}"


def _address_limit() -> str:
    """Returns the limit of `ulimit -v` as the end of a message; empty without a limit."""
    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit_bytes == resource.RLIM_INFINITY:
        return ""
    return f" (ulimit -v allows {limit_bytes >> 20} MiB of address space)"
