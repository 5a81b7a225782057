"""Kinds of values in a run directory, with what is damage in them."""

import math
from typing import Annotated

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


def _nan_for_none(value: float | None) -> float:
    return math.nan if value is None else value


class _NanForNull:
    """A number that is `null` in JSON where it could not be computed; NaN in Python."""

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Returns the schema of the number with `null` as another value."""
        nullable = core_schema.nullable_schema(handler(source))
        return core_schema.no_info_after_validator_function(_nan_for_none, nullable)


Real = Annotated[float, _NanForNull()]
Amount = Annotated[float, Field(ge=0)]
Unsigned = Annotated[Amount, _NanForNull()]
Number = Annotated[int, Field(ge=0, lt=1 << 32)]
Count = Annotated[int, Field(ge=0, lt=1 << 63)]
Word = Annotated[int, Field(ge=0, lt=1 << 64)]
"""Such as a hash or a seed."""
Signed = Annotated[int, Field(ge=-(1 << 63), lt=1 << 64)]
Pair = Annotated[tuple[Count, Count], Field(strict=False)]
"""A list of two in JSON."""
