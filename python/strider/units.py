"""Parses and formats sizes, durations and rates.

Sizes are powers of two: `4k`, `1MiB`, `2 GiB` (case-insensitive, `iB` is optional). With `B` and without `i`
they are SI units, powers of ten: `1MB` is 1 000 000 bytes. A bare number is bytes.
"""

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from strider.text import shortened

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
MB = 1_000_000

MOST_DIGITS = 40
"""Digit limit; longer numbers are rejected without conversion."""
_PREFIXES = "kmgtp"
_SIZE = re.compile(r"(?P<number>[0-9][0-9_ ]*(\.[0-9]+)?)\s*(?P<unit>[a-z]*)", re.IGNORECASE)
_DURATION = re.compile(r"(?P<number>[0-9]+(\.[0-9]*)?|\.[0-9]+)\s*(?P<unit>[a-z]*)", re.IGNORECASE)
_SECONDS = {
    "": 1.0,
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}


def _refuse_long(text: str) -> None:
    if len(text) > 2 * MOST_DIGITS or sum(map(str.isdigit, text)) > MOST_DIGITS:
        raise ValueError(f'"{shortened(text)}" is too long: numbers are limited to {MOST_DIGITS} digits')


def _unit_bytes(unit: str) -> int | None:
    """Returns the bytes of a unit such as `k`, `MiB` or `GB`; None if it is not a unit of size."""
    unit = unit.lower()
    if unit in ("", "b"):
        return 1
    power = _PREFIXES.find(unit[0]) + 1
    if power == 0:
        return None
    return {"": 1024**power, "ib": 1024**power, "b": 1000**power}.get(unit[1:])


def parse_bytes(text: str) -> int:
    """Returns the bytes of a size string, for example `"1.5MiB"`, `"4k"`, `"8 192 000 B"`.

    Raises:
        ValueError: It is not a size, or not a whole number of bytes.
    """
    _refuse_long(text)
    match = _SIZE.fullmatch(text.strip())
    scale = _unit_bytes(match["unit"]) if match else None
    if match is None or scale is None:
        raise ValueError(f'"{text}" is not a size: write for example 4096, "4KiB", "1m" or "1.5GiB"')
    number = Decimal(match["number"].replace(" ", "").replace("_", "")) * scale
    if number != number.to_integral_value():
        raise ValueError(f'"{text}" is {number.normalize():f} bytes, which is not a whole number')
    return int(number)


def in_bytes(value: object) -> object:
    """Returns a size of a suite as in its plan: `"4KiB"` is 4096; any other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        return parse_bytes(value)
    except ValueError:
        return value


def parse_seconds(text: str) -> float:
    """Returns the seconds of a duration string, for example `"30s"`, `"250ms"`, `"2min"` or `"1.5"`.

    Raises:
        ValueError: It is not a duration.
    """
    _refuse_long(text)
    match = _DURATION.fullmatch(text.strip())
    scale = _SECONDS.get(match["unit"].lower()) if match else None
    if match is None or scale is None:
        raise ValueError(f'"{text}" is not a time: write for example 30, "30s", "250ms" or "2min"')
    return float(match["number"]) * scale


def parse_share(text: str) -> float:
    """Parses a share between 0 and 1, such as `"5%"` or `"0.05"`.

    Raises:
        ValueError: It is not a share between 0 and 100 %.
    """
    _refuse_long(text)
    stripped = text.strip()
    try:
        share = Decimal(stripped.removesuffix("%").strip()) / (100 if stripped.endswith("%") else 1)
    except InvalidOperation:
        share = Decimal(-1)
    if not share.is_finite() or not 0 <= share <= 1:
        raise ValueError(f'"{text}" is not a share: write for example "5%" or 0.05')
    return float(share)


def format_bytes(count: int) -> str:
    """Formats a size exactly, in the largest unit that needs at most two decimals: `1.5 KiB`, `8 192 000 B`.

    `parse_bytes` returns the same number.
    """
    for power in range(len(_PREFIXES), 0, -1):
        unit = 1024**power
        hundredths, rest = divmod(count * 100, unit)
        fits = count >= unit and rest == 0 and (count < 1024 * unit or power == len(_PREFIXES))
        if fits:
            return f"{Decimal(hundredths).scaleb(-2).normalize():f} {_PREFIXES[power - 1].upper()}iB"
    return f"{count:,} B".replace(",", " ")


def format_bytes_rounded(count: float) -> str:
    """Formats a size to three digits: `7.81 MiB`, `132 GiB`."""
    for power in range(len(_PREFIXES), 0, -1):
        unit = 1024**power
        if count >= unit:
            value = count / unit
            decimals = 2 if value < 10 else 1 if value < 100 else 0
            text = f"{value:.{decimals}f}"
            return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {_PREFIXES[power - 1].upper()}iB"
    return f"{count:.0f} B"


def grouped(number: float) -> str:
    """Formats a whole number with digit groups: `1 234 567`; to three digits below 100: `81.2`, `0.052`."""
    if number and abs(number) < 99.95:
        return f"{number:.3g}"
    return f"{number:,.0f}".replace(",", " ")


def format_operations_rate(requests_s: float) -> str:
    """Formats a rate of operations: `12 300 op/s`."""
    return f"{grouped(requests_s)} op/s"


def format_rate(mib_s: float) -> str:
    """Formats a data rate: `812 MiB/s`, `3.2 MiB/s`."""
    return (
        f"{mib_s:.0f} MiB/s"
        if mib_s >= 100
        else f"{mib_s:.1f} MiB/s"
        if mib_s >= 10
        else f"{mib_s:.2f} MiB/s"
    )


def format_seconds(seconds: float) -> str:
    """Formats a duration: `20 µs`, `250 ms`, `40 s`, `2 min 5 s`, `1 h 20 min`, `2 d 3 h`."""
    if 0 < seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    scales = ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))
    large, large_name, small, small_name = next(scale for scale in scales if whole >= scale[0])
    rest = whole % large // small
    return f"{whole // large} {large_name}" + (f" {rest} {small_name}" if rest else "")


def format_ranges(numbers: Sequence[int]) -> str:
    """Formats ascending numbers with their ranges: `1–4, 7`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ", ".join("–".join(map(str, each)) for each in ranges)
