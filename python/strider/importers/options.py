"""Options of another benchmark: what becomes of each, and those that were given.

An option is understood (the importer reads it), understood with a difference that is reported (`note`), or
refused because it would change the measurement (`refusal`). None is passed over in silence.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from strider.engine import Json
from strider.suite.mistakes import Mistakes, Place

Kind = Literal["flag", "number", "size", "text"]
_SIZE = re.compile(r"(?P<number>-?[0-9]+)\s*(?P<unit>[kmgtp]?)(i?b)?", re.IGNORECASE)
_UNITS = "kmgtp"


@dataclass(frozen=True)
class Option:
    """An option.

    Attributes:
        name: Its name in messages, and in the other benchmark's own terms.
        letter: The letter on the command line; empty if it has none.
        kind: What its value is. A flag may be repeated, which counts.
        aliases: Other names, without `--`.
        note: What differs from the other benchmark where it is used.
        refusal: Why it cannot be used.
        unused: Values that ask for nothing, beside 0 and the empty text.
    """

    name: str
    letter: str = ""
    kind: Kind = "flag"
    aliases: tuple[str, ...] = ()
    note: str = ""
    refusal: str = ""
    unused: tuple[Json, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names but the letter."""
        return (self.name, *self.aliases)


@dataclass(frozen=True)
class Surroundings:
    """Facts that the other benchmark gets from MPI and from its environment.

    Attributes:
        tasks: Number of tasks.
        tasks_per_node: How many of them are on each node, consecutive ones; None where not given.
        environment: Environment variables.
        keeps_files: Whether tests use files under the other benchmark's names; not in a suite to be written.
    """

    tasks: int = 1
    tasks_per_node: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    keeps_files: bool = False


@dataclass(frozen=True)
class Given:
    """A value that was given.

    Attributes:
        option: The option.
        value: Its value; for a flag, how often it was given, or the value in the script.
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
    """Options of one test; a later value replaces an earlier one.

    Attributes:
        program: The other benchmark.
        by_name: Values by the options' names.
        line: Line of the script where the test is started; 0 on a command line.
    """

    program: str
    by_name: dict[str, Given] = field(default_factory=dict)
    line: int = 0

    def copy(self, line: int) -> "Settings":
        """The same values for a test that is started in some line."""
        return Settings(self.program, dict(self.by_name), line)

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
        return given.place if given else Place(self.line, f"the defaults of {self.program}")

    def notes(self) -> list[str]:
        """What differs from the other benchmark, of the options that are used."""
        used = [given for given in self.by_name.values() if given.used and given.option.note]
        return [f"{given.place.text}: {given.option.note}" for given in used]

    def refuse(self, mistakes: Mistakes) -> None:
        """Notes the options that are used and cannot be."""
        for given in self.by_name.values():
            if given.used and given.option.refusal:
                mistakes.add(given.place, f"{given.option.name} is not supported: {given.option.refusal}")


@dataclass(frozen=True)
class TypedOptions:
    """Options of a test as typed values.

    Attributes:
        settings: The options.
        surroundings: What the other benchmark learns from MPI.
    """

    settings: Settings
    surroundings: Surroundings

    def flag(self, name: str) -> bool:
        """Whether a flag is set."""
        return self.settings.number(name) > 0

    def place(self, *names: str) -> str:
        """Where the first of some options was given that was, for notes."""
        return self.settings.place(*names).text


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
    """A size as IOR and mdtest read it: `8`, `4k`, `2m`, `1g`, always powers of two.

    Raises:
        ValueError: It is none.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'"{text}" is not a size: write for instance 8, 4k, 2m or 1g')
    unit = match["unit"].lower()
    return int(match["number"]) << (10 * (_UNITS.index(unit) + 1) if unit else 0)
