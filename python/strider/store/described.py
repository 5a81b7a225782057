"""The engine's description of the parameters of a run: kinds, which imply units, and defaults.

A run directory holds it as `description.json` (docs/formats.md, section 4). Kinds that this Strider does not
know are read as they are, like all additions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 64


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value < 1e18  # type: ignore[operator]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object, fits: Callable[[object], bool]) -> bool:
    return isinstance(value, list) and all(map(fits, value))


def _is_map(value: object, fits: Callable[[object], bool]) -> bool:
    return isinstance(value, dict) and all(map(fits, value.values()))


_FITS: Mapping[str, Callable[[object], bool]] = {
    **dict.fromkeys(("bytes", "count", "port"), _is_count),
    **dict.fromkeys(("choice", "text", "file", "config", "directory", "path", "host", "url"), _is_text),
    **dict.fromkeys(("volume", "pool", "user"), _is_text),
    "seconds": _is_number,
    "flag": lambda value: type(value) is bool,
    "operations": lambda value: _is_list(value, _is_text),
    "repetitions": lambda value: _is_count(value) or _is_map(value, _is_number),
    "map": lambda value: _is_map(value, _is_text),
    "sharing": lambda value: _is_text(value) or _is_count(value),
    "numbers": lambda value: _is_list(value, _is_count),
    "weights": lambda value: _is_map(value, _is_number),
    "levels": lambda value: _is_list(value, lambda level: _is_count(level) or _is_list(level, _is_count)),
}
"""Meaning of the values of a kind (docs/formats.md, section 1)."""


class Parameter(BaseModel):
    """A parameter: what its values are, and which one the engine takes by itself."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: str
    default: Any = None

    def takes(self, value: object) -> bool:
        """Whether a plan may have the value; any for a kind that this Strider does not know."""
        fits = _FITS.get(self.kind)
        return value is None or fits is None or fits(value)


class _Owner(BaseModel):
    """An interface, pattern or tree."""

    name: str
    parameters: list[Parameter] = []


class _Interface(_Owner):
    """An interface with its capabilities, by name; empty in runs of version 0.1.0 and before."""

    capabilities: dict[str, bool | list[str]] = {}


class Description(BaseModel):
    """The engine's description (docs/formats.md, section 1), as far as a run needs it."""

    interfaces: list[_Interface] = []
    patterns: list[_Owner] = []
    trees: list[_Owner] = []
    case: list[Parameter] = []
    tree_case: list[Parameter] = []

    def of(self, owners: Literal["interfaces", "patterns", "trees"], name: str) -> Mapping[str, Parameter]:
        """The parameters of an interface, pattern or tree by name; none of an unknown one."""
        known: list[_Owner] = getattr(self, owners)
        return by_name(next((one.parameters for one in known if one.name == name), []))

    def is_collective(self, interface: str) -> bool:
        """Whether the interface transfers data by collective MPI calls; False for an unknown one."""
        return any(one.name == interface and one.capabilities.get("collective") for one in self.interfaces)


def by_name(parameters: list[Parameter]) -> dict[str, Parameter]:
    """Parameters by name."""
    return {one.name: one for one in parameters}


@lru_cache(maxsize=1)
def older_description() -> Description:
    """The description of runs that hold none: those of version 0.1.0 and before, which never change."""
    text = files("strider.store").joinpath("description-0.1.0.json").read_text(encoding="utf-8")
    return Description.model_validate_json(text)
