"""The keys a suite may use: those of the description, and the few that are the front end's own."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from strider.engine import Description, Interface, Parameter, Pattern

SUITE_NAME = r"[A-Za-z0-9._-]{1,64}"

SUITE_PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            name="name", kind="text", doc="Name of the suite; part of the names of its runs.", required=True
        ),
        Parameter(name="description", kind="text", default="", doc="What the suite is for."),
        Parameter(name="target", kind="text", doc="Directory that is measured; --target overrides it."),
        Parameter(
            name="seed", kind="count", default=1, doc="Fixes every random choice; also the cases' seed."
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
            doc="A phase without progress for so long fails.",
        ),
        Parameter(
            name="ranks_per_node",
            kind="count",
            default=0,
            doc="0: nodes as MPI reports them; n: ranks 0 to n-1 count as the first node and so on.",
        ),
    )
}
"""Keys of `[suite]` that are not defaults for the cases."""


@dataclass(frozen=True)
class Selection:
    """The interfaces and patterns that a case uses, over all that is crossed.

    Attributes:
        interfaces: Names of the interfaces that exist.
        patterns: Names of the patterns that exist.
        doubtful: Whether one is missing or does not exist; what other keys mean cannot be told then.
    """

    interfaces: list[str]
    patterns: list[str]
    doubtful: bool = False


@dataclass
class Vocabulary:
    """Look-ups in a description.

    Attributes:
        interfaces: Interfaces by name.
        patterns: Patterns by name.
        common: Parameters that every case has, by name.
        operations: Names of the operations.
    """

    interfaces: dict[str, Interface] = field(default_factory=dict)
    patterns: dict[str, Pattern] = field(default_factory=dict)
    common: dict[str, Parameter] = field(default_factory=dict)
    operations: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, description: Description) -> "Vocabulary":
        """The vocabulary of an engine."""
        return cls(
            {interface.name: interface for interface in description.interfaces},
            {pattern.name: pattern for pattern in description.patterns},
            {parameter.name: parameter for parameter in description.case},
            [operation.name for operation in description.operations],
        )

    def option(self, interface: str, name: str) -> Parameter | None:
        """An option of an interface."""
        return _find(self.interfaces[interface].parameters, name) if interface in self.interfaces else None

    def pattern_parameter(self, pattern: str, name: str) -> Parameter | None:
        """A parameter of a pattern."""
        return _find(self.patterns[pattern].parameters, name) if pattern in self.patterns else None

    def patterns_with(self, name: str) -> list[str]:
        """Patterns that have a parameter of that name."""
        return [pattern for pattern in self.patterns if self.pattern_parameter(pattern, name)]

    def interfaces_with(self, name: str) -> list[str]:
        """Interfaces that have an option of that name."""
        return [interface for interface in self.interfaces if self.option(interface, name)]

    def case_keys(self) -> list[str]:
        """Every key that may stand in a `[[case]]`."""
        pattern_keys = [p.name for pattern in self.patterns.values() for p in pattern.parameters]
        return list(
            dict.fromkeys(
                ["name", "interface", "pattern", *self.common, *pattern_keys, *self.interfaces, "zip"]
            )
        )

    def parameter(self, key: str, interface: str, pattern: str) -> Parameter | None:
        """The parameter that a key such as `transfer` or `posix.direct` means; None if there is none."""
        owner, dot, option = key.partition(".")
        if dot:
            return self.option(owner, option) if owner == interface else None
        return self.common.get(key) or self.pattern_parameter(pattern, key)


def _find(parameters: Iterable[Parameter], name: str) -> Parameter | None:
    return next((parameter for parameter in parameters if parameter.name == name), None)
