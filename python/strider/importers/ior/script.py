"""The scripts of IOR: directives between IOR START and IOR STOP, and RUN for each test."""

from collections.abc import Iterator

from strider.importers.imported import Imported
from strider.importers.ior.directives import add_directives
from strider.importers.ior.suite import make
from strider.importers.options import Settings, Surroundings
from strider.suite.mistakes import Mistakes, Place


def recognises(text: str) -> bool:
    """Whether a text seems to be a script of IOR."""
    return any(_words(line) == "ior start" for line in text.splitlines())


def read_script(
    text: str, name: str, surroundings: Surroundings | None = None, defaults: Settings | None = None
) -> Imported:
    """Reads a script.

    Args:
        text: Its text.
        name: What messages call the file.
        surroundings: Facts that IOR gets from MPI.
        defaults: Options of the command line before the script.

    Raises:
        SuiteError: It has mistakes, or asks for what Strider cannot do; the message has a line for each.
    """
    mistakes = Mistakes()
    tests = list(_tests(text, name, defaults or Settings("IOR"), mistakes))
    if not tests:
        mistakes.add(
            Place(1, f"{name}:1"), "the script has no test: write IOR START, directives, RUN, IOR STOP"
        )
    mistakes.raise_if_any()
    return make(tests, name, surroundings or Surroundings())


def _tests(text: str, name: str, settings: Settings, mistakes: Mistakes) -> Iterator[Settings]:
    """The tests; each has the options set before it, also before the tests above it."""
    started = False
    unrun = 0
    for number, line in enumerate(text.splitlines(), start=1):
        words = _words(line)
        if not started:
            started = words == "ior start"
        elif words == "ior stop":
            break
        elif words == "run":
            yield settings.copy(number)
            unrun = 0
        elif words:
            unrun = unrun or number
            add_directives(settings, line.partition("#")[0], number, f"{name}:{number}", mistakes)
    else:
        if started:
            last = max(1, len(text.splitlines()))
            mistakes.add(Place(last, f"{name}:{last}"), "IOR STOP is missing: add it at the end")
    if unrun:
        mistakes.add(Place(unrun, f"{name}:{unrun}"), "no test uses this setting: add RUN after it")


def _words(line: str) -> str:
    """A line without comment, in small letters, its words separated by single blanks."""
    return " ".join(line.partition("#")[0].lower().split())
