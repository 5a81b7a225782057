"""Prints what pyproject.toml asks for: the package's requirements, and those of the groups named."""

import sys
import tomllib
from pathlib import Path


def requirements(pyproject: Path, groups: list[str]) -> list[str]:
    """The package's dependencies, followed by those of its dependency groups `groups`."""
    content = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    wanted: list[str] = list(content["project"]["dependencies"])
    for group in groups:
        wanted += content["dependency-groups"][group]
    return wanted


if __name__ == "__main__":
    print("\n".join(requirements(Path("pyproject.toml"), sys.argv[1:])))
