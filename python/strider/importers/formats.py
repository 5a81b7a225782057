"""Files of other benchmarks, distinguished by their text."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from strider.errors import StriderError
from strider.importers import ior, mdtest, piobench
from strider.importers.imported import Imported


@dataclass(frozen=True)
class FileFormat:
    """A kind of input file.

    Attributes:
        name: Its name.
        recognises: Whether a text seems to be of this kind.
        read: Reads a text, given the name of the file and the number of clients.
    """

    name: str
    recognises: Callable[[str], bool]
    read: Callable[[str, str, int], Imported]


def _piobench_configuration(text: str, name: str, clients: int) -> Imported:
    return piobench.read(text, name, [clients])


def _ior_script(text: str, name: str, clients: int) -> Imported:
    return ior.read_script(text, name, ior.Surroundings(clients, environment=os.environ))


def _mdtest_commands(text: str, name: str, clients: int) -> Imported:
    return mdtest.read_script(text, name, mdtest.Surroundings(clients, environment=os.environ))


FORMATS = (
    FileFormat("a configuration of PIObench", piobench.recognises, _piobench_configuration),
    FileFormat("a script of IOR", ior.recognises, _ior_script),
    FileFormat("command lines of mdtest", mdtest.recognises, _mdtest_commands),
)


def read(text: str, name: str, clients: int) -> Imported:
    """Reads an input file of another benchmark.

    Args:
        text: Its text.
        name: What messages call the file.
        clients: Number of clients, where the file does not say it.

    Raises:
        StriderError: It is of no known kind, or has mistakes.
    """
    for form in FORMATS:
        if form.recognises(text):
            return form.read(text, name, clients)
    known = ", ".join(form.name for form in FORMATS)
    signs = "no ModuleName, no line IOR START, and no line with mdtest and its options"
    raise StriderError(f"{name}: unknown format: it has {signs}: supported are {known}")
