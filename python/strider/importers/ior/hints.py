"""Hints for MPI-IO as IOR takes them: from its environment, and from a file of the same form."""

import re
from collections.abc import Mapping
from pathlib import Path

from strider.errors import StriderError
from strider.suite.mistakes import Place

_PREFIX = "IOR_HINT__MPI__"
_LINE = re.compile(
    r"(setenv\s+|export\s+)?IOR_HINT__(?P<kind>MPI|GPFS)__(?P<name>\w+)(\s+|\s*=\s*)(?P<value>\S+)"
)


def hints_of(file: str, place: Place, environment: Mapping[str, str]) -> dict[str, str]:
    """The hints of a file, and those of the environment, which replace them.

    Args:
        file: The file; empty for none.
        place: Where the file was named.
        environment: Environment variables.

    Raises:
        StriderError: The file cannot be read, or has a line that is no hint.
    """
    hints = _of_file(Path(file), place) if file else {}
    of_environment = {
        name.removeprefix(_PREFIX): value for name, value in environment.items() if name.startswith(_PREFIX)
    }
    return hints | dict(sorted(of_environment.items()))


def _of_file(file: Path, place: Place) -> dict[str, str]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise StriderError(f"{place.text}: {file}: {error.strerror}") from error
    hints = {}
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        match = _LINE.fullmatch(text)
        if match and match["kind"] == "MPI":
            hints[match["name"]] = match["value"]
        elif text:
            example = f"setenv {_PREFIX}romio_cb_write enable"
            raise StriderError(
                f'{file}:{number}: "{text}" is not an MPI-IO hint: write for instance {example}'
            )
    return hints
