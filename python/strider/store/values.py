"""Kinds of values in a run directory, and checks for damage."""

import math
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


def _nan_for_none(value: float | None) -> float:
    return math.nan if value is None else value


def _with_zone(time: str) -> str:
    with suppress(ValueError, OverflowError):
        at = datetime.fromisoformat(time)
        if at.tzinfo and at.astimezone(UTC):
            return time
    raise ValueError("it is no time with a time zone")


class _NanForNull:
    """A number that is `null` in JSON where it could not be computed; NaN in Python."""

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Returns the schema of the number with `null` as another value."""
        nullable = core_schema.nullable_schema(handler(source))
        return core_schema.no_info_after_validator_function(_nan_for_none, nullable)


LATEST_S = 1e12
"""Beyond any time of a run."""
Real = Annotated[float, _NanForNull()]
Amount = Annotated[float, Field(ge=0)]
Unsigned = Annotated[Amount, _NanForNull()]
Seconds = Annotated[float, Field(ge=0, lt=LATEST_S)]
Duration = Annotated[Seconds, _NanForNull()]
Instant = Annotated[float, Field(gt=-LATEST_S, lt=LATEST_S)]
Time = Annotated[Instant, _NanForNull()]
"""Relative to another time, so that it may be below 0."""
BUCKETS = 4992
"""Of a histogram of the engine."""
Number = Annotated[int, Field(ge=0, lt=1 << 31)]
"""A 32-bit integer of a table."""
Count = Annotated[int, Field(ge=0, lt=1 << 63)]
Word = Annotated[int, Field(ge=0, lt=1 << 64)]
"""Such as a hash or a seed."""
Signed = Annotated[int, Field(ge=-(1 << 63), lt=1 << 64)]
Pair = Annotated[tuple[Count, Count], Field(strict=False)]
"""A list of two in JSON."""
Bucket = Annotated[tuple[Annotated[int, Field(ge=0, lt=BUCKETS)], Count], Field(strict=False)]
"""Number of a bucket, and its count."""
Moment = Annotated[str, AfterValidator(_with_zone)]
"""Such as `2026-11-21T04:05:06Z`."""
