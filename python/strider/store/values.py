"""Kinds of values in a run directory, with what is damage in them."""

import math
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from strider.text import forbidden


def _nan_for_null(value: object) -> object:
    return math.nan if value is None else value


def _not_negative(value: float) -> float:
    # NaN is not negative.
    if value < 0:
        raise ValueError("a time or rate cannot be negative")
    return value


def _without_control_characters(text: str) -> str:
    if forbidden(text):
        raise ValueError("a name cannot have control characters")
    return text


Real = Annotated[float, BeforeValidator(_nan_for_null)]
Unsigned = Annotated[float, BeforeValidator(_nan_for_null), AfterValidator(_not_negative)]
Count = Annotated[int, Field(ge=0)]
Name = Annotated[str, AfterValidator(_without_control_characters)]
"""Names of runs, as terminals and pages show them."""
