"""The result of a check."""

from dataclasses import dataclass
from typing import Literal

State = Literal["works", "note", "missing", "fails"]


@dataclass(frozen=True)
class Diagnosis:
    """A finding of a check.

    Attributes:
        subject: The checked item.
        state: `works`; `note`: works, with a remark; `missing`: an optional part is missing; `fails`:
            required for all measurements.
        finding: The finding or the problem.
        remedy: How to resolve it; empty if no action is needed.
    """

    subject: str
    state: State
    finding: str
    remedy: str = ""
