"""What a launcher is."""

import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from strider.errors import ExitCode, StriderError


@dataclass(frozen=True)
class Launcher:
    """A way to start N ranks.

    Attributes:
        name: Its name.
        command: From a number of ranks to the words that stand before the program.
        environment: Variables that it needs besides those of the user.
        interrupt: The signal to itself that makes it interrupt its ranks.
        reach: Where it starts ranks: on this host for certain, or perhaps on others too.
        starts_ranks: Whether the ranks of this host are processes below its own, or a daemon's.
    """

    name: str
    command: Callable[[int], list[str]]
    environment: Mapping[str, str] = field(default_factory=dict)
    interrupt: signal.Signals = signal.SIGINT
    reach: Literal["this host", "perhaps others"] = "perhaps others"
    starts_ranks: Literal["below itself", "by a daemon"] = "below itself"


def installed(program: str, remedy: str) -> str:
    """The path of a program.

    Args:
        program: Its name or path.
        remedy: What to do where it is missing.

    Raises:
        StriderError: It is not there.
    """
    path = shutil.which(program)
    if path is None:
        raise StriderError(f"cannot find {program}: {remedy}", ExitCode.CANNOT_RUN)
    return path
