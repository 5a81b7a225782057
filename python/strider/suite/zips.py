"""Changes of keys that stand in a `zip`: its steps stay together, or the change is refused."""

from collections.abc import Iterator

from strider.engine import Json
from strider.units import in_bytes

Zip = dict[str, list[Json]]
"""The lists of a `zip` by key, such as `clients` or `mpiio.method`."""


def lists_of(table: dict[str, Json]) -> Zip:
    """Returns the lists in the `zip` of a case; other values are left to the reader of the axes."""
    zipped = table.get("zip")
    return dict(_lists(zipped, "")) if isinstance(zipped, dict) else {}


def _lists(table: dict[str, Json], prefix: str) -> Iterator[tuple[str, list[Json]]]:
    for key, value in table.items():
        if isinstance(value, list):
            yield prefix + key, value
        elif isinstance(value, dict) and not prefix:
            yield from _lists(value, f"{key}.")


def changed(zipped: Zip, given: dict[str, Json]) -> Zip:
    """Returns the lists of a `zip` with some of them replaced.

    With values for all keys, these are the new steps; a single value is that of each step. Otherwise values
    of the suite select its steps, and as many values as there are steps replace those in the suite.

    Args:
        zipped: The lists in the suite.
        given: Values of the command line, of keys in the `zip`.

    Raises:
        ValueError: The remaining keys have no values for the given ones; the message names a remedy.
    """
    values = {key: _values(value, zipped[key]) for key, value in given.items()}
    steps = max(map(len, zipped.values()))
    others = [key for key in zipped if key not in given]
    if not others:
        longest = max(map(len, values.values()))
        return {key: new * longest if len(new) == 1 else new for key, new in values.items()}
    result, kept = dict(zipped), set(range(steps))
    for key, new in values.items():
        found = {
            index for index, old in enumerate(zipped[key]) if any(in_bytes(old) == in_bytes(v) for v in new)
        }
        if all(any(in_bytes(old) == in_bytes(v) for old in zipped[key]) for v in new):
            kept &= found
        elif len(new) == steps:
            result[key] = new
        else:
            raise ValueError(_refusal(key, zipped[key], steps, others))
    if not kept:
        raise ValueError(f"no step of the zip has all of {', '.join(values)}: {_as_well(others)}")
    return {key: [value for index, value in enumerate(old) if index in kept] for key, old in result.items()}


def _values(given: Json, old: list[Json]) -> list[Json]:
    """Returns the values, one for a step; a list stands for one value where the values are lists."""
    are_lists = any(isinstance(value, list) for value in old)
    if isinstance(given, list) and (not are_lists or any(isinstance(value, list) for value in given)):
        return given
    return [given]


def _refusal(key: str, old: list[Json], steps: int, others: list[str]) -> str:
    known = ", ".join(dict.fromkeys(str(value) for value in old))
    return (
        f'"{key}" stands in a zip with {_names(others)}, {steps} steps: give values of the suite ({known}), '
        f"or {steps} values, or {_as_well(others)}"
    )


def _as_well(others: list[str]) -> str:
    return f"set {_names(others)} as well"


def _names(keys: list[str]) -> str:
    return " and ".join(f'"{key}"' for key in keys)
