"""The options of one test of IOR, with their values and where each was given."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from strider.engine import Json
from strider.importers.ior.options import BY_NAME, OPTIONS, Option
from strider.suite.mistakes import Mistakes, Place, unknown

_SIZE = re.compile(r"(?P<number>-?[0-9]+)\s*(?P<unit>[kmgtp]?)(i?b)?", re.IGNORECASE)
_UNITS = "kmgtp"


@dataclass(frozen=True)
class Surroundings:
    """What IOR learns from MPI and from its environment.

    Attributes:
        tasks: Number of tasks.
        tasks_per_node: How many of them are on each node, consecutive ones; None where nobody said.
        environment: Environment variables.
    """

    tasks: int = 1
    tasks_per_node: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Given:
    """A value that was given.

    Attributes:
        option: The option.
        value: Its value; for a flag, how often it was given, or what the script says.
        place: Where.
    """

    option: Option
    value: Json
    place: Place

    @property
    def used(self) -> bool:
        """Whether it asks for anything."""
        return self.value not in (0, "", *self.option.unused)


@dataclass
class Settings:
    """What was given for one test; a later value replaces an earlier one.

    Attributes:
        by_name: Values by the options' names.
        line: Line of the script where the test is started; 0 on a command line.
    """

    by_name: dict[str, Given] = field(default_factory=dict)
    line: int = 0

    def copy(self, line: int) -> "Settings":
        """The same values for a test that is started in some line."""
        return Settings(dict(self.by_name), line)

    def add_flag(self, option: Option, place: Place) -> None:
        """Notes a flag of the command line; once more if it was given before."""
        before = self.by_name.get(option.name)
        self.by_name[option.name] = Given(option, (before.value if before else 0) + 1, place)

    def add(self, option: Option, text: str, place: Place) -> None:
        """Notes a value.

        Raises:
            ValueError: The value is wrong; the message says what would be right.
        """
        self.by_name[option.name] = Given(option, _convert(option, text), place)

    def number(self, name: str, default: int = 0) -> int:
        """Value of an option that is a number, a size or a flag."""
        given = self.by_name.get(name)
        return int(given.value) if given else default

    def text(self, name: str, default: str = "") -> str:
        """Value of an option that is a text."""
        given = self.by_name.get(name)
        return str(given.value) if given else default

    def place(self, *names: str) -> Place:
        """Where the first of some options was given that was; the test itself where none was."""
        given = next((self.by_name[name] for name in names if name in self.by_name), None)
        return given.place if given else Place(self.line, "the defaults of IOR")

    def notes(self) -> list[str]:
        """What differs from IOR, of the options that are used."""
        used = [given for given in self.by_name.values() if given.used and given.option.note]
        return [f"{given.place.text}: {given.option.note}" for given in used]

    def refuse(self, mistakes: Mistakes) -> None:
        """Notes the options that are used and cannot be."""
        for given in self.by_name.values():
            if given.used and given.option.refusal:
                mistakes.add(given.place, f"{given.option.name} is not supported: {given.option.refusal}")


def add_directives(settings: Settings, text: str, line: int, where: str, mistakes: Mistakes) -> None:
    """Adds directives such as `transferSize=4k, blockSize=1m` from a script or from `-O`.

    Args:
        settings: Where they are added.
        text: The directives, separated by commas.
        line: Line of the script; 0 on a command line.
        where: What comes before a directive in messages: `-O `, or the script's line.
        mistakes: Where wrong ones are noted.
    """
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        option = BY_NAME.get(name.removeprefix("--").lower())
        place = Place(line, f"{where}{name}={value}" if line == 0 else where)
        if not equals or not name or not value:
            mistakes.add(place, f'"{part.strip()}" is not a directive: write for instance transferSize=1m')
        elif option is None:
            mistakes.add(place, unknown("directive", name, (o.name for o in OPTIONS)))
        else:
            try:
                settings.add(option, value, place)
            except ValueError as error:
                mistakes.add(place, f"{name}: {error}")


def _convert(option: Option, text: str) -> Json:
    match option.kind:
        case "text":
            return text
        case "size":
            return parse_size(text)
        case "flag" | "number":
            if not re.fullmatch(r"-?[0-9]+", text):
                example = "0 or 1" if option.kind == "flag" else "a whole number"
                raise ValueError(f'"{text}" is not a number: write {example}')
            return int(text)


def parse_size(text: str) -> int:
    """Bytes of a size as IOR reads it: `8`, `4k`, `2m`, `1g`, always powers of two.

    Raises:
        ValueError: It is none.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'"{text}" is not a size: write for instance 8, 4k, 2m or 1g')
    unit = match["unit"].lower()
    return int(match["number"]) << (10 * (_UNITS.index(unit) + 1) if unit else 0)
