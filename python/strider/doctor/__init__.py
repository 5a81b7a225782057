"""Checks what works on this machine, and why other parts do not.

One file per group of checks, which yield diagnoses and change nothing. To add a group, write a file and a
line in `diagnose`.
"""

from pathlib import Path

from strider.doctor.confinement import check_confinement
from strider.doctor.diagnosis import Diagnosis
from strider.doctor.engine import check_engine
from strider.doctor.hardware import check_hardware
from strider.doctor.libraries import check_libraries
from strider.doctor.mounts import check_mounts
from strider.doctor.target import check_target

__all__ = ["Diagnosis", "diagnose"]


def diagnose(target: Path | None) -> list[Diagnosis]:
    """Yields all diagnoses; those of the target only if one is given.

    Args:
        target: The directory to measure, or None.
    """
    checks = (check_engine, check_confinement, check_mounts, check_hardware, check_libraries)
    diagnoses = [one for check in checks for one in check()]
    return [*diagnoses, *check_target(target)] if target else diagnoses
