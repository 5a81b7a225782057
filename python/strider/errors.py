"""Errors that end a command: one clear message for the user and an exit code.

They are raised anywhere in the package and caught once, in `strider.cli.main`.
"""

import resource
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every command."""

    OK = 0
    """Done and valid."""
    CHECK_FAILED = 1
    """Measured, but some check failed: wrong data, an error in a case, a run that was cut short."""
    BAD_INPUT = 2
    """The suite, an option or a name is wrong; nothing was done."""
    CANNOT_RUN = 3
    """The input is right, but this machine cannot do it: no engine, no space, no permission."""


class StriderError(Exception):
    """An error that the user can act upon.

    Args:
        message: What is wrong and what would be right; several lines where there are several mistakes.
        exit_code: The exit code of the command that ends with it.
    """

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.BAD_INPUT) -> None:
        """Takes what the class describes."""
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


def in_words(error: BaseException) -> str:
    """An error of Python or a library in one line; with the limit of address space where there is one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # numpy says what has happened below a page of advice.
    told = [line for line in lines if line.startswith("Original error")] or lines
    text = told[0] if told else type(error).__name__
    if isinstance(error, MemoryError):
        return f"out of memory{_address_limit()}"
    if isinstance(error, ImportError):
        return f"a library cannot be loaded: {text}{_address_limit()}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {text}{_address_limit()}"


def _address_limit() -> str:
    """What `ulimit -v` allows, as the end of a message; empty where it sets no limit."""
    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit_bytes == resource.RLIM_INFINITY:
        return ""
    return f" (ulimit -v allows {limit_bytes >> 20} MiB of address space)"
