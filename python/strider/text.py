"""Characters that are not allowed in suites, plans and command lines, and how to print them.

Not allowed are control characters, bidirectional formatting characters, line and paragraph separators, and
surrogates. They truncate or disguise paths and change the display of a terminal. The engine has the same rule
for plans (foundation/text.cpp).
"""

import json
import re
from collections.abc import Sequence

_BEYOND_C0 = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_FORBIDDEN = re.compile(f"[\x00-\x1f{_BEYOND_C0}]")
_IN_JSON = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|"
    f"[{_BEYOND_C0}]"
)
"""Escapes in JSON, and the characters of `_FORBIDDEN` that may stand in its strings as they are."""
MOST_SHOWN = 80
"""Maximum characters of a string in a message."""


def forbidden(text: str) -> str | None:
    """Returns the first character that is not allowed, for example `U+0000`; None if there is none."""
    match = _FORBIDDEN.search(text)
    return f"U+{ord(match[0]):04X}" if match else None


def printable(text: str) -> str:
    r"""Returns a string with such characters written as `\u0000`."""
    return _FORBIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def printable_lines(text: str) -> str:
    """Returns a text with such characters written so, except for its line breaks."""
    return "\n".join(map(printable, text.split("\n")))


def printable_json(text: str) -> str:
    r"""Returns a JSON text whose strings have such characters, and line breaks, written as `\u0000`.

    So no value that another user wrote looks like several lines or rows where it is shown.
    """
    is_plain = text.isascii() and "\\" not in text and "\x7f" not in text
    return text if is_plain else _IN_JSON.sub(_printed, text)


def _printed(found: re.Match[str]) -> str:
    try:
        character = json.loads(f'"{found[0]}"')
    except ValueError:  # no escape: this text is not JSON
        return found[0]
    return printable(character).replace("\\u", "\\\\u") if forbidden(character) else found[0]


def shortened(text: str) -> str:
    """Returns a string for a message: printable and truncated."""
    if len(text) <= MOST_SHOWN:
        return printable(text)
    return f"{printable(text[:MOST_SHOWN])}… ({len(text)} characters)"


def enumerated(names: Sequence[str], most: int | None = None) -> str:
    """Returns `a, b and c`, or `a, b and 5 more` if there are more than `most`."""
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
