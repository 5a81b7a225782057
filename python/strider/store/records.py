"""Records of results, written by `make pages` from the engine's schema (`schema.json`). Do not edit.

Units are in the names: `_s` seconds, `_mib_s` MiB/s, `bytes` bytes. A number that the engine could not
compute is `null` in JSON and NaN here. docs/reference/results.md says what each field means.
"""

from __future__ import annotations

import math

from pydantic import BaseModel, ConfigDict, Field

from strider.store.values import (
    Amount,
    Bucket,
    Count,
    Duration,
    Number,
    Real,
    Seconds,
    Signed,
    Time,
    Unsigned,
)


class Record(BaseModel):
    """Base of everything read from a run directory: immutable, strict, tolerant of additions."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", populate_by_name=True, strict=True, allow_inf_nan=False
    )


class CounterGroup(Record):
    """Counters of one thing of a node, such as a block device; docs/formats.md lists them."""

    source: str
    instance: str = ""
    values: dict[str, float] = {}


class PhaseName(Record):
    """Which phase an event is about."""

    case: Number
    repetition: Number
    warmup: bool = False
    operation: str


class Latency(Record):
    """Latencies of the requests of all ranks.

    A percentile is the middle of its bucket, within min and max.
    """

    count: Count
    min_s: Duration
    mean_s: Duration
    p50_s: Duration
    p90_s: Duration
    p99_s: Duration
    p999_s: Duration
    max_s: Duration


class Histogram(Record):
    """Counts of latencies by bucket."""

    scheme: str
    unit: str
    buckets: list[Bucket]


class Part(Record):
    """One operation of a mix in a phase."""

    operation: str
    requests: Count
    bytes: Count = 0
    latency: Latency | None = None
    histogram: Histogram | None = None


class RankRates(Record):
    """Rates of ranks with work, in the unit of the field that holds them."""

    min: Unsigned
    min_rank: Number
    mean: Unsigned
    max: Unsigned
    max_rank: Number


class RankDistribution(Record):
    """Distribution of a quantity over the ranks with work in a phase, in the unit of the quantity.

    Percentiles are within 1 %, or within 1/65536 of the maximum.
    """

    quantity: str
    ranks: Count
    mean: Unsigned
    min: Unsigned
    min_rank: Number
    min_node: Number
    p05: Unsigned
    p25: Unsigned
    p50: Unsigned
    p75: Unsigned
    p95: Unsigned
    max: Unsigned
    max_rank: Number
    max_node: Number


class Deadline(Record):
    """State at the deadline (stonewall), before slower ranks caught up with the fastest one."""

    deadline_s: Duration
    requests: Count
    bytes: Count
    elapsed_s: Duration
    rate_mib_s: Unsigned
    wear_out_s: Duration
    requests_per_rank_min: Count
    requests_per_rank_max: Count


class Runtime(Record):
    """Repetition of the requests of a phase until its time is over."""

    runtime_s: Duration
    ramp_s: Duration
    ramp_requests: Count
    ramp_bytes: Count
    requests_per_rank_min: Count
    requests_per_rank_max: Count
    passes_min: Unsigned
    passes_max: Unsigned


class Arrivals(Record):
    """Arrival and issue of requests in open loop."""

    kind: str
    rate_requests_s: Unsigned
    offered_requests_s: Unsigned
    achieved_requests_s: Unsigned
    late_requests: Count
    latest_s: Time


class Verify(Record):
    """Verification of data and of the results of metadata operations."""

    checked_bytes: Count
    wrong_bytes: Count
    mismatches: Count
    outside_bytes: Count = 0
    files: Count = 0


class CachePreparation(Record):
    """Cache preparation before a phase that reads."""

    policy: str
    action: str = ""
    cached_share: Amount | None = None
    examined_by: str | None = None


class Sample(PhaseName):
    """One executed phase: one operation of one case in one repetition, over all ranks."""

    measured: bool
    valid: bool
    clients: Number
    nodes: Number = 1
    ranks_per_node_min: Number | None = None
    ranks_per_node_max: Number | None = None
    files: Count = 1
    bytes: Count
    requests: Count
    start_s: Time
    elapsed_s: Duration
    rate_mib_s: Unsigned
    start_skew_s: Time = math.nan
    end_skew_s: Time = math.nan
    clock_error_s: Seconds | None = None
    flags: list[str] = []
    first_done_s: Time = math.nan
    rate_first_done_mib_s: Unsigned = math.nan
    rate_first_done_requests_s: Unsigned = math.nan
    requests_s: Unsigned = math.nan
    open_s: Duration = math.nan
    transfer_s: Duration = math.nan
    sync_s: Duration = math.nan
    close_s: Duration = math.nan
    prepare_s: Duration = math.nan
    compute_s: Duration = math.nan
    user_s: Duration = math.nan
    system_s: Duration = math.nan
    voluntary_switches: Count | None = None
    involuntary_switches: Count | None = None
    latency: Latency | None = None
    histogram: Histogram | None = None
    parts: list[Part] = []
    rank_rate_mib_s: RankRates | None = None
    rank_rate_requests_s: RankRates | None = None
    rank_distributions: list[RankDistribution] = []
    deadline: Deadline | None = None
    runtime: Runtime | None = None
    arrivals: Arrivals | None = None
    verify: Verify | None = None
    digest: str | None = None
    served_by_storage: Amount | None = None
    served_bytes: Count | None = None
    served_source: str | None = None
    cache: CachePreparation | None = None
    facts: dict[str, str] = {}
    read_calls: Count | None = None
    write_calls: Count | None = None
    call_read_bytes: Count | None = None
    call_write_bytes: Count | None = None
    storage_read_bytes: Count | None = None
    storage_write_bytes: Count | None = None


class RankRow(PhaseName):
    """Transfers, times and resource usage of one rank in a phase."""

    rank: Number
    node: Number = 0
    bytes: Count
    requests: Count
    start_s: Time
    end_s: Time
    open_s: Duration = math.nan
    transfer_s: Duration = math.nan
    close_s: Duration = math.nan
    io_s: Duration = math.nan
    user_s: Duration = math.nan
    system_s: Duration = math.nan
    digest: str | None = None
    read_calls: Count | None = None
    write_calls: Count | None = None
    call_read_bytes: Count | None = None
    call_write_bytes: Count | None = None
    storage_read_bytes: Count | None = None
    storage_write_bytes: Count | None = None


class NodeCounters(PhaseName):
    """Counters of a node, or of several together, between two readings, around a phase."""

    node: Number | None = 0
    nodes: Number = 1
    elapsed_s: Duration
    sampling_s: Duration = math.nan
    counters: list[CounterGroup] = []


class ClockRow(PhaseName):
    """The clock of a node compared with that of rank 0, in a phase."""

    node: Number
    offset_start_s: Time
    offset_end_s: Time
    error_s: Time
    drift_ppm: Real
    drift_error_ppm: Real


class Timeline(PhaseName):
    """Requests of a rank, or of all ranks of a node or of several, in each interval of a phase."""

    rank: Number | None
    node: Number | None = 0
    nodes: Number = 1
    start_s: Time
    interval_s: Duration
    bytes: list[Count]
    requests: list[Count]
    busy_s: list[Duration]
    latency_max_s: list[Duration]


class RequestValues(PhaseName):
    """First, middle and last value (4 bytes, lowest byte first) that each request of a rank read, in order."""  # noqa: E501

    rank: Number
    offset: list[Count]
    bytes: list[Count]
    first: list[Count]
    middle: list[Count]
    last: list[Count]


class Damage(Record):
    """Wrong bytes with the same cause."""

    cause: str = Field(alias="class")
    offset: Count
    bytes: Count
    value: Signed | None = None
    text: str


class ErrorRow(Record):
    """An error, with its rank, place and cause."""

    case: Number | None = None
    repetition: Number | None = None
    warmup: bool = False
    operation: str | None = None
    kind: str
    rank: Number | None = None
    host: str | None = None
    file: str | None = None
    offset: Count | None = None
    length: Count | None = None
    call: str | None = None
    errno: Number | None = None
    message: str
    expected: str | None = None
    found: str | None = None
    cause: str | None = Field(default=None, alias="class")
    causes: list[Damage] | None = None
    server: str | None = None
    count: Count = 1
    remedy: str | None = None
