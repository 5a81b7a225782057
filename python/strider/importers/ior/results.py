"""The numbers that IOR computes of a test.

A time of all tasks is the time from the first task's begin to the last task's end, not the longest time of a
task.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from strider.importers.ior.test_info import TestInfo
from strider.store.model import RankRow, Sample
from strider.units import MIB


@dataclass(frozen=True)
class Access:
    """One access of a test in a repetition.

    Attributes:
        name: `write` or `read`.
        iteration: Number of the repetition, from 0.
        counts: Whether the result is valid.
        bytes: Bytes of all tasks.
        operations: Transfers of all tasks.
        open_s: Time of all tasks in open.
        access_s: Time of all tasks in transfers and fsync.
        close_s: Time of all tasks in close.
        total_s: From the first open to the last close.
        latency_s: Smallest mean time per transfer of a task; -1 without transfers.
        ranks: What each task did.
        wall_s: From the first open to the last task's stop at the deadline; 0 without a deadline.
        wall_bytes: Bytes of all tasks up to then.
    """

    name: str
    iteration: int
    counts: bool
    bytes: int
    operations: int
    open_s: float
    access_s: float
    close_s: float
    total_s: float
    latency_s: float
    ranks: Sequence[RankRow]
    wall_s: float = 0
    wall_bytes: int = 0

    @property
    def rate_mib_s(self) -> float:
        """Bytes ÷ total time, MiB/s."""
        return self.bytes / MIB / self.total_s if self.total_s else 0.0

    @property
    def operations_s(self) -> float:
        """Transfers ÷ time of transfers, per second: IOR's column IOPS."""
        return self.operations / self.access_s if self.access_s else -1.0

    @property
    def total_operations_s(self) -> float:
        """Transfers ÷ total time, per second: OPs in IOR's summary."""
        return self.operations / self.total_s if self.total_s else 0.0


def accesses(test: TestInfo, samples: Sequence[Sample], ranks: Sequence[RankRow]) -> Iterator[Access]:
    """Yields the accesses of a test that IOR prints, in the order of execution.

    Args:
        test: The test.
        samples: Samples of the run.
        ranks: Rows of the ranks of the run.
    """
    for sample in samples:
        if sample.case not in test.cases or not sample.measured or sample.warmup:
            continue
        if sample.operation in test.shown:
            phase = (sample.case, sample.repetition, sample.operation)
            own = [r for r in ranks if (r.case, r.repetition, r.operation) == phase and not r.warmup]
            yield _access(test, sample, own, test.cases.index(sample.case) + sample.repetition)


def _access(test: TestInfo, sample: Sample, ranks: Sequence[RankRow], iteration: int) -> Access:
    open_s, access_s, close_s = _times(sample, ranks)
    latencies = [access_s_of(rank) / rank.requests for rank in ranks if rank.requests]
    wall = sample.deadline
    return Access(
        name="read" if sample.operation == "read" else "write",
        iteration=iteration,
        counts=sample.counts,
        bytes=sample.bytes,
        operations=sample.bytes // test.work.transfer,
        open_s=open_s,
        access_s=access_s,
        close_s=close_s,
        total_s=sample.elapsed_s,
        latency_s=min(latencies, default=-1.0),
        ranks=ranks,
        wall_s=wall.elapsed_s if wall else 0,
        wall_bytes=wall.bytes if wall else 0,
    )


def _times(sample: Sample, ranks: Sequence[RankRow]) -> tuple[float, float, float]:
    """Seconds in open, transfers and close; the longest times of a task where the run has no others."""
    if not ranks or any(math.isnan(rank.open_s) or math.isnan(rank.close_s) for rank in ranks):
        return sample.open_s, sample.access_s, sample.close_s
    opened = [rank.start_s + rank.open_s for rank in ranks]
    closing = [rank.end_s - rank.close_s for rank in ranks]
    return (
        max(opened) - min(rank.start_s for rank in ranks),
        max(closing) - min(opened),
        max(rank.end_s for rank in ranks) - min(closing),
    )


def access_s_of(rank: RankRow) -> float:
    """Returns the seconds of transfers and fsync of a task."""
    if math.isnan(rank.open_s) or math.isnan(rank.close_s):
        return rank.transfer_s
    return rank.end_s - rank.close_s - rank.start_s - rank.open_s


@dataclass(frozen=True)
class Wall:
    """State at the deadline, mean of the repetitions.

    Attributes:
        time_s: Seconds up to the last task's stop.
        rate_mib_s: Bytes of a task ÷ these seconds, MiB/s.
    """

    time_s: float
    rate_mib_s: float


def wall_of(test: TestInfo, found: Sequence[Access]) -> Wall | None:
    """Returns the state at the deadline as IOR summarizes it; None without wear-out.

    Args:
        test: The test.
        found: Its accesses of one kind.
    """
    time_s = sum(access.wall_s for access in found)
    if not test.wears_out or not time_s:
        return None
    task_bytes = sum(access.wall_bytes // test.work.tasks for access in found)
    return Wall(time_s / len(found), task_bytes / time_s / MIB)
