"""Files with command lines of mdtest, such as job scripts."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from strider.importers.imported import Imported
from strider.importers.mdtest.command_line import read_settings
from strider.importers.mdtest.suite import make
from strider.importers.mdtest.workload import Workload
from strider.importers.options import Surroundings
from strider.suite.mistakes import Mistakes, Place

_COMMAND = re.compile(r"(?:^|[\s/])mdtest(?=\s+-)")
_END = re.compile(r"(?:(?<=\s)[0-9]*>|[<>|;&]|\s#)")
"""Where the shell sees the end of a command, or the beginning of a comment."""
_TASKS = re.compile(r"(?:^|\s)(?:-n|-np|--np|--ntasks)[\s=]*([0-9]+)(?=\s)")
"""Options of launchers for the number of tasks."""


def recognises(text: str) -> bool:
    """Whether a text seems to have command lines of mdtest."""
    return any(True for _ in _commands(text))


def read_script(text: str, name: str, surroundings: Surroundings | None = None) -> Imported:
    """Reads a file with command lines of mdtest, each of them a test.

    Args:
        text: Its text.
        name: What messages call the file.
        surroundings: What mdtest learns from MPI where the launcher's options do not say it.

    Raises:
        SuiteError: A command line has mistakes, or asks for what Strider cannot do; the message has a line
            for each.
    """
    mistakes = Mistakes()
    workloads = []
    for number, launcher, arguments in _commands(text):
        where = f"{name}:{number}"
        found = _TASKS.search(launcher)
        around = surroundings or Surroundings()
        around = replace(around, tasks=int(found[1])) if found else around
        settings = read_settings(_words(arguments, where, number, mistakes), mistakes, number, f"{where}: ")
        workloads.append(Workload(settings, around))
    mistakes.raise_if_any()
    return make(workloads, name)


def _commands(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, what stands before `mdtest`, and its arguments, for each command line."""
    joined = re.sub(r"\\\n", "  ", text)
    for found in _COMMAND.finditer(joined):
        word = found.end() - len("mdtest")
        line, _, _ = joined[found.end() :].partition("\n")
        before = joined[joined.rfind("\n", 0, word) + 1 : word]
        if not before.lstrip().startswith("#"):
            number = text.count("\n", 0, word) + 1
            yield number, f"{before} ", _END.split(line, maxsplit=1)[0]


def _words(arguments: str, where: str, line: int, mistakes: Mistakes) -> Sequence[str]:
    try:
        return shlex.split(arguments)
    except ValueError as error:
        mistakes.add(Place(line, where), f"{error}: write the command on one line, and close its quotes")
        return []
