"""What a run measures beside its cases."""

from dataclasses import dataclass, field
from typing import Literal, Self, cast, get_args

from strider.errors import StriderError
from strider.launch.observers import Observing

CounterScope = Literal["none", "basic", "all"]
CeilingScope = Literal["none", "all"]


@dataclass(frozen=True)
class Beside:
    """What a run measures beside its cases.

    Attributes:
        counters: What each node counts around each phase.
        ceilings: Whether the machine's ceilings are measured before the first case.
        observing: Which other machines are observed.
    """

    counters: CounterScope = "all"
    ceilings: CeilingScope = "all"
    observing: Observing = field(default_factory=Observing)

    @classmethod
    def of(cls, counters: str, ceilings: str, observing: Observing) -> Self:
        """The scopes as typed.

        Raises:
            StriderError: There is no such choice.
        """
        return cls(
            cast(CounterScope, _chosen("--counters", counters, get_args(CounterScope))),
            cast(CeilingScope, _chosen("--ceilings", ceilings, get_args(CeilingScope))),
            observing,
        )


def _chosen(option: str, text: str, choices: tuple[str, ...]) -> str:
    if text in choices:
        return text
    raise StriderError(f'unknown {option} "{text}": one of {", ".join(choices)}')
