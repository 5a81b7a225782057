"""Checks the Python libraries for statistics and charts."""

import importlib.metadata
import re
from collections.abc import Iterator

from strider.doctor.diagnosis import Diagnosis

FALLBACK = ("altair", "duckdb", "jinja2", "numpy", "pydantic", "rich", "scipy", "typer", "vl-convert-python")
"""The libraries to check if the package is not installed and has no list of its own."""


def check_libraries() -> Iterator[Diagnosis]:
    """Checks the libraries that the package requires."""
    found: list[str] = []
    for name in _required():
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            yield Diagnosis(f"library {name}", "fails", "is not installed", f"pip install {name}")
    yield Diagnosis("libraries", "works", ", ".join(found))


def _required() -> list[str]:
    """Returns the names of the required packages."""
    try:
        requirements = importlib.metadata.requires("strider") or []
    except importlib.metadata.PackageNotFoundError:
        return list(FALLBACK)
    names = [
        re.match(r"[\w.-]+", requirement) for requirement in requirements if "extra ==" not in requirement
    ]
    return sorted(match[0] for match in names if match)
