"""What a run directory holds, as types.

Field names and units are those of `docs/formats.md`: `_s` seconds, `_mib_s` MiB/s, bare `bytes` bytes.
Unknown fields are ignored, because additions do not raise a format's version. A number that the engine could
not compute is `null` in JSON and NaN here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from strider.store.case import Case
from strider.store.values import Duration, Name, Real


class Record(BaseModel):
    """Base of everything read from a run directory: immutable, tolerant of additions."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class SuiteInfo(Record):
    """What the suite file says about itself."""

    name: str
    description: str = ""


class Plan(Record):
    """`plan.json`: every case spelled out."""

    suite: SuiteInfo
    target: str
    ranks: int
    ranks_per_node: int = 0
    seed: int = 0
    interleave: str = "random"
    cases: list[Case]


class CaseCheck(Record):
    """What the engine's check found of a case."""

    case: int
    space_bytes: int = 0
    request_bytes: int | None = None
    own_client: bool | None = None


class CheckInfo(Record):
    """What the engine's check found of the plan; None where it is missing."""

    cases: list[CaseCheck] | None = None


class RunInfo(Record):
    """`run.json`: who ran what, when and where; `ended` and after are None until the run is sealed."""

    run: Name
    strider: str = ""
    started: str
    command: list[str] = []
    directory: str = ""
    set: list[str] = []
    check: CheckInfo = CheckInfo()
    environment: dict[str, Any] = {}
    ended: str | None = None
    status: str | None = None
    exit_code: int | None = None


class Node(Record):
    """A host, and how far its clock is from rank 0's."""

    name: str
    ranks: int
    clock_offset_s: Real = math.nan
    clock_error_s: Real = math.nan


class Confinement(Record):
    """Whether the ranks were kept from writing outside of what the run may touch.

    Attributes:
        state: `full`, `partly` or `none`.
        missing: What it lacked, or why there was none.
    """

    state: str
    missing: str = ""

    @property
    def in_words(self) -> str:
        """Such as `partly: 2 of 4 ranks are not confined`."""
        return f"{self.state}: {self.missing}" if self.missing else self.state


class Start(Record):
    """The engine's first event: what it runs on."""

    run: str
    engine: str
    started: str = ""
    mpi: str = ""
    ranks: int = 0
    nodes: list[Node] = []
    timer: str = ""
    timer_cost_ns: Real = math.nan
    data_seed: str = ""
    confinement: Confinement | None = None


class Latency(Record):
    """Latency of one phase's requests over all ranks, seconds."""

    count: int
    min_s: Duration
    mean_s: Duration
    p50_s: Duration
    p90_s: Duration
    p99_s: Duration
    p999_s: Duration
    max_s: Duration


class Histogram(Record):
    """Counts by bucket; `scheme` says which values a bucket index stands for."""

    scheme: str
    unit: str
    buckets: list[tuple[int, int]]


class RankRates(Record):
    """Rates of single ranks, in the unit of the field that holds them, and who was slowest and fastest."""

    min: Real
    min_rank: int
    mean: Real
    max: Real
    max_rank: int


class Deadline(Record):
    """What had been done when the deadline (stonewall) struck, before the wear-out."""

    deadline_s: Duration
    requests: int
    bytes: int
    elapsed_s: Duration
    rate_mib_s: Real
    wear_out_s: Real
    requests_per_rank_min: int
    requests_per_rank_max: int


class Arrivals(Record):
    """How requests came in open loop, and were issued.

    Attributes:
        kind: `fixed` or `poisson`.
        rate_requests_s: Requests per second of all ranks, as the case asked for.
        offered_requests_s: As they came; of random arrivals, those of this sample.
        achieved_requests_s: As they were issued; less where they had to wait more and more.
        late_requests: Those that were due while their rank still had others in hand.
        latest_s: From when a request was due to when it was issued, the longest.
    """

    kind: str
    rate_requests_s: Real
    offered_requests_s: Real
    achieved_requests_s: Real
    late_requests: int
    latest_s: Real


class Verify(Record):
    """What the check of read data, and of what operations of metadata found, came to."""

    checked_bytes: int
    wrong_bytes: int
    mismatches: int
    outside_bytes: int = 0
    files: int = 0


class Part(Record):
    """One operation of a mix in one phase."""

    operation: str
    requests: int
    latency: Latency | None = None
    histogram: Histogram | None = None


class CachePreparation(Record):
    """What a cache policy did before a phase that reads.

    Attributes:
        policy: `cold` or `warm`.
        action: What was done, such as `fsync, posix_fadvise`.
        cached_share: How much of the files the nodes' memory held then, 0 to 1; None where nobody can tell.
        examined_by: The system call that told.
    """

    policy: str
    action: str = ""
    cached_share: float | None = None
    examined_by: str | None = None


class CounterGroup(Record):
    """Counters of one thing of a node, such as a block device; docs/formats.md lists them."""

    source: str
    instance: str = ""
    values: dict[str, float] = {}


class NodeCounters(Record):
    """What a node's counters came to around one phase.

    Attributes:
        elapsed_s: Time between the two readings; `sampling_s`: that they took, seconds.
    """

    case: int
    repetition: int
    operation: str
    node: int = 0
    elapsed_s: Duration
    sampling_s: Real = math.nan
    counters: list[CounterGroup] = []


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
        moment: `start` or `end` of the run.
        node: The node; None where they are those of clients.
        clients: The number of clients, the first so many ranks; None where they are those of a node.
        elapsed_s: What measuring them took, seconds.
    """

    moment: str
    node: int | None = None
    clients: int | None = None
    elapsed_s: Duration = math.nan
    ceilings: list[Ceiling] = []


class Sample(Record):
    """One executed phase: one operation of one case in one repetition.

    Attributes:
        requests: Requests; of metadata, operations on items.
        start_skew_s: Latest minus earliest start of the ranks, seconds.
        end_skew_s: Latest minus earliest end of the ranks that had work, seconds.
        clock_error_s: How wrong `elapsed_s` may be because clocks differ, at most; None with one clock.
        flags: Words on what to know before the numbers are believed, such as `clock`.
        read_calls: Read-like system calls of all ranks while they transferred; None where the kernel did not
            count, or the run is older than the count. `write_calls` likewise.
        call_read_bytes: Bytes that these calls moved. `call_write_bytes` likewise.
        storage_read_bytes: Bytes that the kernel fetched from storage for ranks; `…_write_bytes`: owes it.
        served_by_storage: Of a read, the bytes that came from storage ÷ those read; None where nothing tells.
        served_source: Which counters say so.
        cache: What the case's cache policy did before.
        parts: Of a mix, its operations.
        arrivals: None in closed loop.
        facts: What the interface says of its open file, such as hints; in a case's first repetition.
    """

    case: int
    repetition: int
    warmup: bool
    operation: str
    measured: bool
    valid: bool
    clients: int
    nodes: int = 1
    files: int = 1
    bytes: int = Field(ge=0)
    requests: int = Field(ge=0)
    start_s: Real
    elapsed_s: Duration
    start_skew_s: Real = math.nan
    end_skew_s: Real = math.nan
    clock_error_s: float | None = None
    flags: list[str] = []
    rate_mib_s: Real
    first_done_s: Real = math.nan
    rate_first_done_mib_s: Real = math.nan
    requests_s: Real = math.nan
    rate_first_done_requests_s: Real = math.nan
    open_s: Real = math.nan
    transfer_s: Duration = math.nan
    sync_s: Real = math.nan
    close_s: Real = math.nan
    prepare_s: Real = math.nan
    compute_s: Real = math.nan
    user_s: Real = math.nan
    system_s: Real = math.nan
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    read_calls: int | None = None
    write_calls: int | None = None
    call_read_bytes: int | None = None
    call_write_bytes: int | None = None
    storage_read_bytes: int | None = None
    storage_write_bytes: int | None = None
    served_by_storage: float | None = None
    served_bytes: int | None = None
    served_source: str | None = None
    cache: CachePreparation | None = None
    latency: Latency | None = None
    histogram: Histogram | None = None
    rank_rate_mib_s: RankRates | None = None
    rank_rate_requests_s: RankRates | None = None
    parts: list[Part] = []
    deadline: Deadline | None = None
    arrivals: Arrivals | None = None
    verify: Verify | None = None
    digest: str | None = None
    facts: dict[str, str] = {}

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


class RankRow(Record):
    """What one client did in one phase."""

    case: int
    repetition: int
    operation: str
    rank: int
    node: int = 0
    bytes: int = Field(ge=0)
    requests: int = Field(ge=0)
    start_s: Real
    end_s: Real
    transfer_s: Duration = math.nan
    io_s: Real = math.nan
    user_s: Real = math.nan
    system_s: Real = math.nan
    read_calls: int | None = None
    write_calls: int | None = None
    call_read_bytes: int | None = None
    call_write_bytes: int | None = None
    storage_read_bytes: int | None = None
    storage_write_bytes: int | None = None
    digest: str | None = None


class ClockRow(Record):
    """A node's clock beside rank 0's in one phase.

    Attributes:
        offset_start_s: To add to the node's clock to get rank 0's at the start; `offset_end_s`: at the end.
        error_s: How wrong both may be.
        drift_ppm: How much faster its clock ran, in millionths; `drift_error_ppm`: how wrong that may be.
    """

    case: int
    repetition: int
    operation: str
    node: int
    offset_start_s: Real
    offset_end_s: Real
    error_s: Real
    drift_ppm: Real
    drift_error_ppm: Real


class Timeline(Record):
    """What a rank, or all ranks of a node, did in each interval of one phase.

    Attributes:
        rank: None where it is about all ranks of the node.
        start_s: Start of the first interval.
        interval_s: Length of each.
        bytes: Of the `requests` that ended in each interval.
        busy_s: Sum of their latencies.
        latency_max_s: The longest one; 0 without requests.
    """

    case: int
    repetition: int
    warmup: bool = False
    operation: str
    rank: int | None
    node: int = 0
    start_s: Real
    interval_s: Duration
    bytes: list[int]
    requests: list[int]
    busy_s: list[Real]
    latency_max_s: list[Real]


class Damage(Record):
    """Wrong bytes that have one cause.

    Attributes:
        cause: The class, as in the column `class`.
        offset: In the file, of the first one.
        bytes: How many.
        value: What the class has a number for (docs/formats.md).
        text: In words.
    """

    cause: str = Field(alias="class")
    offset: int
    bytes: int
    value: int | None = None
    text: str


class ErrorRow(Record):
    """Something that went wrong: who, where and what."""

    time_s: Real = math.nan
    case: int | None = None
    repetition: int | None = None
    operation: str | None = None
    kind: str
    rank: int | None = None
    host: str | None = None
    file: str | None = None
    offset: int | None = None
    length: int | None = None
    call: str | None = None
    errno: int | None = None
    message: str
    expected: str | None = None
    found: str | None = None
    mismatch_class: str | None = Field(default=None, alias="class")
    causes: list[Damage] | None = None
    server: str | None = None
    count: int = 1
    remedy: str | None = None


class End(Record):
    """The last event."""

    time_s: Real
    status: str
    samples: int = 0
    errors: int = 0
    by: str = "engine"
    reason: str = ""


class Run(Record):
    """A run as read back from its directory.

    Attributes:
        start: None where the engine never got as far as its first event.
        cases: By their number in the plan.
        samples: In the order of execution, warm-up and preparation included.
        ceilings: What was measured of the machine beside the cases; empty where nobody asked.
        end: None for a run that is still going on or was killed.
    """

    directory: Path
    info: RunInfo
    plan: Plan
    start: Start | None
    cases: Mapping[int, Case]
    samples: list[Sample]
    errors: list[ErrorRow]
    end: End | None
    ceilings: list[CeilingReport] = []

    @property
    def id(self) -> str:
        """The run's name, which is its directory's name when it was made."""
        return self.info.run

    @property
    def status(self) -> str:
        """`complete`, `interrupted`, `failed` or, when nobody sealed the run, `unfinished`."""
        if self.info.status is not None:
            return self.info.status
        return self.end.status if self.end is not None else "unfinished"
