"""The launcher type."""

import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from strider.errors import ExitCode, StriderError


@dataclass(frozen=True)
class Launcher:
    """Starts N ranks.

    Attributes:
        name: Its name.
        command: Returns the command prefix for a number of ranks.
        environment: Additional environment variables.
        interrupt: The signal that makes it interrupt its ranks.
        reach: Where it starts ranks: on this host only, or possibly on others.
        starts_ranks: Whether the ranks of this host are its child processes, or a daemon's.
    """

    name: str
    command: Callable[[int], list[str]]
    environment: Mapping[str, str] = field(default_factory=dict)
    interrupt: signal.Signals = signal.SIGINT
    reach: Literal["this host", "perhaps others"] = "perhaps others"
    starts_ranks: Literal["below itself", "by a daemon"] = "below itself"


def installed(program: str, remedy: str) -> str:
    """Returns the path of a program.

    Args:
        program: Its name or path.
        remedy: What to do if it is missing.

    Raises:
        StriderError: It is not found.
    """
    path = shutil.which(program)
    if path is None:
        raise StriderError(f"cannot find {program}: {remedy}", ExitCode.CANNOT_RUN)
    return path
