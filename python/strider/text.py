"""Characters that are not allowed in suites, plans and command lines, and how to print them.

Not allowed are control characters, bidirectional formatting characters, line and paragraph separators, and
surrogates. They truncate or disguise paths and change the display of a terminal. The engine has the same rule
for plans (foundation/text.cpp).
"""

import re
from collections.abc import Sequence

_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
MOST_SHOWN = 80
"""Maximum characters of a string in a message."""


def forbidden(text: str) -> str | None:
    """Returns the first character that is not allowed, for example `U+0000`; None if there is none."""
    match = _FORBIDDEN.search(text)
    return f"U+{ord(match[0]):04X}" if match else None


def printable(text: str) -> str:
    r"""Returns a string with such characters written as `\u0000`."""
    return _FORBIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def shortened(text: str) -> str:
    """Returns a string for a message: printable and truncated."""
    if len(text) <= MOST_SHOWN:
        return printable(text)
    return f"{printable(text[:MOST_SHOWN])}… ({len(text)} characters)"


def enumerated(names: Sequence[str]) -> str:
    """Returns `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
