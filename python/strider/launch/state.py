"""What is known of a run while it runs, from its events so far."""

import time
from dataclasses import dataclass, field

from strider.launch.tail import Event


@dataclass
class RunState:
    """The state of a run.

    Attributes:
        started: When the first event was seen, in seconds of the monotonic clock; None before.
        last_event: When the latest event was seen, or the run was started.
        run: The `run` event.
        progress: The latest `progress` event.
        samples: Number of phases measured.
        done_phases: Number of phases done, measured or not.
        errors: The `error` events.
        end: The `end` event.
    """

    last_event: float = field(default_factory=time.monotonic)
    started: float | None = None
    run: Event | None = None
    progress: Event | None = None
    samples: int = 0
    done_phases: int = 0
    errors: list[Event] = field(default_factory=list)
    end: Event | None = None

    def add(self, event: Event) -> None:
        """Takes an event into account."""
        self.last_event = time.monotonic()
        self.started = self.started or self.last_event
        match event["event"]:
            case "run":
                self.run = event
            case "progress":
                self.progress = event
                self.done_phases = max(self.done_phases, int(event["done_phases"]))
            case "sample":
                self.samples += bool(event["measured"])
            case "error":
                self.errors.append(event)
            case "end":
                self.end = event

    @property
    def fraction(self) -> float:
        """Estimated share of the run that is done, 0 to 1."""
        if self.end:
            return 1.0
        if not self.progress:
            return 0.0
        phases, total = self.progress["planned_phases"], self.progress["bytes_total"]
        part = min(1.0, self.progress["bytes_done"] / total) if total else 0.0
        return float(min(1.0, (self.progress["done_phases"] + part) / max(1, phases)))

    @property
    def elapsed_s(self) -> float:
        """Seconds since the first event."""
        return time.monotonic() - self.started if self.started else 0.0

    @property
    def left_s(self) -> float | None:
        """Estimated seconds that are left: as if the phases to come took as long as those so far."""
        fraction = self.fraction
        return self.elapsed_s * (1 - fraction) / fraction if fraction > 0.01 else None

    @property
    def rate_mib_s(self) -> float | None:
        """Rate within the current phase, in MiB/s."""
        if not self.progress or not self.progress["elapsed_s"]:
            return None
        return float(self.progress["bytes_done"] / self.progress["elapsed_s"] / (1 << 20))
