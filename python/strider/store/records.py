"""Records of results, written by `make pages` from the engine's schema (`schema.json`). Do not edit.

Units are in the names: `_s` seconds, `_mib_s` MiB/s, `bytes` bytes. A number that the engine could not
compute is `null` in JSON and NaN here.
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


class Latency(Record):
    """Latencies of the requests of all ranks.

    A percentile is the middle of its bucket, within min and max.

    Attributes:
        count: Requests.
        min_s: Shortest latency.
        mean_s: Mean latency.
        p50_s: Median.
        p90_s: 90th percentile.
        p99_s: 99th percentile.
        p999_s: 99.9th percentile.
        max_s: Longest latency.
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
    """Counts of latencies by bucket.

    Attributes:
        scheme: Which values a bucket stands for.
        unit: Unit of these values.
        buckets: Index and count of each bucket that is not empty.
    """

    scheme: str
    unit: str
    buckets: list[Bucket]


class Part(Record):
    """One operation of a mix in a phase.

    Attributes:
        operation: Name of the operation.
        requests: Requests of the operation.
        bytes: Bytes that they moved; 0 for metadata.
        latency: Their latencies; null without requests.
        histogram: Histogram of their latencies.
    """

    operation: str
    requests: Count
    bytes: Count = 0
    latency: Latency | None = None
    histogram: Histogram | None = None


class RankRates(Record):
    """Rates of ranks with work, in the unit of the field that holds them.

    Attributes:
        min: Lowest rate of a rank.
        min_rank: The rank with the lowest rate.
        mean: Mean rate of the ranks.
        max: Highest rate of a rank.
        max_rank: The rank with the highest rate.
    """

    min: Unsigned
    min_rank: Number
    mean: Unsigned
    max: Unsigned
    max_rank: Number


class RankDistribution(Record):
    """Distribution of a quantity over the ranks with work in a phase, in the unit of the quantity.

    Percentiles are within 1 %, or within 1/65536 of the maximum.

    Attributes:
        quantity: Name of the quantity: a field of `RankRow` (`start_s` and `end_s` here count from the
            start of the phase), or `rate_mib_s` (metadata: `rate_requests_s`).
        ranks: Ranks with work.
        mean: Mean.
        min: Minimum.
        min_rank: Rank with the minimum.
        min_node: Node of this rank.
        p05: 5th percentile.
        p25: 25th percentile.
        p50: Median.
        p75: 75th percentile.
        p95: 95th percentile.
        max: Maximum.
        max_rank: Rank with the maximum.
        max_node: Node of this rank.
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
    """State at the deadline (stonewall), before slower ranks caught up with the fastest one.

    Attributes:
        deadline_s: The deadline of the case.
        requests: Requests completed by the deadline.
        bytes: Bytes of these requests.
        elapsed_s: From the start until the last rank stopped at the deadline.
        rate_mib_s: `bytes` ÷ `elapsed_s`.
        wear_out_s: Longest time that a rank took to catch up after the deadline; 0 if none did.
        requests_per_rank_min: Fewest requests that a rank with work had completed.
        requests_per_rank_max: Most requests that a rank had completed.
    """

    deadline_s: Duration
    requests: Count
    bytes: Count
    elapsed_s: Duration
    rate_mib_s: Unsigned
    wear_out_s: Duration
    requests_per_rank_min: Count
    requests_per_rank_max: Count


class Runtime(Record):
    """Repetition of the requests of a phase until its time is over.

    Attributes:
        runtime_s: The runtime of the case.
        ramp_s: The ramp of the case; `elapsed_s` and `first_done_s` exclude it.
        ramp_requests: Requests that began during the ramp; not among the requests of the phase.
        ramp_bytes: Bytes of these requests.
        requests_per_rank_min: Fewest requests of a rank with work, including the ramp.
        requests_per_rank_max: Most requests of a rank, including the ramp.
        passes_min: Fewest passes of a rank with work: its requests ÷ the requests of one pass.
        passes_max: Most passes of a rank.
    """

    runtime_s: Duration
    ramp_s: Duration
    ramp_requests: Count
    ramp_bytes: Count
    requests_per_rank_min: Count
    requests_per_rank_max: Count
    passes_min: Unsigned
    passes_max: Unsigned


class Arrivals(Record):
    """Arrival and issue of requests in open loop.

    Attributes:
        kind: `fixed` or `poisson`.
        rate_requests_s: Arrival rate that the case specifies, for all ranks together.
        offered_requests_s: Rate at which requests arrived.
        achieved_requests_s: Rate at which requests were issued.
        late_requests: Requests that were due while their rank was busy or already had its maximum of
            requests in flight.
        latest_s: Longest delay between the due time of a request and its issue.
    """

    kind: str
    rate_requests_s: Unsigned
    offered_requests_s: Unsigned
    achieved_requests_s: Unsigned
    late_requests: Count
    latest_s: Time


class Verify(Record):
    """Verification of data and of the results of metadata operations.

    Attributes:
        checked_bytes: Bytes that were compared with the written data.
        wrong_bytes: Wrong bytes among `checked_bytes` and `outside_bytes`.
        mismatches: Wrong requests, sizes and results of metadata operations.
        outside_bytes: Bytes outside the extents of all requests that were compared with zero.
        files: Files whose size was compared.
    """

    checked_bytes: Count
    wrong_bytes: Count
    mismatches: Count
    outside_bytes: Count = 0
    files: Count = 0


class CachePreparation(Record):
    """Cache preparation before a phase that reads.

    Attributes:
        policy: `cold` or `warm`.
        action: Actions of the preparation, such as `fsync, posix_fadvise`.
        cached_share: Share of the files that the nodes' memory held afterwards, 0 to 1; null where
            unknown.
        examined_by: System call that determined this share.
    """

    policy: str
    action: str = ""
    cached_share: Amount | None = None
    examined_by: str | None = None


class Sample(Record):
    """One executed phase: one operation of one case in one repetition, over all ranks.

    Attributes:
        case: Number of the case in the plan, from 1.
        repetition: Number of the repetition, from 0; warm-up repetitions come first.
        warmup: Whether the repetition is a warm-up.
        operation: Operation of the phase; of an error also `connect`, `open`, `remount` or `remove`.
        measured: Whether the phase is measured; preparation is not.
        valid: Whether verification found no error.
        clients: Ranks of the case.
        nodes: Nodes of these ranks.
        ranks_per_node_min: Fewest of these ranks on a node.
        ranks_per_node_max: Most of these ranks on a node.
        files: Files of the case; of metadata, items of all ranks.
        bytes: Bytes that requests moved.
        requests: Requests; of metadata, operations on items.
        start_s: Start of the first rank, relative to the start of the run.
        elapsed_s: From the start of the first rank to the end of the last one.
        rate_mib_s: `bytes` ÷ `elapsed_s`.
        start_skew_s: Latest minus earliest start of the ranks.
        end_skew_s: Latest minus earliest end of the ranks with work.
        clock_error_s: Largest error of `elapsed_s` that the differences between clocks can cause; null
            with one clock.
        flags: Warnings: `clock` where `clock_error_s` exceeds 1 % of `elapsed_s`.
        first_done_s: From `start_s` until the first rank with work was done.
        rate_first_done_mib_s: Rate of all ranks until `first_done_s`; null for metadata.
        rate_first_done_requests_s: The same for metadata; null for data.
        requests_s: `requests` ÷ `elapsed_s`.
        open_s: Longest time that a rank took to open its file.
        transfer_s: Longest time that a rank spent in transfers.
        sync_s: Longest time that a rank spent in sync calls.
        close_s: Longest time that a rank took to close its file.
        prepare_s: Longest time that a rank spent generating and verifying data.
        compute_s: Longest time that a rank computed (`think`).
        user_s: Processor time in user mode.
        system_s: Processor time in the kernel.
        voluntary_switches: Voluntary context switches: the process had to wait.
        involuntary_switches: Involuntary context switches: the process was preempted.
        latency: Latencies of the requests; null without requests.
        histogram: Histogram of these latencies.
        parts: Operations of a mix; empty for other phases.
        rank_rate_mib_s: Rates of ranks; null for metadata.
        rank_rate_requests_s: The same for metadata; null for data.
        rank_distributions: Distributions over the ranks with work; empty where no rank has work.
        deadline: State at the deadline; null without one.
        runtime: Passes of a phase with a runtime; null without one.
        arrivals: Arrivals of requests; null in closed loop.
        verify: Verification; null where nothing was verified.
        digest: Checksum of all bytes that were read; null where none were verified.
        served_by_storage: Bytes that came from storage ÷ bytes read; null where no counter shows it.
        served_bytes: Bytes that came from storage.
        served_source: Counters that show it: `process`, `lustre`, `nfs`, `ceph`, `network` or `block`.
        cache: Cache preparation; null for `as-is` and in phases that read nothing.
        facts: Properties of the open file of rank 0 that the interface reports, in the first repetition.
        read_calls: Read-like system calls during the transfer; null where a kernel does not count them.
        write_calls: Write-like system calls during the transfer.
        call_read_bytes: Bytes that the read calls moved (`rchar`).
        call_write_bytes: Bytes that the write calls moved (`wchar`).
        storage_read_bytes: Bytes that the kernel fetched from storage for the processes (`read_bytes`).
        storage_write_bytes: Bytes that the processes caused the kernel to write to storage, now or later
            (`write_bytes`).
    """

    case: Number
    repetition: Number
    warmup: bool = False
    operation: str
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


class RankRow(Record):
    """Transfers, times and resource usage of one rank in a phase.

    Attributes:
        case: Number of the case in the plan, from 1.
        repetition: Number of the repetition, from 0; warm-up repetitions come first.
        warmup: Whether the repetition is a warm-up.
        operation: Operation of the phase; of an error also `connect`, `open`, `remount` or `remove`.
        rank: Number of the rank.
        node: Number of its node.
        bytes: Bytes that its requests moved.
        requests: Its requests; of metadata, operations on items.
        start_s: Its start, relative to the start of the run.
        end_s: Its end, relative to the start of the run.
        open_s: Time that it took to open its file.
        transfer_s: Time that it spent in transfers.
        close_s: Time that it took to close its file.
        io_s: Sum of the latencies of its requests.
        user_s: Processor time in user mode.
        system_s: Processor time in the kernel.
        digest: Checksum of the bytes that it read; null where none were verified.
        read_calls: Read-like system calls during the transfer; null where a kernel does not count them.
        write_calls: Write-like system calls during the transfer.
        call_read_bytes: Bytes that the read calls moved (`rchar`).
        call_write_bytes: Bytes that the write calls moved (`wchar`).
        storage_read_bytes: Bytes that the kernel fetched from storage for the processes (`read_bytes`).
        storage_write_bytes: Bytes that the processes caused the kernel to write to storage, now or later
            (`write_bytes`).
    """

    case: Number
    repetition: Number
    warmup: bool = False
    operation: str
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


class NodeCounters(Record):
    """Counters of a node, or of several together, between two readings, around a phase.

    Attributes:
        case: Number of the case in the plan, from 1.
        repetition: Number of the repetition, from 0; warm-up repetitions come first.
        warmup: Whether the repetition is a warm-up.
        operation: Operation of the phase; of an error also `connect`, `open`, `remount` or `remove`.
        node: Number of the node; null: several nodes.
        nodes: How many nodes it counts.
        elapsed_s: Time between the two readings, the longest of several nodes.
        sampling_s: Duration of the two readings themselves.
        counters: Counters by source and instance, as formats.md lists them.
    """

    case: Number
    repetition: Number
    warmup: bool = False
    operation: str
    node: Number | None = 0
    nodes: Number = 1
    elapsed_s: Duration
    sampling_s: Duration = math.nan
    counters: list[CounterGroup] = []


class ClockRow(Record):
    """The clock of a node compared with that of rank 0, in a phase.

    Attributes:
        case: Number of the case in the plan, from 1.
        repetition: Number of the repetition, from 0; warm-up repetitions come first.
        warmup: Whether the repetition is a warm-up.
        operation: Operation of the phase; of an error also `connect`, `open`, `remount` or `remove`.
        node: Number of the node.
        offset_start_s: Clock of rank 0 minus the node's clock, at the start.
        offset_end_s: Clock of rank 0 minus the node's clock, at the end.
        error_s: Largest error of both offsets.
        drift_ppm: Drift of the node's clock against that of rank 0, since the start of the run; positive:
            the node's clock runs faster.
        drift_error_ppm: Largest error of `drift_ppm`.
    """

    case: Number
    repetition: Number
    warmup: bool = False
    operation: str
    node: Number
    offset_start_s: Time
    offset_end_s: Time
    error_s: Time
    drift_ppm: Real
    drift_error_ppm: Real


class Timeline(Record):
    """Requests of a rank, or of all ranks of a node or of several, in each interval of a phase.

    Attributes:
        case: Number of the case in the plan, from 1.
        repetition: Number of the repetition, from 0; warm-up repetitions come first.
        warmup: Whether the repetition is a warm-up.
        operation: Operation of the phase; of an error also `connect`, `open`, `remount` or `remove`.
        rank: Number of the rank; null: all ranks of the node or nodes.
        node: Number of the node; null: several nodes.
        nodes: Of how many nodes these ranks are.
        start_s: Start of the first interval, relative to the start of the run.
        interval_s: Length of each interval.
        bytes: Bytes of the requests that ended in each interval.
        requests: Requests that ended in each interval.
        busy_s: Sum of their latencies.
        latency_max_s: Longest of their latencies; 0 without requests.
    """

    case: Number
    repetition: Number
    warmup: bool = False
    operation: str
    rank: Number | None
    node: Number | None = 0
    nodes: Number = 1
    start_s: Time
    interval_s: Duration
    bytes: list[Count]
    requests: list[Count]
    busy_s: list[Duration]
    latency_max_s: list[Duration]


class RequestValues(Record):
    """First, middle and last value (4 bytes, lowest byte first) that each request of a rank read, in order.

    Attributes:
        case: Number of the case in the plan, from 1.
        repetition: Number of the repetition, from 0; warm-up repetitions come first.
        warmup: Whether the repetition is a warm-up.
        operation: Operation of the phase; of an error also `connect`, `open`, `remount` or `remove`.
        rank: Number of the rank.
        offset: Offset of each request in the file.
        bytes: Bytes of each request.
        first: Its first value.
        middle: Its middle value: of n values, number n / 2 from 0.
        last: Its last value.
    """

    case: Number
    repetition: Number
    warmup: bool = False
    operation: str
    rank: Number
    offset: list[Count]
    bytes: list[Count]
    first: list[Count]
    middle: list[Count]
    last: list[Count]


class Damage(Record):
    """Wrong bytes with the same cause.

    Attributes:
        cause: Name of the cause.
        offset: Offset of the first wrong byte in the file.
        bytes: Number of wrong bytes.
        value: Number that belongs to the cause, such as the offset of misplaced data; null for causes
            without one.
        text: The damage in words.
    """

    cause: str = Field(alias="class")
    offset: Count
    bytes: Count
    value: Signed | None = None
    text: str


class ErrorRow(Record):
    """An error, with its rank, place and cause.

    Attributes:
        case: Number of the case in the plan, from 1.
        repetition: Number of the repetition, from 0; warm-up repetitions come first.
        warmup: Whether the repetition is a warm-up.
        operation: Operation of the phase; of an error also `connect`, `open`, `remount` or `remove`.
        kind: `io`, `verify`, `stall` or `plan`.
        rank: Rank that found the error.
        host: Host of the rank.
        file: File or directory.
        offset: Offset in the file.
        length: Bytes of the request; for wrong data: number of wrong bytes.
        call: Function that failed.
        errno: Error number of the system (errno); 0 if there is none.
        message: What happened.
        expected: First expected bytes, hexadecimal.
        found: First found bytes, hexadecimal.
        cause: Cause of most of the wrong bytes.
        causes: Causes of the wrong bytes, at most 8.
        server: Server that holds this offset; null where unknown.
        count: Number of errors that this record stands for.
        remedy: What to do.
    """

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
