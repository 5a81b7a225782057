"""Arguments as IOR and mdtest take them: `-wrF`, `-t1m`, `-t 1m`, `-t=1m`, `--name=value`."""

from collections.abc import Iterable, Iterator, Mapping

from strider.importers.options import Option, Settings
from strider.suite.mistakes import Mistakes, Place, unknown


class ArgumentReader:
    """Reads arguments one after the other.

    Args:
        settings: Where the values are noted.
        by_letter: The options that have a letter.
        by_name: The long options, by their names in small letters.
        line: Line of the file in which the arguments stand; 0 for those of the command itself.
        where: What comes before an argument in messages.
        mistakes: Where wrong arguments are noted.
    """

    def __init__(
        self,
        settings: Settings,
        by_letter: Mapping[str, Option],
        by_name: Mapping[str, Option],
        mistakes: Mistakes,
        line: int = 0,
        where: str = "",
    ) -> None:
        self.settings = settings
        self.mistakes = mistakes
        self._by_letter = by_letter
        self._by_name = by_name
        self._line = line
        self._where = where
        self._left: Iterator[str] = iter(())

    def read(self, arguments: Iterable[str]) -> None:
        """Reads all arguments."""
        self._left = iter(arguments)
        for argument in self._left:
            self.take(argument)

    def take(self, argument: str) -> None:
        """Takes an argument, and its value from those that follow."""
        if argument.startswith("--"):
            self.take_long(argument)
        elif argument.startswith("-") and len(argument) > 1:
            self.take_letters(argument)
        else:
            program = self.settings.program
            self.complain(
                argument,
                f"it is not an option: after --, give the options of {program} only, without "
                f"mpiexec and {program.lower()}",
            )

    def take_long(self, argument: str) -> None:
        """Takes `--name` or `--name=value`."""
        name, equals, value = argument.removeprefix("--").partition("=")
        option = self._by_name.get(name.lower())
        if option is None:
            names = (n for o in self._by_name.values() for n in o.names if n.lower() in self._by_name)
            self.complain(argument, unknown("option", name, names))
        elif option.kind == "flag" and not equals:
            self.settings.add_flag(option, self.place(argument))
        else:
            self.take_value(option, f"--{name}", value if equals else None)

    def take_letters(self, argument: str) -> None:
        """Takes flags, as in `-wrF`, the last of which may have a value, as in `-wrt1m` and `-t=1m`."""
        for position, letter in enumerate(argument[1:], start=1):
            rest = argument[position + 1 :].removeprefix("=")
            if self.take_special(letter, rest):
                return
            option = self._by_letter.get(letter)
            if option is None:
                self.complain(argument, f"{self.settings.program} has no option -{letter}")
                return
            if option.kind != "flag" or argument[position + 1 : position + 2] == "=":
                self.take_value(option, f"-{letter}", rest or None)
                return
            self.settings.add_flag(option, self.place(f"-{letter}"))

    def take_special(self, letter: str, rest: str) -> bool:
        """Takes a letter that is no option like the others, with what follows it; whether it was one."""
        return False

    def take_value(self, option: Option, typed: str, value: str | None) -> None:
        """Takes the value of an option, from the next argument where it is not given."""
        text = value if value is not None else self.next()
        if text is None:
            self.complain(typed, "a value is missing")
            return
        place = self.place(f"{typed} {text}")
        try:
            self.settings.add(option, text, place)
        except ValueError as error:
            self.mistakes.add(place, str(error))

    def next(self) -> str | None:
        """The next argument, or None."""
        return next(self._left, None)

    def place(self, typed: str) -> Place:
        """Where something was typed."""
        return Place(self._line, f"{self._where}{typed}")

    def complain(self, argument: str, message: str) -> None:
        """Notes the error of an argument."""
        self.mistakes.add(self.place(argument), message)
