"""The predefined suites, by name."""

from pathlib import Path

from strider.errors import StriderError
from strider.suite.mistakes import suggestion


def locate(name: str) -> Path:
    """Returns the suite file of a path or of a predefined suite's name.

    Raises:
        StriderError: Neither exists.
    """
    path = Path(name)
    if path.is_file():
        return path
    known = ready_made()
    if name in known:
        return known[name]
    if path.is_dir():
        raise StriderError(
            f"{name} is a directory, not a suite file: to measure it, use strider quick {name}"
        )
    raise StriderError(
        f"suite file {name} does not exist, and there is no predefined suite of that name: "
        f"{suggestion(name, known)}"
    )


def ready_made() -> dict[str, Path]:
    """Returns the predefined suites by name."""
    found = folder()
    return {file.stem: file for file in sorted(found.glob("*.toml"))} if found else {}


def folder() -> Path | None:
    """Returns the folder of the predefined suites: in the installed package, or in the checkout."""
    package = Path(__file__).resolve().parents[1]
    places = (package / "_suites", package.parents[1] / "suites")
    return next((place for place in places if place.is_dir()), None)
