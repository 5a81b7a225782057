"""The launcher type."""

import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from strider.errors import ExitCode, StriderError
from strider.launch.launchers.hosts import Binding, Places, RankMapping

MOST_WORD_BYTES = (1 << 17) - 1
"""Largest argument that Linux passes to a program in bytes (MAX_ARG_STRLEN)."""


@dataclass(frozen=True)
class Launcher:
    """Starts N ranks.

    Attributes:
        name: Its name.
        words: Returns the command prefix for the ranks of a start.
        environment: Additional environment variables.
        interrupt: The signal that makes it interrupt its ranks.
        reach: Where it starts ranks: on this host only, or possibly on others.
        starts_ranks: Whether the ranks of this host are its child processes, or a daemon's.
        places: Where the ranks may be.
        is_srun: Whether it is Slurm's `srun`.
    """

    name: str
    words: Callable[[RankMapping], list[str]]
    environment: Mapping[str, str] = field(default_factory=dict)
    interrupt: signal.Signals = signal.SIGINT
    reach: Literal["this host", "perhaps others"] = "perhaps others"
    starts_ranks: Literal["below itself", "by a daemon"] = "below itself"
    places: Places = field(default_factory=Places)
    is_srun: bool = False

    def command(self, ranks: int) -> list[str]:
        """Returns the command prefix for a number of ranks.

        Raises:
            StriderError: The ranks do not fit into the places, or the launcher cannot express them.
        """
        words = self.words(self.places.mapping(ranks))
        longest = max(len(word.encode()) for word in words)
        if longest > MOST_WORD_BYTES:
            raise StriderError(
                f"the list of hosts has {longest} bytes, and Linux passes at most {MOST_WORD_BYTES} to "
                f"{self.name}: start inside an allocation, which names the hosts to the launcher"
            )
        return words


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


def require_even(mapping: RankMapping, launcher: str) -> None:
    """Refuses different numbers of ranks on hosts, for launchers whose options have one number.

    Raises:
        StriderError: They differ.
    """
    if not mapping.is_even:
        raise StriderError(
            f"{launcher} starts as many ranks on each host, but the hosts have {_few(mapping.counts)}: give "
            "all the same slots, or --per-node"
        )


def binding_words(mapping: RankMapping, launcher: str, words: Mapping[Binding, list[str]]) -> list[str]:
    """Returns the words for the binding of ranks; none where no binding is given.

    Args:
        mapping: The ranks.
        launcher: Its name, for messages.
        words: Its words for each binding that it has.

    Raises:
        StriderError: The launcher has no such binding.
    """
    if not mapping.bind:
        return []
    if mapping.bind not in words:
        known = " or ".join(words) or "none of them"
        raise StriderError(f"{launcher} cannot bind ranks to {mapping.bind}: it takes --bind {known}")
    return words[mapping.bind]


def require_no_colon(mapping: RankMapping, launcher: str) -> None:
    """Refuses IPv6 addresses, for launchers whose lists have a colon before the number of ranks.

    Raises:
        StriderError: There is one.
    """
    for name in mapping.names:
        if ":" in name:
            raise StriderError(
                f"{launcher} takes no IPv6 address in a list of hosts: {name}: write its host name"
            )


def _few(counts: list[int]) -> str:
    shown = ", ".join(str(count) for count in counts[:8])
    return f"{shown}, …" if len(counts) > len(counts[:8]) else shown
