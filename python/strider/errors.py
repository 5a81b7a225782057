"""Errors that end a command: one clear message for the user and an exit code.

They are raised anywhere in the package and caught once, in `strider.cli.main`.
"""

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
