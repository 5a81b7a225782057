"""What one server knows: its engine, its store, and the directories that may be measured."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from strider.engine import Engine
from strider.errors import StriderError
from strider.launch.confinement import ConfineMode
from strider.suite.places import Policy, resolve
from strider.suite.vocabulary import Vocabulary
from strider.text import shortened

ENGINE_DEADLINE_S = 20.0
"""No question that a page asks the engine takes longer."""


@dataclass(frozen=True)
class Site:
    """The ground on which the pages stand.

    Attributes:
        engine: The engine, whose answers have a deadline.
        store: Where runs are kept, absolute.
        allowed: Directories that may be measured, or hold such, resolved.
        confine: Whether runs of this machine are confined (`strider run --confine`).
        allowed_places: Keys and values of further places that a suite may name.
    """

    engine: Engine
    store: Path
    allowed: tuple[Path, ...]
    confine: ConfineMode = "require"
    allowed_places: frozenset[tuple[str, str]] = frozenset()

    def bounds(self, confine: ConfineMode) -> list[str]:
        """Options of `strider run` that limit a run to the targets of this page."""
        within = [word for directory in self.allowed for word in ("--within", str(directory))]
        return ["--confine", confine, *within]

    @cached_property
    def policy(self) -> Policy:
        """Which places a suite from the page may name."""
        return Policy(self.allowed, self.allowed_places, self.vocabulary)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The keys that a suite may use."""
        return Vocabulary.of(self.engine.description)


def allowed_directories(typed: list[str]) -> tuple[Path, ...]:
    """The directories of `--allow`, resolved.

    Raises:
        StriderError: One is not there.
    """
    found = []
    for name in typed:
        path = Path(name).expanduser()
        if not path.is_dir():
            raise StriderError(f"--allow {name} is not a directory: name an existing one, or create it")
        found.append(path.resolve())
    return tuple(dict.fromkeys(found))


def confined_target(target: str, allowed: tuple[Path, ...]) -> Path:
    """Where a target really is, symbolic links and `..` followed.

    Args:
        target: The directory as a suite names it.
        allowed: The directories in which it has to be.

    Raises:
        StriderError: It is not in one of them.
    """
    try:
        path = resolve(str(Path(target).expanduser()))
    except RuntimeError:
        path = None
    if path is None:
        raise StriderError(f'target "{shortened(target)}" cannot be resolved: name a directory')
    if any(path.is_relative_to(directory) for directory in allowed):
        return path
    names = ", ".join(map(str, allowed))
    raise StriderError(
        f"target {shortened(target)} is outside the permitted directories: choose one in {names}, or "
        "start strider serve with another --allow"
    )
