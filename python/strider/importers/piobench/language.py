"""The language of `pio-bench.conf`, which is Apache's: directives and sections in angle brackets."""

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from strider.suite.mistakes import Mistakes, Place, unknown

SECTIONS = ("ap_module", "AccessPattern", "Module")
"""Names of a module's section, any of which will do: where the language is described, its own is lost."""
MODULE_NAME = "ModuleName"

_SECTION = re.compile(r"<\s*(?P<end>/?)\s*(?P<name>[^\s<>/]*)\s*>")


@dataclass(frozen=True)
class Directive:
    """A name and its value.

    Attributes:
        name: As typed.
        value: Without quotes.
        line: Where it stands.
    """

    name: str
    value: str
    line: int

    @property
    def key(self) -> str:
        """The name for comparisons: upper and lower case are the same."""
        return self.name.lower()


@dataclass
class Module:
    """A module section.

    Attributes:
        line: Where it begins.
        tagged: Whether it has tags around it; without, it ends where the next one begins.
        directives: In their order.
    """

    line: int
    tagged: bool
    directives: list[Directive] = field(default_factory=list)


@dataclass
class Configuration:
    """A configuration file.

    Attributes:
        name: The file as messages name it.
        settings: The directives before the first module.
        modules: The modules.
        mistakes: Errors in the file.
    """

    name: str
    settings: list[Directive] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    mistakes: Mistakes = field(default_factory=Mistakes)

    def complain(self, line: int, message: str) -> None:
        """Notes a mistake."""
        self.mistakes.add(Place(line, f"{self.name}:{line}"), message)


def parse(text: str, name: str) -> Configuration:
    """Reads a configuration; errors in its form are noted in `mistakes`."""
    reader = _Reader(Configuration(name))
    for number, line in _logical_lines(text):
        reader.take(number, line)
    reader.finish()
    return reader.configuration


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without comments and empty ones; a backslash at the end continues a line."""
    pending, first = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        first = first or number
        if line.endswith("\\"):
            pending += line[:-1] + " "
            continue
        whole = (pending + line).strip()
        if whole and not whole.startswith("#"):
            yield first, whole
        pending, first = "", 0


@dataclass
class _Reader:
    configuration: Configuration
    section: Module | None = None

    def take(self, line: int, text: str) -> None:
        if text.startswith("<"):
            self._take_tag(line, text)
            return
        directive = self._directive(line, text)
        if directive is None:
            return
        if directive.key == MODULE_NAME.lower() and self._begins_untagged():
            self._begin(Module(line, tagged=False))
        owner = self.section.directives if self.section else self.configuration.settings
        owner.append(directive)

    def finish(self) -> None:
        if self.section and self.section.tagged:
            self._complain(
                self.section.line, f"the section that begins here has no end: add </{SECTIONS[0]}> after it"
            )
        if not self.configuration.modules and not self.configuration.mistakes.found:
            self._complain(1, 'the file has no module: add ModuleName "Simple Strided (write)"')

    def _begins_untagged(self) -> bool:
        return self.section is None or not self.section.tagged

    def _begin(self, module: Module) -> None:
        self.section = module
        self.configuration.modules.append(module)

    def _take_tag(self, line: int, text: str) -> None:
        match = _SECTION.fullmatch(text)
        if match is None:
            self._complain(line, f"{text} is not a tag: write <{SECTIONS[0]}> or </{SECTIONS[0]}>")
        elif match["name"].lower() not in map(str.lower, SECTIONS):
            self._complain(line, unknown("section", match["name"], SECTIONS))
        elif match["end"]:
            if self.section is None or not self.section.tagged:
                self._complain(line, f"{text} has no opening tag: put <{match['name']}> before the module")
            self.section = None
        else:
            if self.section and self.section.tagged:
                self._complain(
                    line,
                    f"the section that begins in line {self.section.line} has no end: "
                    f"put </{match['name']}> before this one",
                )
            self._begin(Module(line, tagged=True))

    def _directive(self, line: int, text: str) -> Directive | None:
        try:
            name, *words = shlex.split(text, comments=True)
        except ValueError:
            self._complain(line, f'a quote is not closed: write the value between two " in {text}')
            return None
        if words and words[0].startswith("="):
            self._complain(
                line, f"remove the = between the directive and its value: write {name} {_joined(words)}"
            )
        elif not words:
            self._complain(line, f"{name} has no value: write the value after the name, separated by a blank")
        else:
            return Directive(name, " ".join(words), line)
        return None

    def _complain(self, line: int, message: str) -> None:
        self.configuration.complain(line, message)


def _joined(words: Iterable[str]) -> str:
    return " ".join(words).removeprefix("=").strip() or "VALUE"
