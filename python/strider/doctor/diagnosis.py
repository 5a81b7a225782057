"""What a check found."""

from dataclasses import dataclass
from typing import Literal

State = Literal["works", "note", "missing", "fails"]


@dataclass(frozen=True)
class Diagnosis:
    """A finding about one thing.

    Attributes:
        subject: What was looked at.
        state: `works`; `note`: works, with something to know; `missing`: an optional thing is not there;
        `fails`: without it
            nothing can be measured.
        finding: What it is, or what is wrong.
        remedy: What to do, empty where there is nothing to do.
    """

    subject: str
    state: State
    finding: str
    remedy: str = ""
