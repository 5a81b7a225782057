"""Records besides the results: counters, timelines, machine ceilings, rows of all ranks, other machines."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar, get_args

from strider.errors import StriderError
from strider.launch.observers import Observing
from strider.units import parse_seconds

CounterScope = Literal["none", "basic", "all"]
TimelineScope = Literal["none", "node", "rank", "auto"]
CeilingScope = Literal["none", "all"]
_Choice = TypeVar("_Choice", bound=str)

SHORTEST_INTERVAL_S = 0.001
LONGEST_INTERVAL_S = 3600.0


@dataclass(frozen=True)
class Watching:
    """Records besides the results.

    Attributes:
        counters: Node counters recorded in each phase.
        timeline: Timelines to record: of each rank, of each node, or of each rank only in small cases.
        timeline_interval_s: Initial timeline interval in seconds.
        ceilings: Whether the machine's ceilings are measured before the first case.
        observing: Other machines to observe.
        per_rank: File for the rows of all ranks in each phase, absolute; None: none.
    """

    counters: CounterScope = "all"
    timeline: TimelineScope = "auto"
    timeline_interval_s: float = 0.1
    ceilings: CeilingScope = "all"
    observing: Observing = field(default_factory=Observing)
    per_rank: Path | None = None

    def words(self) -> list[str]:
        """Returns the options for the engine."""
        return [
            "--counters",
            self.counters,
            "--timeline",
            self.timeline,
            "--timeline-interval",
            f"{self.timeline_interval_s:.9f}",
            "--ceilings",
            self.ceilings,
            *self.per_rank_words(),
        ]

    def per_rank_words(self) -> list[str]:
        """Returns the option of the engine for the rows of all ranks."""
        return ["--per-rank", str(self.per_rank)] if self.per_rank else []


def watching(
    *,
    counters: str,
    timeline: str,
    timeline_interval: str,
    ceilings: str = "all",
    observing: Observing | None = None,
    per_rank: Path | None = None,
) -> Watching:
    """Parses the options for records.

    Raises:
        StriderError: A value is unknown, or the interval is not between 1 ms and an hour.
    """
    counter_scopes: tuple[CounterScope, ...] = get_args(CounterScope)
    timeline_scopes: tuple[TimelineScope, ...] = get_args(TimelineScope)
    ceiling_scopes: tuple[CeilingScope, ...] = get_args(CeilingScope)
    return Watching(
        _choice("--counters", counters, counter_scopes),
        _choice("--timeline", timeline, timeline_scopes),
        _interval(timeline_interval),
        _choice("--ceilings", ceilings, ceiling_scopes),
        observing or Observing(),
        per_rank.expanduser().absolute() if per_rank else None,
    )


def _choice(option: str, text: str, choices: tuple[_Choice, ...]) -> _Choice:
    for choice in choices:
        if choice == text:
            return choice
    raise StriderError(f'unknown {option} "{text}": choose one of {", ".join(choices)}')


def _interval(text: str) -> float:
    try:
        seconds = parse_seconds(text)
    except ValueError as error:
        raise StriderError(f"--timeline-interval: {error}") from None
    if not SHORTEST_INTERVAL_S <= seconds <= LONGEST_INTERVAL_S:
        raise StriderError(f"--timeline-interval {text}: must be between 1 ms and 1 hour, for example 100ms")
    return seconds
