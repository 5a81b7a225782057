"""Collects the mistakes of a suite file, to report them together."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from strider.errors import StriderError
from strider.text import MOST_SHOWN, shortened

MOST_MISTAKES = 200
"""Of one suite; the reading ends at the last of them, as finding a remedy for each takes time."""


@dataclass(frozen=True, order=True)
class Place:
    """Where something was written.

    Attributes:
        line: Line in the suite file, from 1; 0 for the command line.
        text: The place as shown: `suites/x.toml:9` or `--set case.transfer=4K`.
    """

    line: int
    text: str


class SuiteError(StriderError):
    """A suite with mistakes; the message has a line for each of them.

    Args:
        found: The mistakes in the order of the file.
    """

    def __init__(self, found: Sequence[tuple[Place, str]]) -> None:
        super().__init__("\n".join(f"{place.text}: {message}" for place, message in found))
        self.found = tuple(found)


@dataclass
class Mistakes:
    """The mistakes found so far."""

    found: dict[tuple[Place, str], None] = field(default_factory=dict)

    def add(self, place: Place, message: str) -> None:
        """Notes a mistake; the same one at the same place counts once.

        Raises:
            SuiteError: There are as many as are reported.
        """
        self.found.setdefault((place, message))
        if len(self.found) >= MOST_MISTAKES:
            self.found.setdefault(
                (
                    place,
                    f"{MOST_MISTAKES} mistakes; the rest of the file was not checked: correct these first",
                )
            )
            raise self.error()

    def error(self) -> SuiteError:
        """The error with a line for each mistake, in the order of the file."""
        return SuiteError(sorted(self.found, key=lambda item: item[0]))

    def raise_if_any(self) -> None:
        """Raises `error()` if there is a mistake."""
        if self.found:
            raise self.error()


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Returns a message about an unknown name, with the nearest known one, or all of them.

    Args:
        what: What kind of name it is, for instance `pattern`.
        name: The name as typed.
        known: The names that exist.
    """
    names = list(dict.fromkeys(known))
    return f'unknown {what} "{shortened(name)}": {suggestion(name, names)}'


#: Words of fio, IOR, mdtest and elbencho for keys of a case.
_OF_OTHER_TOOLS = {
    **dict.fromkeys(("bs", "blocksize", "xfersize", "transfer_size", "transfersize"), "transfer"),
    **dict.fromkeys(("block_size", "filesize"), "block"),
    **dict.fromkeys(("np", "nprocs", "ranks", "processes", "numjobs", "threads", "numtasks"), "clients"),
    **dict.fromkeys(("iodepth", "queue_depth", "qd"), "depth"),
    **dict.fromkeys(("rw", "readwrite", "op"), "operations"),
    **dict.fromkeys(("ioengine", "api", "engine"), "interface"),
    **dict.fromkeys(("reps", "loops", "iterations", "runs"), "repetitions"),
    **dict.fromkeys(("fsync", "fdatasync", "end_fsync"), "sync"),
    **dict.fromkeys(("nrfiles", "files", "num_items"), "items"),
    "rate": "rate_limit",
    "thinktime": "think",
}


def suggestion(name: str, known: Iterable[str]) -> str:
    """`did you mean "strided"?`, or `choose one of …` where nothing is near."""
    names = [name for name in known if name]
    meant = _OF_OTHER_TOOLS.get(name.lower())
    if meant in names:
        return f'did you mean "{meant}"?'
    if len(name) > MOST_SHOWN:  # too long to compare with known names
        name = ""
    lower = {candidate.lower(): candidate for candidate in names}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    if near:
        return f'did you mean "{lower[near[0]]}"?'
    return f"choose one of {', '.join(names)}" if names else "none are available"
