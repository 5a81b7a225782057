"""What is known of a run while it runs, from its events so far."""

import time
from collections import deque
from dataclasses import dataclass, field

from strider.launch.tail import Event
from strider.launch.watching import CeilingScope
from strider.units import MIB

RECENT = 8
"""As many phases that are done are kept to be shown."""


@dataclass(frozen=True)
class CurrentPhase:
    """The phase that runs, or the one that was done last.

    Attributes:
        case: Number of its case.
        operation: Its operation.
        bytes_done: Bytes moved so far.
        bytes_total: Bytes that it moves in all.
        requests_done: Requests made so far.
        requests_total: Requests that it makes in all.
        rate_mib_s: Rate so far; None before anything is known.
        requests_s: Requests per second so far; likewise.
    """

    case: int
    operation: str
    bytes_done: int
    bytes_total: int
    requests_done: int
    requests_total: int
    rate_mib_s: float | None
    requests_s: float | None

    @property
    def share(self) -> float:
        """Share that is done, 0 to 1: of the bytes, or of the requests where no bytes are moved."""
        counts = ((self.bytes_done, self.bytes_total), (self.requests_done, self.requests_total))
        return next((min(1.0, done / total) for done, total in counts if total), 0.0)


@dataclass
class RunState:
    """The state of a run.

    Attributes:
        planned_phases: Number of phases that the run has, as far as the plan tells.
        ceilings: Whether the machine's ceilings are measured before the first case.
        last_event: When the latest event was seen, or the run was started, in seconds of the monotonic clock.
        started: When the first event was seen; None before.
        current: The phase that runs.
        recent: The phases that were done last, the latest one at the end.
        case: The case that was begun last; 0 before the first.
        samples: Number of phases measured, the warm-up included.
        errors: The `error` events.
        end: The `end` event.
        confinement: What the `run` event says of the ranks' confinement; empty before.
    """

    planned_phases: int
    ceilings: CeilingScope = "none"
    last_event: float = field(default_factory=time.monotonic)
    started: float | None = None
    current: CurrentPhase | None = None
    recent: deque[CurrentPhase] = field(default_factory=lambda: deque(maxlen=RECENT))
    samples: int = 0
    errors: list[Event] = field(default_factory=list)
    end: Event | None = None
    confinement: Event = field(default_factory=dict)
    case: int = 0
    _part: float = 0.0

    def add(self, event: Event) -> None:
        """Takes an event into account."""
        self.last_event = time.monotonic()
        self.started = self.started or self.last_event
        match event["event"]:
            case "run":
                self.confinement = event.get("confinement") or {}
            case "case":
                self.case = event["case"]
            case "progress":
                self._add_progress(event)
            case "sample":
                self._add_sample(event)
            case "error":
                self.errors.append(event)
            case "end":
                self.end = event

    def _add_progress(self, event: Event) -> None:
        elapsed_s = event["elapsed_s"]
        bytes_done, requests_done = event["bytes_done"], event.get("requests_done", 0)
        self.planned_phases = event["planned_phases"]
        self.current = CurrentPhase(
            case=event["case"],
            operation=event["operation"],
            bytes_done=bytes_done,
            bytes_total=event["bytes_total"],
            requests_done=requests_done,
            requests_total=event.get("requests_total", 0),
            rate_mib_s=bytes_done / elapsed_s / MIB if elapsed_s else None,
            requests_s=requests_done / elapsed_s if elapsed_s else None,
        )
        self._part = self.current.share

    def _add_sample(self, event: Event) -> None:
        self.current = CurrentPhase(
            case=event["case"],
            operation=event["operation"],
            bytes_done=event["bytes"],
            bytes_total=event["bytes"],
            requests_done=event.get("requests", 0),
            requests_total=event.get("requests", 0),
            rate_mib_s=event["rate_mib_s"],
            requests_s=event.get("requests_s"),
        )
        self.recent.append(self.current)
        self._part = 0.0
        self.samples += bool(event["measured"])
        # Repetitions until an interval is narrow enough may be more than the fewest.
        self.planned_phases = max(self.planned_phases, self.samples)

    @property
    def stage(self) -> str:
        """What goes on before the first phase, in words."""
        if self.started is None:
            return "starting the ranks …"
        if self.ceilings == "all" and not self.case:
            return "measuring what memory, processors and devices of this machine can do, a few seconds …"
        return "preparing …"

    @property
    def fraction(self) -> float:
        """Estimated share of the run that is done, 0 to 1."""
        if self.end:
            return 1.0
        return min(1.0, (self.samples + self._part) / max(1, self.planned_phases))

    @property
    def elapsed_s(self) -> float:
        """Seconds since the first event."""
        return time.monotonic() - self.started if self.started else 0.0

    @property
    def left_s(self) -> float | None:
        """Estimated seconds that are left: as if the phases to come took as long as those so far."""
        fraction = self.fraction
        return self.elapsed_s * (1 - fraction) / fraction if fraction > 0.01 else None
