"""The content of a run directory, as types.

Field names and units are those of `docs/formats.md`: `_s` seconds, `_mib_s` MiB/s, bare `bytes` bytes.
Unknown fields are ignored, because additions do not raise a format's version. A number that the engine could
not compute is `null` in JSON and NaN here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from strider.store import records
from strider.store.case import Case
from strider.store.records import (
    Arrivals,
    CachePreparation,
    ClockRow,
    CounterGroup,
    Damage,
    Deadline,
    Histogram,
    Latency,
    NodeCounters,
    Part,
    RankDistribution,
    RankRates,
    RankRow,
    Record,
    Verify,
)
from strider.store.values import (
    Count,
    Duration,
    Instant,
    Moment,
    Number,
    Pair,
    Real,
    Seconds,
    Time,
    Unsigned,
    Word,
)

__all__ = [
    "Arrivals",
    "CachePreparation",
    "CaseStart",
    "Ceiling",
    "CeilingReport",
    "ClockRow",
    "CounterGroup",
    "Cut",
    "Damage",
    "DataSetEvent",
    "Deadline",
    "ErrorRow",
    "Histogram",
    "KnownDataSet",
    "Latency",
    "NodeCounters",
    "Part",
    "Plan",
    "Progress",
    "RankDistribution",
    "RankRates",
    "RankRow",
    "Record",
    "RepetitionEnd",
    "RequestValues",
    "Run",
    "RunInfo",
    "Sample",
    "Timeline",
    "Verify",
    "WorkOfPhase",
]


class SuiteInfo(Record):
    """Description of a suite in its file."""

    name: str
    description: str = ""


class Plan(Record):
    """`plan.json`: every case spelled out."""

    suite: SuiteInfo
    target: str
    ranks: Number
    ranks_per_node: Number = 0
    seed: Word = 0
    scale_down: Count = 1
    interleave: str = "random"
    time_limit_s: Duration = 0.0
    cases: list[Case]


class WorkOfPhase(Record):
    """The work of a phase without an end by time."""

    operation: str
    bytes: Count
    requests: Count
    ranks: Number


class CaseCheck(Record):
    """Facts of a case from the engine's check."""

    case: Number
    space_bytes: Count = 0
    request_bytes: Count | None = None
    own_client: bool | None = None
    phases: list[WorkOfPhase] = Field(default_factory=list)


class CheckInfo(Record):
    """Facts of the plan from the engine's check; None if it is missing."""

    cases: list[CaseCheck] | None = None


class ChosenSize(Record):
    """A size that the suite left to Strider.

    Attributes:
        cases: Numbers of its cases.
        key: `block` or `size`.
        word: The value in the suite: `auto` or `beyond-memory`.
        bytes: The value in the plan.
        reason: Why, such as `about 1.3 s at 410 MiB/s`.
    """

    cases: list[Number]
    key: str
    word: str
    bytes: Count
    reason: str


class Cut(Record):
    """Where a run was cut and resumed.

    Attributes:
        time_s: Time of the last event before it, seconds since the start of the run.
        status: How the start before it ended: `interrupted`, `failed`, `killed` or `time limit`.
        reason: Why, in words; empty if `status` says it.
        at: Time of its last event, in UTC.
        resumed: Time of the next start, in UTC.
        repetitions: Number of complete repetitions until then.
        time_limit_s: Time limit of the next start, seconds; 0 for none.
        differences: Conditions of the next start that differ from those of the first, one line each.
    """

    time_s: Time = math.nan
    status: str
    reason: str = ""
    at: str = ""
    resumed: str = ""
    repetitions: Number = 0
    time_limit_s: Duration = 0.0
    differences: list[str] = Field(default_factory=list)


class KnownDataSet(Record):
    """A data set as a run found it before its first case; `run` had written it last, at the time `at`."""

    run: str = ""
    at: str = ""


class RunInfo(Record):
    """`run.json`: user, suite, time and place of a run; `ended` and after are None until the run is sealed.

    Attributes:
        data_sets: The data sets that were there before the run, by name.
        resumed: Where it was cut and resumed.
        signal: Name of the signal that interrupted it; empty if none did.
        time_limit_s: Of the last start of a resumed run, seconds; None for one that was not resumed.
        per_rank: File with the rows of all ranks; empty: none.
    """

    run: str
    strider: str = ""
    started: Moment
    command: list[str] = Field(default_factory=list)
    directory: str = ""
    set: list[str] = Field(default_factory=list)
    check: CheckInfo = CheckInfo()
    sizes: list[ChosenSize] = Field(default_factory=list)
    environment: dict[str, Any] = Field(default_factory=dict)
    data_sets: dict[str, KnownDataSet] = Field(default_factory=dict)
    resumed: list[Cut] = Field(default_factory=list)
    time_limit_s: Seconds | None = None
    ended: Moment | None = None
    status: str | None = None
    exit_code: Annotated[int, Field(ge=0, le=255)] | None = None
    signal: str = ""
    per_rank: str = ""

    @property
    def started_s(self) -> float:
        """When the run began, seconds since 1970."""
        return datetime.fromisoformat(self.started).timestamp()

    @property
    def ended_s(self) -> float:
        """When the run was sealed, seconds since 1970; NaN before."""
        return datetime.fromisoformat(self.ended).timestamp() if self.ended else math.nan


class Node(Record):
    """A host, how far its clock is from rank 0's, and its processors; 0: not recorded.

    Attributes:
        name: Its host name.
        ranks: Ranks on it.
        clock_offset_s: Rank 0's monotonic clock minus its own.
        clock_error_s: Error of that.
        time_of_day_offset_s: How far its time of day is ahead of the first node's.
        cpus: CPUs online.
        numa_nodes: NUMA nodes.
        affinity_cpus_min: Fewest CPUs on which one of its ranks may run.
        affinity_cpus_max: Most CPUs on which one of its ranks may run.
        processes: Rank and process id of each rank on it.
    """

    name: str
    ranks: Number
    clock_offset_s: Time = math.nan
    clock_error_s: Time = math.nan
    time_of_day_offset_s: Time = math.nan
    cpus: Number = 0
    numa_nodes: Number = 0
    affinity_cpus_min: Number = 0
    affinity_cpus_max: Number = 0
    processes: list[Pair] = Field(default_factory=list)


class Confinement(Record):
    """Whether the ranks were kept from writing outside of the run's files.

    Attributes:
        state: `full`, `partly` or `none`.
        missing: The missing part, or why there was no confinement.
    """

    state: str
    missing: str = ""

    @property
    def in_words(self) -> str:
        """Such as `partly: 2 of 4 ranks are not confined`."""
        return f"{self.state}: {self.missing}" if self.missing else self.state


class Start(Record):
    """The engine's first event: its environment."""

    time_s: Time = 0.0
    run: str
    engine: str
    started: Moment = ""
    mpi: str = ""
    ranks: Number = 0
    nodes: list[Node] = Field(default_factory=list)
    timer: str = ""
    timer_cost_ns: Real = math.nan
    data_seed: str = ""
    confinement: Confinement | None = None


class CaseStart(Record):
    """A repetition of a case begins."""

    case: Number
    repetition: Number = 0
    warmup: bool = False


class RepetitionEnd(Record):
    """A repetition of a case has ended, and its files are removed.

    Attributes:
        elapsed_s: Its duration, seconds.
        failed: Whether no further repetition of the case begins.
        rates: Of its valid measured phases, by operation.
    """

    case: Number
    repetition: Number
    warmup: bool = False
    elapsed_s: Duration = math.nan
    failed: bool = False
    rates: dict[str, Unsigned] = Field(default_factory=dict)


class Progress(Record):
    """How far a phase has come; see docs/formats.md."""

    case: Number
    repetition: Number = 0
    warmup: bool = False
    operation: str
    bytes_done: Count
    bytes_total: Count
    requests_done: Count = 0
    requests_total: Count = 0
    elapsed_s: Duration
    observed_ranks: Number = 1
    done_phases: Count = 0
    planned_phases: Count


class Ceiling(Record):
    """A rate that a part of the machine reached by itself.

    Attributes:
        name: `memory_copy`, `data_generation`, …; docs/formats.md lists them.
        unit: `MiB/s` or `requests/s`.
        value: None where it could not be measured; `about` says why.
        spread: (Highest - lowest) ÷ median of the rounds in which it was measured; None of fewer than two.
        about: How it was measured.
    """

    name: str
    unit: str = "MiB/s"
    value: float | None = None
    spread: float | None = None
    about: str = ""


class CeilingReport(Record):
    """Ceilings of some clients together, or of one node.

    Attributes:
        start: The start of the run in which they were measured, from 1; a resumed run has several.
        moment: `start` or `end` of that start.
        node: The node; None where they are those of clients.
        clients: The number of clients; None where they are those of a node.
        nodes: The nodes of these clients; None where they are those of a node, or not recorded.
        ranks_per_node_max: Most of these clients on a node.
        elapsed_s: What measuring them took, seconds.
    """

    start: Number = 1
    moment: str
    node: Number | None = None
    clients: Number | None = None
    nodes: Number | None = None
    ranks_per_node_max: Number | None = None
    elapsed_s: Duration = math.nan
    ceilings: list[Ceiling] = Field(default_factory=list)


class Sample(records.Sample):
    """One executed phase, with what follows from its fields.

    Attributes:
        start: The start of the run in which it was measured, from 1; a resumed run has several.
    """

    start: int = 1

    @property
    def counts(self) -> bool:
        """Whether the sample is to be counted in statistics: measured, valid, no warm-up."""
        return self.measured and self.valid and not self.warmup

    @property
    def access_s(self) -> float:
        """Seconds of transfer and sync, without opening and closing.

        Each of the two is the longest of any rank, so that their sum may be longer than all took together.
        """
        return min(self.transfer_s + self.sync_s, self.elapsed_s)


def _equally_long(value: list[Any], known: ValidationInfo) -> list[Any]:
    if any(isinstance(other, list) and len(other) != len(value) for other in known.data.values()):
        raise ValueError("the lists are not equally long")
    return value


class Timeline(records.Timeline):
    """Requests of a rank, or of all ranks of a node or of several, in each interval of a phase."""

    start_s: Instant
    interval_s: Annotated[Seconds, Field(ge=1e-9)]
    _lists = field_validator("requests", "busy_s", "latency_max_s")(_equally_long)


class RequestValues(records.RequestValues):
    """First, middle and last value that each request of a rank read, in order."""

    _lists = field_validator("bytes", "first", "middle", "last")(_equally_long)


class ErrorRow(records.ErrorRow):
    """An error, with when it was noticed."""

    time_s: Time = math.nan


class DataSetEvent(Record):
    """A phase that writes a data set is about to begin (`writing`), or was complete (`written`).

    Attributes:
        geometry: Hash of the writer's pattern, clients, sharing and order.
        files: Number and bytes of consecutive files of one size.
        parts: Of each rank, its completed requests and the end of its bytes in its file.
        tree: What each rank has in the trees, with a case of metadata.
    """

    time_s: Time
    case: Number
    data_set: str
    state: str
    generation: Count
    geometry: Word = 0
    format: str = ""
    files: list[Pair] = Field(default_factory=list)
    parts: list[Pair] = Field(default_factory=list)
    tree: dict[str, Any] | None = None


class End(Record):
    """The last event."""

    time_s: Time
    status: str
    samples: Count = 0
    errors: Count = 0
    by: str = "engine"
    reason: str = ""


class Run(Record):
    """A run as read back from its directory.

    Attributes:
        start: None where the engine never got as far as its first event.
        starts: The first event of each start; a resumed run has several.
        cases: By their number in the plan.
        samples: In the order of execution, warm-up and preparation included.
        ceilings: The measured ceilings of the machine; empty if they were not requested.
        end: None for a run that is active or was killed.
        cuts: Where it was cut and resumed.
        ignored_events: Number of events behind its end, of ranks that did not learn that it was over.
    """

    directory: Path
    info: RunInfo
    plan: Plan
    start: Start | None
    cases: Mapping[int, Case]
    samples: list[Sample]
    errors: list[ErrorRow]
    end: End | None
    ceilings: list[CeilingReport] = Field(default_factory=list)
    cuts: list[Cut] = Field(default_factory=list)
    starts: list[Start] = Field(default_factory=list)
    ignored_events: int = 0

    @property
    def time_limit_s(self) -> float:
        """Time limit of its last start in seconds; 0 for none."""
        return self.plan.time_limit_s if self.info.time_limit_s is None else self.info.time_limit_s

    @property
    def id(self) -> str:
        """The run's name, which is its directory's name when it was made."""
        return self.info.run

    @property
    def status(self) -> str:
        """`complete`, `interrupted`, `failed` or, for a run that was not sealed, `unfinished`."""
        if self.info.status is not None:
            return self.info.status
        return self.end.status if self.end is not None else "unfinished"
