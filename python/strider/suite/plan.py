"""The plan: all cases in full, the engine's input (docs/formats.md, section 2).

A plan does not depend on time, host or user: the same suite always gives the same plan, byte for byte.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from strider.engine import Json, to_json


class Repetitions(BaseModel):
    """How often a case runs: `min` times, then until its interval is narrow enough, at most `max` times."""

    min: int
    max: int
    until: float = 0.0


class PlannedCase(BaseModel):
    """One combination of parameters; the description's further common parameters are in `model_extra`.

    Attributes:
        pattern: `name` and parameters of the pattern; empty for a case of metadata.
        tree: `name` and parameters of the tree; empty for a case of data.
    """

    model_config = ConfigDict(extra="allow")

    case: int
    name: str = ""
    clients: int
    interface: dict[str, Json]
    pattern: dict[str, Json] = {}
    tree: dict[str, Json] = {}
    operations: list[str]
    repetitions: Repetitions

    @property
    def shape(self) -> dict[str, Json]:
        """The pattern or the tree."""
        return self.tree or self.pattern

    @property
    def turn(self) -> int:
        """Number of the turn in which cases of several groups run at the same time; 0: it runs alone."""
        return int((self.get("turn") or {}).get("number", 0))

    @model_serializer(mode="wrap")
    def _one_shape(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Json]:
        """A plan has the key `pattern` or the key `tree`, never both."""
        document: dict[str, Json] = serialize(self)
        return {key: value for key, value in document.items() if key not in ("pattern", "tree") or value}

    def get(self, parameter: str, otherwise: Json = None) -> Json:
        """Value of a further common parameter such as `order`; `otherwise` where the engine decides."""
        return (self.model_extra or {}).get(parameter, otherwise)


class SuiteTitle(BaseModel):
    """The name of the suite."""

    name: str
    description: str = ""


class Plan(BaseModel):
    """All cases of a suite and how they are run."""

    format: Literal["strider-plan"] = "strider-plan"
    version: Literal[1] = 1
    suite: SuiteTitle
    target: str
    ranks: int
    ranks_per_node: int = 0
    seed: int = 1
    scale_down: int = 1
    interleave: Literal["random", "none"] = "random"
    stall_timeout_s: float = 600.0
    time_limit_s: float = 0.0
    cases: list[PlannedCase]

    def to_json(self) -> str:
        """The plan file's text."""
        return to_json(self.model_dump())
