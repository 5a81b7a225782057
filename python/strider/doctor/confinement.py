"""Whether runs can be kept from writing outside of their folder."""

from collections.abc import Iterator

from strider import engine as engines
from strider.doctor.diagnosis import Diagnosis
from strider.errors import StriderError
from strider.launch.confinement import support

ABI_WITH_TRUNCATE = 3
"""From this version of Landlock on, files cannot be shortened by their path either."""


def check_confinement() -> Iterator[Diagnosis]:
    """Asks the kernel for Landlock."""
    try:
        found = support(engines.find())
    except StriderError:
        return  # what is wrong with the engine is said elsewhere
    if found.reason:
        yield Diagnosis("confinement", "missing", found.reason, "runs go on without; --confine off says so")
    elif found.abi < ABI_WITH_TRUNCATE:
        text = f"Landlock ABI {found.abi}: partly, files outside can be shortened by their path"
        yield Diagnosis("confinement", "note", text)
    else:
        yield Diagnosis("confinement", "works", f"Landlock ABI {found.abi}")
