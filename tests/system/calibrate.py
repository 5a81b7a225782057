"""What tests against a known truth share.

They are the only ones that look at absolute times. A machine that does something else meanwhile makes storage
slower, never faster, so what is off may be measured again a few times; what is right once is right.
"""

from collections.abc import Callable
from pathlib import Path

ATTEMPTS = 4

Mount = Callable[..., Path]
"""Mounts a file system that delays reads and writes by so many microseconds, of files with some suffix."""

FIRST = ["nice", "-n", "-19"]
"""Before a command that goes before what else the machine does; where that is not permitted, it just runs."""


def agrees(measure: Callable[[], float], truth: float, tolerance: float) -> None:
    """Fails unless one of a few measurements is within a share of the truth.

    A measurement that fails a check of its own is off as well.
    """
    off: list[str] = []
    for _ in range(ATTEMPTS):
        try:
            found = measure()
        except AssertionError as error:
            off.append(str(error))
            continue
        if abs(found / truth - 1) <= tolerance:
            return
        off.append(f"{found:.6g} ({100 * (found / truth - 1):+.2f} %)")
    raise AssertionError(f"not within {100 * tolerance:g} % of {truth:g}: {'; '.join(off)}")
