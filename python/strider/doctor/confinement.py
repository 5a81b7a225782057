"""Checks whether runs can be confined to their folder."""

from collections.abc import Iterator

from strider import engine as engines
from strider.doctor.diagnosis import Diagnosis
from strider.errors import StriderError
from strider.launch.confinement import support

ABI_WITH_TRUNCATE = 3
"""The first Landlock ABI that also prevents truncation by path."""


def check_confinement() -> Iterator[Diagnosis]:
    """Checks the kernel's Landlock support."""
    try:
        found = support(engines.find())
    except StriderError:
        return  # problems of the engine are reported by its own check
    if found.reason:
        yield Diagnosis(
            "confinement",
            "missing",
            found.reason,
            "runs are not confined; use --confine off to state this explicitly",
        )
    elif found.abi < ABI_WITH_TRUNCATE:
        text = (
            f"Landlock ABI {found.abi}: partial confinement, because ranks can truncate files outside by path"
        )
        yield Diagnosis("confinement", "note", text)
    else:
        yield Diagnosis("confinement", "works", f"Landlock ABI {found.abi}")
