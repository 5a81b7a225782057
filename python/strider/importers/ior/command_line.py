"""The command line of IOR."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from strider.errors import StriderError
from strider.importers.imported import Imported
from strider.importers.ior.options import BY_LETTER, BY_NAME, Option
from strider.importers.ior.script import read_script
from strider.importers.ior.settings import Settings, Surroundings, add_directives
from strider.importers.ior.suite import make
from strider.suite.mistakes import Mistakes, Place, unknown


def read_command(arguments: Sequence[str], surroundings: Surroundings) -> Imported:
    """Reads IOR's arguments, and the script that they name if they do.

    Raises:
        SuiteError: They are wrong, or ask for what Strider cannot do; each mistake has a line.
        StriderError: The script cannot be read.
    """
    reader = _Reader(arguments)
    reader.read()
    if reader.script is None:
        reader.mistakes.raise_if_any()
        return make([reader.settings], f"ior {shlex.join(arguments)}", surroundings)
    reader.mistakes.raise_if_any()
    try:
        text = Path(reader.script).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file in UTF-8"
        raise StriderError(f"-f {reader.script}: {reason}") from error
    return read_script(text, reader.script, surroundings, reader.settings)


class _Reader:
    """Goes through the arguments."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.settings = Settings()
        self.mistakes = Mistakes()
        self.script: str | None = None
        self._left = iter(arguments)

    def read(self) -> None:
        for argument in self._left:
            if self.script is not None:
                self._complain(
                    argument, "it comes after -f, where it would not hold for the script: put it before"
                )
                return
            if argument.startswith("--"):
                self._take_long(argument)
            elif argument.startswith("-") and len(argument) > 1:
                self._take_letters(argument)
            else:
                self._complain(
                    argument, "it is no option: give IOR's own options only, without mpiexec and ior"
                )

    def _take_long(self, argument: str) -> None:
        name, equals, value = argument.removeprefix("--").partition("=")
        option = BY_NAME.get(name.lower())
        if option is None:
            backend = name.partition(".")[0]
            if backend != name and backend not in ("posix", "mpiio"):
                self._complain(argument, f"the options of {backend} are not supported")
            else:
                self._complain(
                    argument, unknown("option", name, (n for o in BY_NAME.values() for n in o.names))
                )
        elif option.kind == "flag" and not equals:
            self.settings.add_flag(option, Place(0, argument))
        else:
            self._take_value(option, f"--{name}", value if equals else None)

    def _take_letters(self, argument: str) -> None:
        """Takes flags, as in `-wrF`, the last of which may have a value, as in `-wrt1m` and `-t=1m`."""
        for position, letter in enumerate(argument[1:], start=1):
            rest = argument[position + 1 :].removeprefix("=")
            if letter in "fO":
                self._take_text(letter, rest or None)
                return
            option = BY_LETTER.get(letter)
            if option is None:
                self._complain(argument, f"IOR has no option -{letter}")
                return
            if option.kind != "flag":
                self._take_value(option, f"-{letter}", rest or None)
                return
            self.settings.add_flag(option, Place(0, f"-{letter}"))

    def _take_text(self, letter: str, value: str | None) -> None:
        """Takes a script, or directives."""
        text = value or next(self._left, None)
        if text is None:
            self._complain(f"-{letter}", "a value is missing")
        elif letter == "f":
            self.script = text
        else:
            add_directives(self.settings, text, 0, "-O ", self.mistakes)

    def _take_value(self, option: Option, typed: str, value: str | None) -> None:
        text = value if value is not None else next(self._left, None)
        if text is None:
            self._complain(typed, "a value is missing")
            return
        place = Place(0, f"{typed} {text}")
        try:
            self.settings.add(option, text, place)
        except ValueError as error:
            self.mistakes.add(place, str(error))

    def _complain(self, argument: str, message: str) -> None:
        self.mistakes.add(Place(0, argument), message)
