"""Processor, memory and timer."""

from collections.abc import Iterator
from pathlib import Path

from strider.doctor.diagnosis import Diagnosis
from strider.launch.job_limits import memory, processors
from strider.launch.machine import cpu_model
from strider.units import format_bytes_rounded

CLOCK_SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
FAST_CLOCKS = ("tsc", "arch_sys_counter", "timebase", "kvm-clock")
"""Clock sources that are read without a system call."""


def check_hardware() -> Iterator[Diagnosis]:
    """Checks processor, memory and timer."""
    yield Diagnosis("processor", "works", f"{cpu_model()}, {processors()} usable cores")
    ram = memory()
    available = format_bytes_rounded(ram.available_bytes)
    yield Diagnosis("memory", "works", f"{format_bytes_rounded(ram.total_bytes)}, {available} available")
    yield _timer()


def _timer() -> Diagnosis:
    try:
        clock = CLOCK_SOURCE.read_text(encoding="utf-8").strip()
    except OSError:
        return Diagnosis("timer", "note", "the clock source is unknown")
    if clock in FAST_CLOCKS:
        return Diagnosis("timer", "works", f"clock source {clock}")
    return Diagnosis(
        "timer",
        "note",
        f"clock source {clock} needs a system call for each reading",
        "latencies of small requests may include up to 1 µs of timer cost; see the timer cost in each "
        "run's report",
    )
