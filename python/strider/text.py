"""Which characters no text of a suite, a plan or a command line may have, and how they are shown.

Control characters, what turns the direction of writing, separators of lines and paragraphs, halves of
characters: in a path they end or hide what is meant (a NUL ends it), on a terminal they change what a reader
sees. The engine has the same rule for plans (foundation/text.cpp).
"""

import re

_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
MOST_SHOWN = 80
"""Characters of a text that a message quotes."""


def forbidden(text: str) -> str | None:
    """The first character that a text may not have, such as `U+0000`; None if there is none."""
    match = _FORBIDDEN.search(text)
    return f"U+{ord(match[0]):04X}" if match else None


def printable(text: str) -> str:
    r"""A text with such characters written as `\u0000`."""
    return _FORBIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def shortened(text: str) -> str:
    """A text for a message: printable, and no more of it than helps."""
    if len(text) <= MOST_SHOWN:
        return printable(text)
    return f"{printable(text[:MOST_SHOWN])}… ({len(text)} characters)"
