"""Summaries of each operation of each case of a run."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean, median
from typing import Literal

from strider.statistics.ceilings import Ceilings
from strider.statistics.counters import CounterSummary, by_operation, summarize_counters
from strider.statistics.distribution import Distribution, describe
from strider.statistics.exceeding import Exceeding, exceeding, file_system_of
from strider.statistics.histogram import LatencyDistribution
from strider.statistics.latency import LatencySummary, histogram_of, summarize_latency
from strider.statistics.runtime import RuntimeSummary, summarize_runtime
from strider.statistics.served import (
    PreparationSummary,
    ServedSummary,
    served_by,
    target_of,
    targets_with_process_counts,
)
from strider.statistics.trust import Trust, grade_of
from strider.store import Case, ErrorRow, NodeCounters, Part, Run, Sample
from strider.store.events import FILE_CHECK
from strider.store.model import Arrivals, Deadline, RankRates

MIB = 1 << 20

RateUnit = Literal["MiB/s", "op/s"]
WorkUnit = Literal["MiB", "operation"]
"""What rates count, bytes or of metadata operations on items, and what such work is counted in."""


@dataclass(frozen=True)
class TimeSummary:
    """Where the time of a repetition went: means over repetitions, seconds.

    Open, transfer, sync and close are each the longest of any rank, so they need not add up to `elapsed_s`.
    CPU times are sums over the ranks.
    """

    elapsed_s: float
    open_s: float
    transfer_s: float
    sync_s: float
    close_s: float
    prepare_s: float
    compute_s: float
    user_s: float
    system_s: float

    @property
    def sync_share(self) -> float:
        """Share of the elapsed time that making data persistent took, 0 to 1."""
        return self.sync_s / self.elapsed_s if self.elapsed_s else math.nan


@dataclass(frozen=True)
class RankSummary:
    """Rates of single ranks: medians over repetitions, and which rank was slowest how often."""

    slowest: float
    mean: float
    fastest: float
    slowest_rank: int
    slowest_times: int


@dataclass(frozen=True)
class DeadlineSummary:
    """The work until the deadline: means over repetitions; of requests per rank, the extremes."""

    deadline_s: float
    rate: float
    bytes: float
    requests: float
    wear_out_s: float
    requests_per_rank_min: int
    requests_per_rank_max: int


@dataclass(frozen=True)
class PartSummary:
    """One operation of a mix.

    Attributes:
        requests: Of all repetitions.
        bytes: That they moved; 0 for metadata.
        share: Its share of the mix's requests over all repetitions, 0 to 1.
        rate: Operations per second of each repetition.
    """

    operation: str
    requests: int
    bytes: int
    share: float
    rate: Distribution | None
    latency: LatencySummary | None
    histogram: LatencyDistribution | None


@dataclass(frozen=True)
class CallSummary:
    """Outcome of the requests of a repetition: means over repetitions, summed over the ranks.

    Calls are read-like and write-like system calls as the kernel counts them.
    """

    requests: float
    read_calls: float
    write_calls: float


#: Requests that are issued more slowly than this share of those that come are not carried.
CARRIED = 0.99
#: Requests that are completed more slowly than this share of the rate at which they arrive are not carried,
#: if the phase lasts longer than start-up and scheduling, seconds.
COMPLETED, LONG_AFTER_S = 0.9, 0.1
#: By kind of arrivals, the line of one client that says so. At 90 % of its capacity it
#: has, at random, more than 30 in line at one moment of 600 (M/D/1); at equal intervals hardly any.
LONG_LINE = {"fixed": 5.0, "poisson": 30.0}


@dataclass(frozen=True)
class LoadSummary:
    """What came in open loop, and what of it was carried: means over repetitions, requests per second.

    Attributes:
        kind: `fixed` or `poisson`.
        rate: As the case asked for.
        offered: As requests came, at random.
        achieved: As they were issued.
        completed: Requests ÷ the time of the phase, with opening, synchronization and closing.
        after_s: The time of the phase without that in which requests arrived.
        late_share: Share of the requests that found their rank busy, 0 to 1.
        latest_s: The longest that one waited to be issued.
        requests: Of one client.
        line: Requests that had come to a client, and waited, when it issued its last one.
    """

    kind: str
    rate: float
    offered: float
    achieved: float
    completed: float
    after_s: float
    late_share: float
    latest_s: float
    requests: float
    line: float

    @property
    def saturated(self) -> bool:
        """Whether requests came faster than they could be issued, where chance does not explain it.

        The rate at which they were issued depends on how late the last one was, the more the shorter the
        phase, and a line at one moment may disappear. So it has to be a long one as well. Of few
        requests twice the standard deviation of the number that comes is long.
        """
        long = min(LONG_LINE[self.kind], 2 * math.sqrt(self.requests))
        return self.achieved < CARRIED * self.offered and self.line > long

    @property
    def is_behind(self) -> bool:
        """Whether much of the phase passed after the last request was issued, such as by synchronization.

        Caches then take requests faster than storage completes them.
        """
        return self.completed < COMPLETED * self.offered and self.after_s > LONG_AFTER_S

    @property
    def is_carried(self) -> bool:
        """Whether requests were issued and completed at the rate at which they arrived."""
        return not self.saturated and not self.is_behind


@dataclass(frozen=True)
class VerifySummary:
    """Results of verification, summed over all repetitions, void ones and warm-ups included.

    It is the check of read data, or of what operations of metadata found.
    """

    checked_bytes: int
    wrong_bytes: int
    mismatches: int


@dataclass(frozen=True)
class OperationSummary:
    """One operation of one case.

    Attributes:
        samples: The samples that count: measured, valid, no warm-up.
        voided: Number of measured samples that a failed check made void.
        rate: Rate of each repetition (*last done*), like all rates here in `rate_unit`.
        total_rate: Total work ÷ total time over the repetitions. Slow ones weigh more than in `rate.centre`.
        first_done: Rate until the first rank had finished.
        histogram: Latencies of all requests.
        parts: Of a mix, its operations.
        calls: None where the kernel did not count them.
        served: Of the bytes read; None if unknown.
        preparation: Preparation of the caches; None with the policy `as-is`.
        counters: Node counters; None where they were not counted or not asked for.
        exceeding: The ceiling that it exceeds and cannot have gone through; None of most.
        load: None in closed loop.
        loads: Of each repetition, likewise; empty in closed loop.
        file_system: Type of the target's file system; empty where unknown.
    """

    case: Case
    operation: str
    samples: Sequence[Sample]
    voided: int
    rate: Distribution | None
    total_rate: float
    first_done: Distribution | None
    latency: LatencySummary | None
    histogram: LatencyDistribution | None
    parts: Sequence[PartSummary]
    times: TimeSummary | None
    ranks: RankSummary | None
    deadline: DeadlineSummary | None
    calls: CallSummary | None
    verify: VerifySummary | None
    errors: Sequence[ErrorRow]
    served: ServedSummary | None = None
    preparation: PreparationSummary | None = None
    counters: CounterSummary | None = None
    runtime: RuntimeSummary | None = None
    exceeding: Exceeding | None = None
    load: LoadSummary | None = None
    loads: Sequence[LoadSummary] = ()
    file_system: str = ""

    @cached_property
    def trust(self) -> Trust | None:
        """How far it can be trusted; None for the interface `null`."""
        return grade_of(self, self.file_system)

    @property
    def key(self) -> tuple[int, str]:
        """Number of its case and its operation, by which a run has it once."""
        return self.case.number, self.operation

    @property
    def n(self) -> int:
        """Number of repetitions that count."""
        return len(self.samples)

    @cached_property
    def iops(self) -> float | None:
        """Requests per second, the geometric mean over the repetitions that count; None without any."""
        found = describe([sample.requests_s for sample in self.samples])
        return found.centre if found else None

    @property
    def amounts(self) -> list[float]:
        """Work of each repetition that counts, in the order of execution, in `work_unit`."""
        return list(map(_quantities(self.case).amount, self.samples))

    @property
    def work_unit(self) -> WorkUnit:
        """What its work is counted in."""
        return _quantities(self.case).work_unit

    @property
    def rates(self) -> list[float]:
        """Rate of each repetition that counts, in the order of execution; NaN where it is not known."""
        return list(map(_quantities(self.case).rate, self.samples))

    @property
    def rate_unit(self) -> RateUnit:
        """Unit of its rates."""
        return _quantities(self.case).rate_unit


def file_checks(run: Run) -> list[Sample]:
    """The checks of whole files at the ends of repetitions."""
    return [sample for sample in run.samples if sample.operation == FILE_CHECK]


def summarize(run: Run, counters: Sequence[NodeCounters] = ()) -> list[OperationSummary]:
    """Summaries of a run's operations, in the order of the plan.

    Args:
        run: The run.
        counters: What its nodes counted (`strider.store.load_events`), where the summaries are to have them.

    An operation has one if it was executed or failed; operations that a killed or interrupted run never
    reached are left out.
    """
    samples: defaultdict[tuple[int, str], list[Sample]] = defaultdict(list)
    errors: defaultdict[tuple[int, str], list[ErrorRow]] = defaultdict(list)
    counted = by_operation(counters)
    for sample in run.samples:
        if sample.measured:
            samples[sample.case, sample.operation].append(sample)
    for error in run.errors:
        if error.case is not None and error.operation is not None:
            errors[error.case, error.operation].append(error)
    ceilings = Ceilings.of(run)
    counting = targets_with_process_counts(run)
    found = [
        _summarize_operation(
            case,
            operation,
            samples[number, operation],
            errors[number, operation],
            counted[number, operation],
            target_of(case) in counting,
        )
        for number, case in run.cases.items()
        for operation in dict.fromkeys(case.operations)
        if samples[number, operation] or errors[number, operation]
    ]
    return [
        replace(
            summary,
            exceeding=exceeding(
                summary.case,
                summary.operation,
                summary.samples,
                _by_repetition(counted[summary.key]),
                ceilings,
                file_system_of(run, summary.case),
            ),
            file_system=file_system_of(run, summary.case),
        )
        for summary in found
    ]


def _by_repetition(counters: Sequence[NodeCounters]) -> dict[int, list[NodeCounters]]:
    found: defaultdict[int, list[NodeCounters]] = defaultdict(list)
    for node in counters:
        found[node.repetition].append(node)
    return found


def _summarize_operation(
    case: Case,
    operation: str,
    samples: Sequence[Sample],
    errors: Sequence[ErrorRow],
    counters: Sequence[NodeCounters],
    process_counts: bool,
) -> OperationSummary:
    counted = [sample for sample in samples if sample.counts]
    quantities = _quantities(case)
    elapsed_s = sum(sample.elapsed_s for sample in counted)
    histogram = histogram_of(counted)
    return OperationSummary(
        case=case,
        operation=operation,
        samples=counted,
        voided=sum(not sample.valid and not sample.warmup for sample in samples),
        rate=describe([quantities.rate(sample) for sample in counted]),
        total_rate=sum(map(quantities.amount, counted)) / elapsed_s if elapsed_s > 0 else math.nan,
        first_done=describe([quantities.first_done(sample) for sample in counted]),
        latency=summarize_latency(counted, histogram),
        histogram=histogram,
        parts=_parts(case, counted),
        times=_times(counted),
        ranks=_ranks([quantities.ranks(sample) for sample in counted]),
        deadline=_deadline(counted, quantities),
        runtime=summarize_runtime(counted),
        calls=_calls(counted),
        verify=_verify(samples),
        errors=errors,
        served=served_by(case, operation, counted, process_counts),
        preparation=_preparation(counted),
        counters=summarize_counters(counted, counters),
        load=_load(counted, case.clients),
        loads=[load for one in counted if (load := _load([one], case.clients))],
    )


@dataclass(frozen=True)
class _Quantities:
    """Where the numbers of a kind of case are in a sample, in its unit of rates."""

    work_unit: WorkUnit
    rate_unit: RateUnit
    amount: Callable[[Sample], float]
    rate: Callable[[Sample], float]
    first_done: Callable[[Sample], float]
    ranks: Callable[[Sample], RankRates | None]
    at_deadline: Callable[[Deadline], float]


_BYTES = _Quantities(
    work_unit="MiB",
    rate_unit="MiB/s",
    amount=lambda sample: sample.bytes / MIB,
    rate=lambda sample: sample.rate_mib_s,
    first_done=lambda sample: sample.rate_first_done_mib_s,
    ranks=lambda sample: sample.rank_rate_mib_s,
    at_deadline=lambda deadline: deadline.rate_mib_s,
)
_OPERATIONS = _Quantities(
    work_unit="operation",
    rate_unit="op/s",
    amount=lambda sample: sample.requests,
    rate=lambda sample: sample.requests_s,
    first_done=lambda sample: sample.rate_first_done_requests_s,
    ranks=lambda sample: sample.rank_rate_requests_s,
    at_deadline=lambda deadline: (
        deadline.requests / deadline.elapsed_s if deadline.elapsed_s > 0 else math.nan
    ),
)


def _quantities(case: Case) -> _Quantities:
    return _OPERATIONS if case.is_metadata else _BYTES


def _mean(samples: Sequence[Sample], quantity: Callable[[Sample], float]) -> float:
    values = [value for value in map(quantity, samples) if math.isfinite(value)]
    return fmean(values) if values else math.nan


def _parts(case: Case, samples: Sequence[Sample]) -> list[PartSummary]:
    """The operations of a mix, in the order of the plan."""
    planned = case.common_parameters.get("mix") or {}
    by_operation: dict[str, list[tuple[Sample, Part]]] = {operation: [] for operation in planned}
    for sample in samples:
        for part in sample.parts:
            by_operation.setdefault(part.operation, []).append((sample, part))
    return [_part(operation, own, samples) for operation, own in by_operation.items() if own]


def _part(operation: str, own: Sequence[tuple[Sample, Part]], samples: Sequence[Sample]) -> PartSummary:
    requests, all_requests = sum(part.requests for _, part in own), sum(s.requests for s in samples)
    parts = [part for _, part in own]
    histogram = histogram_of(parts)
    return PartSummary(
        operation=operation,
        requests=requests,
        bytes=sum(part.bytes for part in parts),
        share=requests / all_requests if all_requests else math.nan,
        rate=describe([part.requests / sample.elapsed_s for sample, part in own if sample.elapsed_s > 0]),
        latency=summarize_latency(parts, histogram),
        histogram=histogram,
    )


def _times(samples: Sequence[Sample]) -> TimeSummary | None:
    if not samples:
        return None
    return TimeSummary(
        elapsed_s=_mean(samples, lambda sample: sample.elapsed_s),
        open_s=_mean(samples, lambda sample: sample.open_s),
        transfer_s=_mean(samples, lambda sample: sample.transfer_s),
        sync_s=_mean(samples, lambda sample: sample.sync_s),
        close_s=_mean(samples, lambda sample: sample.close_s),
        prepare_s=_mean(samples, lambda sample: sample.prepare_s),
        compute_s=_mean(samples, lambda sample: sample.compute_s),
        user_s=_mean(samples, lambda sample: sample.user_s),
        system_s=_mean(samples, lambda sample: sample.system_s),
    )


def _load(samples: Sequence[Sample], clients: int) -> LoadSummary | None:
    found = [(sample.requests, sample.arrivals) for sample in samples if sample.arrivals]
    if not found:
        return None
    arrivals = [each for _, each in found]

    def line(requests: int, each: Arrivals) -> float:
        # n ÷ S came in a second, n ÷ (S + L) were issued: n · L ÷ S came while the last one waited.
        return (
            requests * (each.offered_requests_s / each.achieved_requests_s - 1)
            if each.achieved_requests_s > 0
            else 0.0
        )

    return LoadSummary(
        kind=arrivals[0].kind,
        rate=arrivals[0].rate_requests_s,
        offered=fmean(each.offered_requests_s for each in arrivals),
        achieved=fmean(each.achieved_requests_s for each in arrivals),
        completed=fmean(sample.requests_s for sample in samples if sample.arrivals),
        after_s=fmean(
            sample.elapsed_s - sample.requests / sample.arrivals.offered_requests_s
            for sample in samples
            if sample.arrivals and sample.arrivals.offered_requests_s > 0
        )
        if any(each.offered_requests_s > 0 for each in arrivals)
        else 0.0,
        late_share=sum(each.late_requests for each in arrivals) / max(1, sum(count for count, _ in found)),
        latest_s=max(each.latest_s for each in arrivals),
        requests=fmean(count for count, _ in found) / clients,
        line=fmean(line(count, each) for count, each in found) / clients,
    )


def _ranks(found: Sequence[RankRates | None]) -> RankSummary | None:
    rates = [rate for rate in found if rate is not None]
    if not rates:
        return None
    slowest_rank, slowest_times = Counter(rate.min_rank for rate in rates).most_common(1)[0]
    return RankSummary(
        slowest=median(rate.min for rate in rates),
        mean=median(rate.mean for rate in rates),
        fastest=median(rate.max for rate in rates),
        slowest_rank=slowest_rank,
        slowest_times=slowest_times,
    )


def _deadline(samples: Sequence[Sample], quantities: _Quantities) -> DeadlineSummary | None:
    reached = [sample.deadline for sample in samples if sample.deadline is not None]
    if not reached:
        return None
    return DeadlineSummary(
        deadline_s=reached[0].deadline_s,
        rate=sum(map(quantities.at_deadline, reached)) / len(reached),
        bytes=sum(one.bytes for one in reached) / len(reached),
        requests=sum(one.requests for one in reached) / len(reached),
        wear_out_s=sum(one.wear_out_s for one in reached) / len(reached),
        requests_per_rank_min=min(one.requests_per_rank_min for one in reached),
        requests_per_rank_max=max(one.requests_per_rank_max for one in reached),
    )


def _calls(samples: Sequence[Sample]) -> CallSummary | None:
    counted = [
        (sample, sample.read_calls, sample.write_calls)
        for sample in samples
        if sample.read_calls is not None and sample.write_calls is not None
    ]
    if not counted:
        return None
    return CallSummary(
        requests=sum(sample.requests for sample, _, _ in counted) / len(counted),
        read_calls=sum(reads for _, reads, _ in counted) / len(counted),
        write_calls=sum(writes for _, _, writes in counted) / len(counted),
    )


def _preparation(samples: Sequence[Sample]) -> PreparationSummary | None:
    done = [sample.cache for sample in samples if sample.cache is not None]
    if not done:
        return None
    shares = [one.cached_share for one in done if one.cached_share is not None]
    return PreparationSummary(
        policy=done[0].policy,
        action=Counter(one.action for one in done).most_common(1)[0][0],
        cached_share=max(shares) if len(shares) == len(done) else None,
    )


def _verify(samples: Sequence[Sample]) -> VerifySummary | None:
    checks = [sample.verify for sample in samples if sample.verify is not None]
    if not checks:
        return None
    return VerifySummary(
        checked_bytes=sum(check.checked_bytes for check in checks),
        wrong_bytes=sum(check.wrong_bytes for check in checks),
        mismatches=sum(check.mismatches for check in checks),
    )
