"""A parsed suite file: values, their positions, and changes from the command line."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from strider.engine import Json
from strider.suite.mistakes import Mistakes, Place, SuiteError
from strider.suite.positions import Path, Positions, positions
from strider.text_file import read_text
from strider.units import MOST_DIGITS

MOST_TABLES, MOST_KEYS, MOST_VALUES = 1_000, 10_000, 50_000
"""In one file. Checked before anything is parsed, as parsing takes a second for some 10 000 of either."""
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_AT_LINE = re.compile(r"(?P<message>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)", re.DOTALL)
_BARE_SIZE = re.compile(r"""(?P<before>.*?[=\[,]\s*)(?P<value>[0-9][0-9_.]*\s?[A-Za-z%]+)""")


@dataclass
class Document:
    """The content of a suite file.

    Attributes:
        name: The file as the user named it.
        text: The text as typed.
        data: The values.
        lines: Where they stand.
        changed: Values given on the command line instead, with the option that gave them.
    """

    name: str
    text: str
    data: dict[str, Json]
    lines: Positions
    changed: dict[Path, str] = field(default_factory=dict)

    def cases(self) -> list[tuple[int, dict[str, Json]]]:
        """The `[[case]]` tables with their indices."""
        cases = self.data.get("case")
        listed = enumerate(cases) if isinstance(cases, list) else ()
        return [(index, table) for index, table in listed if isinstance(table, dict)]

    def key(self, path: Path) -> Place:
        """Where a key stands."""
        return self._changed_at(path) or self._at(self.lines.key_line(path))

    def value(self, path: Path) -> Place:
        """Where a value stands."""
        return self._changed_at(path) or self._at(self.lines.value_line(path))

    def _at(self, line: int) -> Place:
        return Place(line, f"{self.name}:{line}")

    def _changed_at(self, path: Path) -> Place | None:
        options = (self.changed[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.changed)
        option = next(options, None)
        return Place(0, option) if option else None


def read(file: FilePath) -> Document:
    """Reads a suite file.

    Raises:
        SuiteError: It is not TOML; the message names the line.
        StriderError: It cannot be read.
    """
    return parse(read_text(file), str(file))


def parse(text: str, name: str) -> Document:
    """Reads a suite from its text; `name` is what messages call the file.

    Raises:
        SuiteError: It is not TOML.
    """
    check_amount(text, name)
    try:
        lines = positions(text)
        _refuse_long_numbers(lines, name)
        return Document(name, text, tomllib.loads(text), lines)
    except RecursionError:
        mistakes = Mistakes()
        mistakes.add(Place(1, f"{name}:1"), "lists or tables are nested too deeply: use at most three levels")
        raise mistakes.error() from None
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(text, name, lines, str(error)) from error


def check_amount(text: str, name: str) -> None:
    """Rejects a file with too many tables, keys or values.

    Raises:
        SuiteError: It has more; counted by the signs that separate them, which cost nothing to find.
    """
    counts = (
        (len(_TABLE.findall(text)), MOST_TABLES, "tables"),
        (text.count("="), MOST_KEYS, "keys"),
        (text.count(","), MOST_VALUES, "values in lists"),
    )
    mistakes = Mistakes()
    for count, most, what in counts:
        if count > most:
            message = f"about {count} {what} exceed the limit of {most}: split the suite"
            mistakes.add(Place(1, f"{name}:1"), message)
    mistakes.raise_if_any()


def _refuse_long_numbers(lines: Positions, name: str) -> None:
    """Before they are converted, which takes long for many digits, and fails for more."""
    mistakes = Mistakes()
    for line in lines.long_numbers:
        mistakes.add(Place(line, f"{name}:{line}"), f"numbers are limited to {MOST_DIGITS} digits")
    mistakes.raise_if_any()


def _syntax_error(text: str, name: str, lines: Positions, message: str) -> SuiteError:
    """Returns the error for invalid TOML, with a remedy if possible."""
    mistakes = Mistakes()
    for path, line in lines.duplicates:
        first = lines.key_line(path)
        mistakes.add(
            Place(line, f"{name}:{line}"), f'"{path[-1]}" is defined twice (first in line {first}): keep one'
        )
    if not mistakes.found:
        match = _AT_LINE.fullmatch(message)
        last = max(1, len(text.rstrip().splitlines()))
        line = min(last, int(match["line"])) if match and match["line"] else last
        problem = match["message"] if match else message
        remedy = _remedy(text.splitlines()[line - 1] if text.strip() else "")
        mistakes.add(Place(line, f"{name}:{line}"), f"not TOML: {problem[:1].lower()}{problem[1:]}{remedy}")
    return mistakes.error()


def _remedy(line: str) -> str:
    """Returns a remedy if the line shows one."""
    bare = _BARE_SIZE.match(line)
    if bare:
        return f': write "{bare["value"]}" in quotes'
    if re.fullmatch(r"\s*[\w.]+\s*=\s*(#.*)?", line):
        return ": a value is missing after ="
    if re.fullmatch(r"\s*[\w.]+\s*=\s*[A-Za-z][\w-]*\s*(#.*)?", line):
        return ": write texts in quotes"
    return ""
