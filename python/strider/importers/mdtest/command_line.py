"""The command line of mdtest."""

import re
import shlex
from collections.abc import Iterator, Sequence

from strider.importers.arguments import ArgumentReader
from strider.importers.imported import Imported
from strider.importers.mdtest.options import BY_LETTER, BY_NAME
from strider.importers.mdtest.suite import make
from strider.importers.mdtest.workload import Workload
from strider.importers.options import Settings, Surroundings
from strider.suite.mistakes import Mistakes

_SEEDED = re.compile(r"-R(?P<seed>[0-9]+)")


def read_command(arguments: Sequence[str], surroundings: Surroundings) -> Imported:
    """Reads mdtest's arguments.

    Raises:
        SuiteError: They are wrong, or ask for what Strider cannot do; each mistake has a line.
    """
    mistakes = Mistakes()
    settings = read_settings(arguments, mistakes)
    mistakes.raise_if_any()
    return make([Workload(settings, surroundings)], f"mdtest {shlex.join(arguments)}")


def read_settings(arguments: Sequence[str], mistakes: Mistakes, line: int = 0, where: str = "") -> Settings:
    """Reads mdtest's arguments.

    Args:
        arguments: The words after `mdtest`.
        mistakes: Where wrong ones are noted.
        line: Line of the file in which they stand; 0 for those of the command itself.
        where: What comes before an argument in messages.
    """
    settings = Settings("mdtest", line=line)
    ArgumentReader(settings, BY_LETTER, BY_NAME, mistakes, line, where).read(_modern(arguments))
    return settings


def _modern(arguments: Sequence[str]) -> Iterator[str]:
    """`-R5` of older versions as newer ones have it: `-R --random-seed=5`."""
    for argument in arguments:
        match = _SEEDED.fullmatch(argument)
        if match:
            yield from ("-R", f"--random-seed={match['seed']}")
        else:
            yield argument
