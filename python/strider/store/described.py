"""What the engine of a run said of its parameters: kinds, which imply units, and defaults.

A run directory holds it as `description.json` (docs/formats.md, section 4). Kinds that this Strider does not
know are read as they are, like all additions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Parameter(BaseModel):
    """A parameter: what its values are, and which one the engine takes by itself."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: str
    default: Any = None


class _Owner(BaseModel):
    """An interface, pattern or tree."""

    name: str
    parameters: list[Parameter] = []


class _Interface(_Owner):
    """An interface with what it can do, by name; empty in runs of version 0.1.0 and before."""

    capabilities: dict[str, bool | list[str]] = {}


class Description(BaseModel):
    """What an engine said (docs/formats.md, section 1), as far as a run needs it."""

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
