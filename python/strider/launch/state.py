"""The state of an active run, from its events so far."""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from strider.launch.watching import CeilingScope
from strider.store.checked_events import Event
from strider.units import MIB

RECENT = 8
"""Number of completed phases kept for display."""
_PREFILL = "prefill"
"""Phase that creates files; it has no deadline."""


@dataclass(frozen=True)
class CurrentPhase:
    """The current or last completed phase.

    Attributes:
        case: Number of its case.
        operation: Its operation.
        bytes_done: Bytes moved so far.
        bytes_total: Total bytes; with a deadline, those expected until then.
        requests_done: Requests made so far.
        requests_total: Total requests; with a deadline, those expected until then.
        rate_mib_s: Rate so far; None if unknown.
        requests_s: Requests per second so far; None if unknown.
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
        """Completed share, 0 to 1: of the bytes, or of the requests if no bytes are transferred."""
        counts = ((self.bytes_done, self.bytes_total), (self.requests_done, self.requests_total))
        return next((min(1.0, done / total) for done, total in counts if total), 0.0)


@dataclass(frozen=True)
class Unanswered:
    """Nodes that do not answer while others do.

    Attributes:
        nodes: Their names.
        reason: In the words of the launcher; empty: they did not answer in time.
    """

    nodes: Sequence[str]
    reason: str = ""


@dataclass(frozen=True)
class FirstEnd:
    """The rank on this host that ended first.

    Attributes:
        pid: Its process id.
        status: Its wait status; None if unknown.
        among: Process ids of all ranks on this host.
    """

    pid: int
    status: int | None
    among: frozenset[int]


@dataclass
class RunState:
    """The state of a run.

    Attributes:
        planned_phases: Number of phases of the plan; a minimum if repetitions are open.
        ceilings: Whether the machine's ceilings are measured before the first case.
        time_limit_s: Time limit of the run; 0 without one.
        deadlines: Deadline of the phases in seconds, by case number; 0 for none.
        together: By case number, the cases of its turn, where groups measure at the same time.
        last_event: Time of the latest event or of the start, in seconds of the monotonic clock.
        last_progress: Time of the latest event that shows progress, likewise.
        started: Time of the first event; None before.
        current: The current phase.
        recent: The last completed phases, latest last.
        case: The last started case; 0 before the first.
        samples: Number of phases measured, including warm-up.
        errors: The `error` events.
        end: The `end` event.
        confinement: Confinement from the `run` event; empty before.
        data_sets: The last `data_set` event of each data set, by name.
        wrong_cases: Numbers of the cases in which wrong data was read.
        nodes: The nodes of the `run` event; empty before.
        unanswered: Nodes that do not answer; None if none was found.
        first_end: The rank on this host that ended first; None if none did, or if it is unknown.
    """

    planned_phases: int
    ceilings: CeilingScope = "none"
    time_limit_s: float = 0.0
    deadlines: Mapping[int, float] = field(default_factory=dict)
    together: Mapping[int, Sequence[int]] = field(default_factory=dict)
    last_event: float = field(default_factory=time.monotonic)
    last_progress: float = field(default_factory=time.monotonic)
    started: float | None = None
    current: CurrentPhase | None = None
    recent: deque[CurrentPhase] = field(default_factory=lambda: deque(maxlen=RECENT))
    samples: int = 0
    errors: list[Event] = field(default_factory=list)
    end: Event | None = None
    confinement: Event = field(default_factory=dict)
    data_sets: dict[str, Event] = field(default_factory=dict)
    wrong_cases: set[int] = field(default_factory=set)
    nodes: list[Event] = field(default_factory=list)
    unanswered: Unanswered | None = None
    first_end: FirstEnd | None = None
    case: int = 0
    _part: float = 0.0
    _before: float = 0.0

    def add(self, event: Event) -> None:
        """Updates the state with an event, which `Tail` has checked."""
        self.last_event = time.monotonic()
        if event["event"] != "progress" or not self._is_as_before(event):
            self.last_progress = self.last_event
        self.started = self.started or self.last_event
        match event["event"]:
            case "run":
                self.confinement = event.get("confinement") or {}
                self.nodes = event.get("nodes") or []
                # Of a resumed run, the phases so far were done before.
                self.case, self.current, self._part = 0, None, 0.0
                self._before = self._of_phases
            case "case":
                self.case = event["case"]
            case "progress":
                self._add_progress(event)
            case "sample":
                self._add_sample(event)
            case "data_set":
                self.data_sets[event["data_set"]] = event
            case "error":
                self.errors.append(event)
            case "end":
                self.end = event

    def _is_as_before(self, event: Event) -> bool:
        """Returns whether a `progress` event of the current phase has the amounts of the one before."""
        before = self.current
        return (
            before is not None
            and before not in self.recent
            and (before.case, before.operation) == (event["case"], event["operation"])
            and before.bytes_done == event["bytes_done"]
            and before.requests_done == event.get("requests_done", 0)
        )

    def _add_progress(self, event: Event) -> None:
        elapsed_s = event["elapsed_s"]
        bytes_done, requests_done = event["bytes_done"], event.get("requests_done", 0)
        bytes_total, requests_total = event["bytes_total"], event.get("requests_total", 0)
        deadline_s = self.deadlines.get(event["case"], 0.0) if event["operation"] != _PREFILL else 0.0
        if deadline_s and elapsed_s:
            # The repetitions that fit into the deadline at the present rate.
            grows = max(1.0, deadline_s / elapsed_s)
            bytes_total = int(min(bytes_total, bytes_done * grows))
            requests_total = int(min(requests_total, requests_done * grows))
        self.planned_phases = event["planned_phases"]
        self.current = CurrentPhase(
            case=event["case"],
            operation=event["operation"],
            bytes_done=bytes_done,
            bytes_total=bytes_total,
            requests_done=requests_done,
            requests_total=requests_total,
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
        if not event.get("valid", True):
            self.wrong_cases.add(event["case"])
        # Repetitions until an interval is narrow enough may exceed the minimum.
        self.planned_phases = max(self.planned_phases, self.samples)

    @property
    def stage(self) -> str:
        """Returns a description of the work before the first phase."""
        if self.started is None:
            return "starting the ranks …"
        if self.ceilings == "all" and not self.case:
            return "measuring the machine ceilings (memory, processors, devices), a few seconds …"
        return "preparing …"

    @property
    def fraction(self) -> float:
        """Returns the estimated completed share of the run, 0 to 1."""
        if self.end:
            return 1.0
        of_time = self.elapsed_s / self.time_limit_s if self.time_limit_s else 0.0
        return min(1.0, max(self._of_phases, of_time))

    @property
    def _of_phases(self) -> float:
        return (self.samples + self._part) / max(1, self.planned_phases)

    @property
    def elapsed_s(self) -> float:
        """Returns the seconds since the first event."""
        return time.monotonic() - self.started if self.started else 0.0

    @property
    def left_s(self) -> float | None:
        """Returns the estimated remaining seconds, assuming the mean duration of the phases so far."""
        fraction = self.fraction
        done = fraction - self._before
        return self.elapsed_s * (1 - fraction) / done if done > 0.01 else None
