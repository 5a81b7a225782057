"""Findings and repairs of a scrub of a volume, in words."""

import sys
import time
from collections.abc import Callable
from typing import Any

from strider.units import format_bytes_rounded


def filled_text(filled: dict[str, Any]) -> str:
    """A server that was out, in words."""
    if filled["reason"]:
        return f"server {filled['server']} is still out: {filled['reason']}"
    amount = format_bytes_rounded(filled["bytes"])
    return f"server {filled['server']} is in again: {amount} of {filled['files']} data files copied to it"


_MOST_RANGES = 8
"""Of a damaged file that are printed."""


def damage_text(finding: dict[str, Any]) -> str:
    """A damaged data file in words."""
    number = f"data file {finding['file']:016x}, which no name leads to"
    second = ", second copy" if finding["copy"] == 2 else ""
    place = f"{finding['path'] or number} on server {finding['server']}{second}"
    if finding["damage"]:
        return f"{place}: {finding['damage']}"
    ranges = [f"{offset} to {offset + length - 1}" for offset, length in finding["damaged"]]
    more = f" and {len(ranges) - _MOST_RANGES} more ranges" if len(ranges) > _MOST_RANGES else ""
    return f"{place}: bytes {', '.join(ranges[:_MOST_RANGES])}{more}"


def show_progress() -> Callable[[dict[str, Any]], None] | None:
    """Returns what prints how far a scrub has come, and the time left; None if there is no terminal."""
    if not sys.stderr.isatty():
        return None
    begin = time.monotonic()

    def show(progress: dict[str, Any]) -> None:
        done, everything = progress["bytes"], progress["all_bytes"]
        elapsed_s = time.monotonic() - begin
        left_s = elapsed_s * (everything - done) / done if done else 0
        amounts = f"{format_bytes_rounded(done)} of {format_bytes_rounded(everything)}"
        print(f"\r{amounts} verified, {left_s:.0f} s left\033[K", end="", file=sys.stderr, flush=True)

    return show


def clear_progress() -> None:
    """Removes the line of `show_progress` from the terminal."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
