"""Several targets of a suite: `target = ["/a", "/b"]`, or `--target /a,/b`."""

from collections.abc import Sequence
from pathlib import Path

from strider.errors import StriderError
from strider.suite.document import Document

MOST_TARGETS = 16


def targets_of(document: Document, typed: Sequence[str] = ()) -> list[str]:
    """Returns the targets of a suite; empty if it has none.

    Args:
        document: The suite.
        typed: Values of `--target`, which replace those of the suite; commas separate several.

    Raises:
        StriderError: A target is no text, or there are two alike or too many.
    """
    if typed:
        found = [one for text in typed for one in _split(text)]
        return found if len(found) == 1 else _checked(found, "--target")
    table = document.data.get("suite")
    value = table.get("target") if isinstance(table, dict) else None
    if not isinstance(value, list):
        return [value] if isinstance(value, str) and value else []
    place = document.value(("suite", "target"))
    return _checked(value, f"{place.text}: target")


def _split(text: str) -> list[str]:
    """Splits at commas; an existing path that contains a comma is one target."""
    return [text] if Path(text).expanduser().exists() else [part.strip() for part in text.split(",")]


def _checked(values: Sequence[object], where: str) -> list[str]:
    found = [value for value in values if isinstance(value, str) and value]
    if len(found) < len(values) or not found:
        raise StriderError(f'{where}: write directories, for example ["/mnt/old", "/mnt/new"]')
    if len(found) > MOST_TARGETS:
        raise StriderError(f"{where}: {len(found)} directories exceed the limit of {MOST_TARGETS}")
    same = [one for position, one in enumerate(found) if one in found[:position]]
    if same:
        raise StriderError(f"{where}: {same[0]} is named twice: name each directory once")
    return found
