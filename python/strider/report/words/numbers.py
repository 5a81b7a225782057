"""Formats numbers for readers: three significant digits, one unit per column."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

NOTHING = "–"


def significant(value: float | None, digits: int = 3) -> str:
    """Formats a number to some significant digits, with all integer digits: 12345, 81.2, 0.0812."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(decimals, 9)}f}"


def percent(share: float | None) -> str:
    """Formats a share in percent without the sign: 0.1234 is 12, 0.0123 is 1.2."""
    if share is None or not math.isfinite(share):
        return NOTHING
    return f"{share * 100:.1f}" if abs(share) < 0.0995 else f"{share * 100:.0f}"


@dataclass(frozen=True)
class TimeUnit:
    """The unit of a column of durations."""

    name: str
    seconds: float

    def format(self, value_s: float | None) -> str:
        """Formats a duration in this unit, without the unit's name."""
        return significant(None if value_s is None else value_s / self.seconds)


_UNITS = (TimeUnit("s", 1.0), TimeUnit("ms", 1e-3), TimeUnit("µs", 1e-6), TimeUnit("ns", 1e-9))
#: Units of duration columns, in seconds.
TIME_UNITS_S = {unit.name: unit.seconds for unit in _UNITS}


def time_unit(values_s: Iterable[float]) -> TimeUnit:
    """Returns the largest unit in which the median duration is at least 1."""
    values = sorted(value for value in values_s if math.isfinite(value) and value > 0)
    middle = values[len(values) // 2] if values else 1.0
    return next((unit for unit in _UNITS if middle >= unit.seconds), _UNITS[-1])
