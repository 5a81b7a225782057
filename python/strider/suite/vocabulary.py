"""The keys of a suite: those of the engine's description, and a few of the front end."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

from strider.engine import Description, Interface, Operation, Parameter, Pattern, Tree

ShapeKey = Literal["pattern", "tree"]
SHAPE_KEYS: tuple[ShapeKey, ...] = ("pattern", "tree")
"""A case names exactly one of them."""

Entry = TypeVar("Entry", Interface, Operation, Parameter, Pattern, Tree)

SUITE_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
MOST_RANKS = 1 << 24
"""Ranks of a plan at most, as in the engine (foundation/parameter.hpp)."""

SUITE_PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter(name="name", kind="text", doc="Name of the suite; part of its run ids.", required=True),
        Parameter(name="description", kind="text", default="", doc="Purpose of the suite."),
        Parameter(
            name="target",
            kind="directory",
            doc="Directory to measure, or a list of several; --target overrides it.",
        ),
        Parameter(
            name="seed", kind="count", default=1, doc="Seed of all random choices; default seed of the cases."
        ),
        Parameter(
            name="scale_down",
            kind="count",
            default=1,
            minimum=1,
            maximum=1 << 30,
            doc="Divisor of all sizes of patterns and trees, and of settle, to fit a smaller machine.",
        ),
        Parameter(
            name="interleave",
            kind="choice",
            default="random",
            choices=["random", "none"],
            doc="random: repetitions of different cases alternate in random order; none: case after case.",
        ),
        Parameter(
            name="stall_timeout",
            kind="seconds",
            default=600.0,
            minimum=1,
            doc="Time limit of a phase without progress.",
        ),
        Parameter(
            name="time_limit",
            kind="seconds",
            default=0.0,
            minimum=0,
            doc="Time limit of the run: a repetition that would end later does not begin, judged by the "
            "mean of the earlier ones of its case; 0: none.",
        ),
        Parameter(
            name="ranks_per_node",
            kind="count",
            default=0,
            maximum=MOST_RANKS,
            doc="0: nodes as reported by MPI; n: treat each n consecutive ranks as a node.",
        ),
    )
}
"""Keys of `[suite]` that are not defaults for the cases."""


@dataclass(frozen=True)
class Workload:
    """The vocabulary of data cases or of metadata cases.

    Attributes:
        key: The key that makes a case one of them: `pattern` or `tree`.
        noun: What such cases are of: `data` or `metadata`.
        shapes: The patterns or the trees by name.
        common: Parameters that every such case has, by name.
        operations: The operations that such a case may have, by name.
    """

    key: ShapeKey
    noun: Literal["data", "metadata"]
    shapes: dict[str, Pattern] | dict[str, Tree]
    common: dict[str, Parameter]
    operations: dict[str, Operation]

    def shape_parameter(self, shape: str, name: str) -> Parameter | None:
        """A parameter of a pattern or tree."""
        return _find(self.shapes[shape].parameters, name) if shape in self.shapes else None

    def shapes_with(self, name: str) -> list[str]:
        """Patterns or trees that have a parameter of that name."""
        return [shape for shape in self.shapes if self.shape_parameter(shape, name)]

    def parameters_of_shapes(self) -> list[str]:
        """Names of the parameters of all patterns or trees."""
        return [parameter.name for shape in self.shapes.values() for parameter in shape.parameters]


@dataclass(frozen=True)
class Selection:
    """The interfaces and the patterns or trees that a case uses, over all that is crossed.

    Attributes:
        workload: Whether it is a case of data or of metadata.
        interfaces: Names of the interfaces that exist.
        shapes: Names of the patterns or trees that exist.
        doubtful: Whether one is missing or does not exist; the meaning of other keys is unknown then.
    """

    workload: Workload
    interfaces: list[str]
    shapes: list[str]
    doubtful: bool = False


@dataclass(frozen=True)
class Vocabulary:
    """Look-ups in a description.

    Attributes:
        interfaces: Interfaces by name.
        data: What belongs to cases with a pattern.
        metadata: What belongs to cases with a tree.
    """

    interfaces: dict[str, Interface]
    data: Workload
    metadata: Workload

    @classmethod
    def of(cls, description: Description) -> "Vocabulary":
        """The vocabulary of an engine."""
        operations = _named(description.operations)
        of_metadata = {name: one for name, one in operations.items() if one.direction == "metadata"}
        of_data = {name: one for name, one in operations.items() if name not in of_metadata}
        common, tree_common = _named(description.case), _named(description.tree_case)
        return cls(
            _named(description.interfaces),
            Workload("pattern", "data", _named(description.patterns), common, of_data),
            Workload("tree", "metadata", _named(description.trees), tree_common, of_metadata),
        )

    @property
    def workloads(self) -> tuple[Workload, Workload]:
        """Data and metadata."""
        return self.data, self.metadata

    def workload(self, key: ShapeKey) -> Workload:
        """What belongs to the cases that name a `pattern` or a `tree`."""
        return self.data if key == "pattern" else self.metadata

    def option(self, interface: str, name: str) -> Parameter | None:
        """An option of an interface."""
        return _find(self.interfaces[interface].parameters, name) if interface in self.interfaces else None

    def interfaces_with(self, name: str) -> list[str]:
        """Interfaces that have an option of that name."""
        return [interface for interface in self.interfaces if self.option(interface, name)]

    def common_keys(self) -> list[str]:
        """Names of the parameters that every case of data or every case of metadata has."""
        return list(dict.fromkeys(name for workload in self.workloads for name in workload.common))

    def case_keys(self) -> list[str]:
        """Every key that may stand in a `[[case]]`."""
        of_shapes = [name for workload in self.workloads for name in workload.parameters_of_shapes()]
        keys = ["name", "interface", *SHAPE_KEYS, *self.common_keys(), *of_shapes, *self.interfaces, "zip"]
        return list(dict.fromkeys(keys))

    def parameter(self, key: str, workload: Workload, interface: str, shape: str) -> Parameter | None:
        """The parameter that a key such as `transfer` or `posix.direct` means; None if there is none."""
        owner, dot, option = key.partition(".")
        if dot:
            return self.option(owner, option) if owner == interface else None
        return workload.common.get(key) or workload.shape_parameter(shape, key)


def _named(entries: Iterable[Entry]) -> dict[str, Entry]:
    return {entry.name: entry for entry in entries}


def _find(parameters: Iterable[Parameter], name: str) -> Parameter | None:
    return next((parameter for parameter in parameters if parameter.name == name), None)
