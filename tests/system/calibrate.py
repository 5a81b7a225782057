"""What tests against a known truth share.

They are the only ones that look at absolute times. A machine that does something else meanwhile makes storage
slower, never faster, so a wrong value may be measured again a few times; one right value is enough. The test
run keeps them for last, when nothing else runs. Where the machine is at work for others all the same, what
is measured is no truth about Strider, and the test is skipped and says so.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

ATTEMPTS = 4
BUSY = 0.5
"""Share of the processors' time that calibrations by themselves do not take: they mostly wait."""

Mount = Callable[..., Path]
"""Mounts a file system that delays reads and writes by so many microseconds, of files with some suffix."""

FIRST = ["nice", "-n", "-19"]
"""Before a command that goes before what else the machine does; where that is not permitted, it just runs."""


def agrees(measure: Callable[[], float], truth: float, tolerance: float) -> None:
    """Fails unless one of a few measurements is within a share of the truth.

    A measurement that fails a check of its own is off as well.
    """
    off: list[str] = []
    least_busy = 1.0
    for _ in range(ATTEMPTS):
        before = processor_time()
        try:
            found = measure()
        except AssertionError as error:
            off.append(str(error))
        else:
            if abs(found / truth - 1) <= tolerance:
                return
            off.append(f"{found:.6g} ({100 * (found / truth - 1):+.2f} %)")
        busy, all_time = (after - then for after, then in zip(processor_time(), before, strict=True))
        least_busy = min(least_busy, busy / all_time if all_time else 1.0)
    said = f"not within {100 * tolerance:g} % of {truth:g}: {'; '.join(off)}"
    if least_busy > BUSY:
        pytest.skip(f"machine: its processors were busy {100 * least_busy:.0f} % of the time or more: {said}")
    raise AssertionError(said)


def processor_time() -> tuple[int, int]:
    """Ticks that the processors were not idle (also for other virtual machines), and all ticks."""
    fields = [
        int(field) for field in Path("/proc/stat").read_text(encoding="ascii").split("\n")[0].split()[1:9]
    ]
    idle = fields[3] + fields[4]
    return sum(fields) - idle, sum(fields)
