"""Numbers of the card in words, with few digits."""

import math
import re
import textwrap

from strider.card.model import Rate

_PREFIXES = ("", "k", "M", "G", "T")


def scaled(value: float, digits: int) -> tuple[str, str]:
    """Returns a positive number to some digits, and the prefix of its unit."""
    if value <= 0 or not math.isfinite(value):
        return "0", ""
    power = min(len(_PREFIXES) - 1, max(0, math.floor(math.log10(value) / 3)))
    text = rounded(value / 1000**power, digits)
    if float(text) >= 1000 and power < len(_PREFIXES) - 1:
        power += 1
        text = rounded(value / 1000**power, digits)
    return text, _PREFIXES[power]


def rounded(value: float, digits: int) -> str:
    """Returns a number to some significant digits, without an exponent."""
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    number = round(value, decimals)
    # 9.96 to two digits is 10, not 10.0.
    decimals = digits - 1 - math.floor(math.log10(abs(number)))
    return f"{number:.{max(0, decimals)}f}"


def wrapped(text: str, width: int) -> list[str]:
    """Returns a sentence in lines that keep numbers and units together."""
    bound = re.sub(r"(\d) (?=[^\W\d])", "\\1\u00a0", text)
    return [line.replace("\u00a0", " ") for line in textwrap.wrap(bound, width)]


def cut(text: str, width: int) -> str:
    """Returns a text in at most `width` characters; a longer one ends in `...`."""
    return text if len(text) <= width else f"{text[: width - 3]}..."


def in_words(rate: Rate, digits: int = 2) -> str:
    """Returns a rate: `2.9 GB/s`, `17 k/s`."""
    number, prefix = scaled(rate.value, digits)
    return f"{number} {prefix}{'B/s' if rate.unit == 'B/s' else '/s'}"


def size(count: float) -> str:
    """Returns a size: `252 GB`."""
    number, prefix = scaled(count, 3 if count >= 1e11 else 2)
    return f"{number} {prefix}B"


def count(value: float) -> str:
    """Returns a number of requests: `17 k`."""
    number, prefix = scaled(value, 2)
    return f"{number} {prefix}".strip()


def time(microseconds: float) -> str:
    """Returns a latency: `91 us`, `1.2 ms`, `2.3 s`."""
    for scale, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= scale:
            return f"{rounded(microseconds / scale, 2)} {unit}"
    return f"{microseconds:.0f} us" if microseconds >= 10 else f"{rounded(microseconds, 2)} us"


def factor(value: float) -> str:
    """Returns a ratio: `x1.9`."""
    return f"x{rounded(value, 2)}"
