"""The command line of IOR."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from strider.errors import StriderError
from strider.importers.arguments import ArgumentReader
from strider.importers.imported import Imported
from strider.importers.ior.directives import add_directives
from strider.importers.ior.options import BY_LETTER, BY_NAME
from strider.importers.ior.script import read_script
from strider.importers.ior.suite import make
from strider.importers.options import Settings, Surroundings
from strider.suite.mistakes import Mistakes
from strider.text_file import read_text


def read_command(arguments: Sequence[str], surroundings: Surroundings) -> Imported:
    """Reads IOR's arguments, and the script that they name if they do.

    Raises:
        SuiteError: They are wrong, or ask for what Strider cannot do; each mistake has a line.
        StriderError: The script cannot be read.
    """
    reader = _Reader()
    reader.read(arguments)
    if reader.script is None:
        reader.mistakes.raise_if_any()
        return make([reader.settings], f"ior {shlex.join(arguments)}", surroundings)
    reader.mistakes.raise_if_any()
    try:
        text = read_text(Path(reader.script))
    except StriderError as error:
        raise StriderError(f"-f {error.message}") from error
    return read_script(text, reader.script, surroundings, reader.settings)


class _Reader(ArgumentReader):
    """Reads IOR's arguments; `-f` names a script, which ends them, and `-O` gives directives."""

    def __init__(self) -> None:
        super().__init__(Settings("IOR"), BY_LETTER, BY_NAME, Mistakes())
        self.script: str | None = None

    def take(self, argument: str) -> None:
        if self.script is None:
            super().take(argument)
        else:
            self.complain(argument, "options after -f do not apply to the script: put this one before -f")

    def take_long(self, argument: str) -> None:
        name = argument.removeprefix("--").partition("=")[0]
        backend = name.partition(".")[0]
        if name.lower() not in BY_NAME and backend not in (name, "posix", "mpiio"):
            self.complain(argument, f"the options of {backend} are not supported")
        else:
            super().take_long(argument)

    def take_special(self, letter: str, rest: str) -> bool:
        if letter not in "fO":
            return False
        text = rest or self.next()
        if text is None:
            self.complain(f"-{letter}", "a value is missing")
        elif letter == "f":
            self.script = text
        else:
            add_directives(self.settings, text, 0, "-O ", self.mistakes)
        return True
