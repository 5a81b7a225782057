"""The suites that come with Strider, found by name."""

from pathlib import Path

from strider.errors import StriderError
from strider.suite.mistakes import suggestion


def locate(name: str) -> Path:
    """The suite file of a path or of a ready-made suite's name.

    Raises:
        StriderError: There is neither.
    """
    path = Path(name)
    if path.is_file():
        return path
    known = ready_made()
    if name in known:
        return known[name]
    if path.is_dir():
        raise StriderError(
            f"{name} is a directory, not a suite file: to measure it, call strider quick {name}"
        )
    raise StriderError(
        f"there is no suite file {name}, and no ready-made suite of that name: {suggestion(name, known)}"
    )


def ready_made() -> dict[str, Path]:
    """Ready-made suites by name."""
    found = folder()
    return {file.stem: file for file in sorted(found.glob("*.toml"))} if found else {}


def folder() -> Path | None:
    """Where the ready-made suites are: in the installed package, else in the checkout."""
    package = Path(__file__).resolve().parents[1]
    places = (package / "_suites", package.parents[1] / "suites")
    return next((place for place in places if place.is_dir()), None)
