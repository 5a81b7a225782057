"""Kinds of values in a run directory, with what is damage in them."""

import math
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field


def _nan_for_null(value: object) -> object:
    return math.nan if value is None else value


def _not_negative(value: float) -> float:
    # NaN is not negative.
    if value < 0:
        raise ValueError("a time or rate cannot be negative")
    return value


Real = Annotated[float, BeforeValidator(_nan_for_null)]
Unsigned = Annotated[float, BeforeValidator(_nan_for_null), AfterValidator(_not_negative)]
Count = Annotated[int, Field(ge=0)]
