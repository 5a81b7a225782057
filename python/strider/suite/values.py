"""Converts suite values to plan values: one converter for each kind of parameter.

The kinds are those of docs/formats.md. A converter raises ValueError with a remedy.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from strider.engine import NAMED_PLACES, Json, Parameter
from strider.suite.mistakes import suggestion, unknown
from strider.text import shortened
from strider.units import format_bytes, parse_bytes, parse_seconds, parse_share

DEFAULT_REPETITIONS = 3
DEFAULT_MOST_REPETITIONS = 20
FEWEST_UNTIL = 8
"""Repetitions before `until` may end a case.

With 3, intervals that are narrow by chance end it (docs/reference/statistics.md)."""
LARGEST_INTEGER = 2**63 - 1
"""File offsets are signed 64-bit numbers."""
_EXACT = 1e19
"""Larger numbers are shown to a few digits."""
SIZE_KEYS = ("block", "size")
"""Keys of patterns that set the bytes of a phase."""
AUTO = "auto"
BEYOND_MEMORY = "beyond-memory"
SIZE_WORDS = (AUTO, BEYOND_MEMORY)
"""Values of these keys that leave the size to Strider."""
LISTS = ("operations", "numbers", "levels")
"""Kinds of which one value is a list."""


@dataclass(frozen=True)
class OperationNames:
    """Which operations a value may name.

    Attributes:
        usable: Those that it may name.
        mixing: Those that may be a part of a mix.
        others: Why another one that exists may not be named here, by name.
    """

    usable: Sequence[str] = ()
    mixing: Sequence[str] = ()
    others: Mapping[str, str] = field(default_factory=dict)


def size_words(parameter: Parameter) -> Sequence[str]:
    """Returns the words that leave the size to Strider, such as `auto`; none where it cannot choose."""
    return SIZE_WORDS if parameter.kind == "bytes" and parameter.name in SIZE_KEYS else ()


def leaves_open(parameter: Parameter, typed: Json) -> bool:
    """Returns whether a value leaves the size to Strider, such as `block = "auto"`."""
    return typed in size_words(parameter)


def convert(parameter: Parameter, typed: Json, operations: OperationNames | None = None) -> Json:
    """The plan's value of a parameter.

    Args:
        parameter: Which parameter; its kind, limits and choices are applied.
        typed: The value as TOML gives it.
        operations: Which operations there are, for parameters that name some.

    Raises:
        ValueError: The value is wrong; the message says why and what would be right.
    """
    if parameter.kind == "operations":
        return _operations(typed, operations or OperationNames())
    if parameter.kind == "weights":
        return _weights(typed, operations or OperationNames())
    if leaves_open(parameter, typed):
        return typed
    value = _CONVERTERS[parameter.kind](parameter, typed)
    _check_limits(parameter, value)
    return value


def is_crossed(parameter: Parameter, typed: Json) -> bool:
    """Whether a value as typed is a list of values that are to be crossed, and not one value.

    A kind that is a list by itself is crossed where its elements are such lists.
    """
    if not isinstance(typed, list):
        return False
    match parameter.kind:
        case "operations" | "numbers":
            return any(isinstance(element, list) for element in typed)
        case "levels":
            return any(
                isinstance(part, list) for element in typed if isinstance(element, list) for part in element
            )
        case _:
            return True


def show(typed: Json) -> str:
    """A value as one types it in TOML."""
    if isinstance(typed, bool):
        return "true" if typed else "false"
    if isinstance(typed, str):
        return f'"{shortened(typed)}"'
    if isinstance(typed, list):
        return "[" + ", ".join(map(show, typed)) + "]"
    if typed == {}:
        return "{}"
    if isinstance(typed, dict):
        return "{ " + ", ".join(f"{key} = {show(value)}" for key, value in typed.items()) + " }"
    return f"{typed:g}" if isinstance(typed, float) else shortened(str(typed))


def _is_integer(typed: Json) -> bool:
    return isinstance(typed, int) and not isinstance(typed, bool)


def _bytes(parameter: Parameter, typed: Json) -> int:
    if isinstance(typed, str):
        try:
            return parse_bytes(typed)
        except ValueError as error:
            chosen = ", or let Strider choose it: " + " or ".join(map(show, SIZE_WORDS))
            raise ValueError(f"{error}{chosen if parameter.name in SIZE_KEYS else ''}") from error
    if not _is_integer(typed):
        raise ValueError(f'{show(typed)} is not a size: write for example 4096, "4KiB", "1m" or "1.5GiB"')
    return int(typed)


def _count(_: Parameter, typed: Json) -> int:
    if not _is_integer(typed):
        raise ValueError(f"{show(typed)} is not a whole number: write for example 16")
    return int(typed)


def _seconds(_: Parameter, typed: Json) -> float:
    if isinstance(typed, str):
        return parse_seconds(typed)
    if isinstance(typed, bool) or not isinstance(typed, int | float):
        raise ValueError(f'{show(typed)} is not a time: write for example 30, "30s", "250ms" or "2min"')
    # Limits come later: a whole number may be too large to be a floating-point one.
    return float(min(typed, LARGEST_INTEGER + 1)) if isinstance(typed, int) else typed


def _flag(_: Parameter, typed: Json) -> bool:
    if not isinstance(typed, bool):
        raise ValueError(f"{show(typed)} is neither true nor false (written without quotes)")
    return typed


def _choice(parameter: Parameter, typed: Json) -> str:
    if not isinstance(typed, str) or typed not in parameter.choices:
        raise ValueError(f"{show(typed)} is not a valid value: {suggestion(str(typed), parameter.choices)}")
    return typed


def _text(_: Parameter, typed: Json) -> str:
    if not isinstance(typed, str):
        raise ValueError(f'{show(typed)} is not a string: write it in quotes, "{shortened(str(typed))}"')
    return typed


def _map(_: Parameter, typed: Json) -> dict[str, str]:
    if not isinstance(typed, dict):
        raise ValueError(f'{show(typed)} is not a table: write for example {{ name = "value" }}')
    nested = next((key for key, value in typed.items() if isinstance(value, dict | list)), None)
    if nested is not None:
        raise ValueError(f'"{nested}" must have a string as its value')
    return {key: value if isinstance(value, str) else show(value) for key, value in typed.items()}


def _sharing(_: Parameter, typed: Json) -> str | int:
    if typed in ("shared", "per-rank", "per-node") or (_is_integer(typed) and typed >= 1):
        return typed  # type: ignore[no-any-return]
    near = f": {suggestion(typed, ['shared', 'per-rank', 'per-node'])}" if isinstance(typed, str) else ""
    raise ValueError(
        f'{show(typed)} is not "shared", "per-rank", "per-node" or a number of files (at least 1){near}'
    )


def _operations(typed: Json, known: OperationNames) -> list[str]:
    names = [typed] if isinstance(typed, str) else typed
    if not isinstance(names, list) or not names:
        raise ValueError(
            'an operation or a list of operations is needed: write for example ["write", "read"]'
        )
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"{show(name)} is not the name of an operation: write it in quotes")
        if name in known.others:
            raise ValueError(known.others[name])
        if name not in known.usable:
            raise ValueError(unknown("operation", name, known.usable))
    repeated = next((name for index, name in enumerate(names) if name in names[:index]), None)
    if repeated is not None:
        raise ValueError(_repeated(repeated, names, known))
    return list(names)


def _repeated(name: str, names: list[str], known: OperationNames) -> str:
    """Why an operation may not appear twice: results do not distinguish the two phases."""
    again = f"re{name}"
    is_other = again in known.usable and again not in names
    first = f'write "{again}" for the second phase, ' if is_other else ""
    return (
        f'"{name}" appears twice, but a case has one result for each operation: {first}'
        f"{'or ' if is_other else ''}move the second phase to a [[case]] of its own"
    )


def _weights(typed: Json, known: OperationNames) -> dict[str, float]:
    """`{ stat = 60, create = 20, unlink = 20 }`: how often each operation is drawn."""
    example = "write for example { stat = 60, small-read = 25, create = 10, unlink = 5 }"
    if not isinstance(typed, dict) or not typed:
        raise ValueError(f"{show(typed)} is not a table of operations and their weights: {example}")
    for name, weight in typed.items():
        if name not in known.mixing:
            if name in known.usable or name in known.others:
                raise ValueError(f'"{name}" cannot be part of a mix: choose from {", ".join(known.mixing)}')
            raise ValueError(unknown("operation", name, known.mixing))
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not math.isfinite(weight) or weight <= 0:
            raise ValueError(
                f"{name} = {show(weight)} is not a weight: write a number above 0, or remove the operation"
            )
    return dict(typed)


def _numbers(_: Parameter, typed: Json) -> list[int]:
    """`[2048, 2048]`."""
    example = "write for example [2048, 2048]"
    if not isinstance(typed, list) or not typed:
        raise ValueError(f"{show(typed)} is not a list of whole numbers: {example}")
    wrong = next((number for number in typed if not _is_integer(number)), None)
    if wrong is not None:
        raise ValueError(f"{show(wrong)} is not a whole number: {example}")
    return list(typed)


def _levels(_: Parameter, typed: Json) -> list[list[int]]:
    """`[[16, "1MiB"], [8, "64KiB"]]`: pairs of a count and a stride; `[16, 8]`: strides that are derived."""
    example = 'write for example [[16, "1MiB"], [8, "64KiB"]]: count and stride of each level, outer first'
    if not isinstance(typed, list) or not typed:
        raise ValueError(f"{show(typed)} is not a list of levels: {example}")
    return [_level(level if isinstance(level, list) else [level], example) for level in typed]


def _level(typed: list[Json], example: str) -> list[int]:
    if len(typed) not in (1, 2) or not _is_integer(typed[0]):
        raise ValueError(f"{show(typed)} is not a level: {example}")
    strides = [parse_bytes(stride) if isinstance(stride, str) else stride for stride in typed[1:]]
    if not all(map(_is_integer, strides)):
        raise ValueError(f"{show(typed[1])} is not a stride in bytes: {example}")
    return [typed[0], *strides]


def _repetitions(_: Parameter, typed: Json) -> dict[str, Json]:
    """`3`, or `{ min = 3, max = 20, until = "5%" }`."""
    example = 'write for example 3 or { min = 3, max = 20, until = "5%" }'
    if _is_integer(typed):
        typed = {"min": typed, "max": typed}
    if not isinstance(typed, dict):
        raise ValueError(f"{show(typed)} is not a number of repetitions: {example}")
    strange = next((key for key in typed if key not in ("min", "max", "until")), None)
    if strange is not None:
        raise ValueError(unknown("key", strange, ["min", "max", "until"]))
    until = _until(typed["until"]) if "until" in typed else 0.0
    least = typed.get("min", DEFAULT_REPETITIONS)
    most = typed.get("max", max(DEFAULT_MOST_REPETITIONS, least) if until else least)
    if not _is_integer(least) or not _is_integer(most) or least < 1:
        raise ValueError(f"min and max must be whole numbers of at least 1: {example}")
    if most > LARGEST_INTEGER:
        raise ValueError(f"max = {most} is too large: at most {LARGEST_INTEGER}")
    if least > most:
        raise ValueError(f"min = {least} is larger than max = {most}: swap them")
    if until and least < 2:
        raise ValueError("until needs at least 2 repetitions: write min = 3")
    if until:
        least = max(least, min(FEWEST_UNTIL, most))
    return {"min": least, "max": most, "until": until}


def _until(typed: Json) -> float:
    if isinstance(typed, bool) or not isinstance(typed, int | float | str):
        raise ValueError(f'until: {show(typed)} is not a share: write for example "5%" or 0.05')
    try:
        share = parse_share(str(typed))
    except ValueError as error:
        raise ValueError(f"until: {error}") from error
    if share == 0:
        raise ValueError(
            f'until: {show(typed)} can never be reached: write for example "5%", or remove until'
        )
    return share


def _check_limits(parameter: Parameter, value: Json) -> None:
    if isinstance(value, list):
        for element in value:
            _check_limits(parameter, element)
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    # Check for nan, which passes both comparisons below.
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a finite number: remove the key to use its default")
    low = 0.0 if parameter.minimum is None else parameter.minimum
    if value < low:
        raise ValueError(f"{_limit(parameter, value)} is too small: at least {_limit(parameter, low)}")
    high = LARGEST_INTEGER if parameter.maximum is None else parameter.maximum
    if value > high:
        raise ValueError(f"{_limit(parameter, value)} is too large: at most {_limit(parameter, high)}")


def _limit(parameter: Parameter, value: float) -> str:
    """A number with its unit."""
    whole = int(value) if abs(value) < _EXACT and value == value // 1 else value
    if isinstance(whole, float):
        return f"{whole:g} s" if parameter.kind == "seconds" else f"{whole:g}"
    if parameter.kind == "bytes":
        return format_bytes(whole) if whole >= 0 else f"{whole} B"
    return f"{whole} s" if parameter.kind == "seconds" else str(whole)


_CONVERTERS: dict[str, Callable[[Parameter, Json], Json]] = {
    "bytes": _bytes,
    "count": _count,
    "seconds": _seconds,
    "flag": _flag,
    "choice": _choice,
    "text": _text,
    "map": _map,
    "sharing": _sharing,
    "repetitions": _repetitions,
    "numbers": _numbers,
    "levels": _levels,
    "port": _count,
    **dict.fromkeys(NAMED_PLACES, _text),
}
