"""The engine's description of the parameters of a run: kinds, which imply units, and defaults.

A run directory holds it as `description.json` (docs/formats.md, section 4). Kinds that this Strider does not
know are read as they are, like all additions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from strider.store.values import Word

_Amount = Annotated[float, Field(ge=0, lt=1e18, allow_inf_nan=False)]
_KINDS: Mapping[str, Any] = {
    **dict.fromkeys(("bytes", "count", "port"), Word),
    **dict.fromkeys(("choice", "text", "file", "config", "directory", "path", "host", "url"), str),
    **dict.fromkeys(("volume", "pool", "user"), str),
    "seconds": _Amount,
    "flag": bool,
    "operations": list[str],
    "repetitions": Word | dict[str, _Amount],
    "map": dict[str, str],
    "sharing": str | Word,
    "numbers": list[Word],
    "weights": dict[str, _Amount],
    "levels": list[Word | list[Word]],
}
"""Meaning of the values of a kind (docs/formats.md, section 1)."""


@cache
def _values_of(kind: str) -> TypeAdapter[Any]:
    return TypeAdapter(_KINDS.get(kind, Any) | None, config=ConfigDict(strict=True))


class Parameter(BaseModel):
    """A parameter: what its values are, and which one the engine takes by itself."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: str
    default: Any = None

    def takes(self, value: object) -> bool:
        """Whether a plan may have the value; any for a kind that this Strider does not know."""
        try:
            _values_of(self.kind).validate_python(value)
        except ValidationError:
            return False
        return True


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
