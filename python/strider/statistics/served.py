"""Where the bytes that an operation read came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from strider.statistics.exceeding import is_through_target
from strider.store.case import Case
from strider.store.model import Run, Sample

#: Operations that read and write.
BOTH_WAYS = ("read-modify-write", "read-write")
#: The source that counts the bytes fetched by the ranks' own accesses.
PROCESS = "process"


@dataclass(frozen=True)
class PreparationSummary:
    """Result of a cache policy.

    Attributes:
        policy: `cold` or `warm`.
        action: The most frequent action.
        cached_share: The most that the nodes' memory held of the files before a phase, 0 to 1; None where
            that could not be seen of all of them.
    """

    policy: str
    action: str
    cached_share: float | None


@dataclass(frozen=True)
class ServedSummary:
    """Sources of the data that was read, over all repetitions in which it is known.

    Attributes:
        share: Bytes from storage ÷ bytes read; more than 1 where more was fetched than asked for.
        source: Which counters say so; several joined by commas where repetitions differ.
        is_most: Whether the share is an upper bound, because it may include pages that writes fetched.
    """

    share: float
    source: str
    is_most: bool = False


def target_of(case: Case) -> str:
    """Returns the target of a case of a run with several targets; empty for other runs."""
    return str((case.model_extra or {}).get("target") or "")


def targets_with_process_counts(run: Run) -> frozenset[str]:
    """Returns the targets for which the engine found that the ranks' own counters see their reads.

    It knows this of the file system, and checks it with a write. FUSE mounts, for example, count no reads.
    """
    return frozenset(
        target_of(run.cases[sample.case])
        for sample in run.samples
        if sample.served_source == PROCESS and sample.case in run.cases
    )


def served_by(
    case: Case, operation: str, samples: Sequence[Sample], process_counts: bool
) -> ServedSummary | None:
    """Returns where the bytes that an operation read came from; None if it is not known.

    The engine states it of operations that only read. Of those that also write, the counters of the ranks
    show it: exactly for direct I/O; buffered writes of a part of a page fetch the page, too.

    Args:
        case: The case.
        operation: Its operation.
        samples: Those that count.
        process_counts: Whether the counters of the ranks see what reads of the case's target fetch.
    """
    if operation in BOTH_WAYS:
        return _of_both_ways(case, samples) if process_counts and is_through_target(case) else None
    telling = [sample for sample in samples if sample.served_bytes is not None and sample.bytes]
    if case.measured_together:
        # Counters of nodes count the reads of all groups.
        telling = [sample for sample in telling if sample.served_source == PROCESS]
    if not telling:
        return None
    return ServedSummary(
        share=sum(sample.served_bytes or 0 for sample in telling) / sum(sample.bytes for sample in telling),
        source=", ".join(dict.fromkeys(sample.served_source or "" for sample in telling)),
    )


def _of_both_ways(case: Case, samples: Sequence[Sample]) -> ServedSummary | None:
    fetched = [sample for sample in samples if sample.storage_read_bytes is not None]
    read = sum(map(_read_bytes, fetched))
    if not read:
        return None
    return ServedSummary(
        share=sum(sample.storage_read_bytes or 0 for sample in fetched) / read,
        source=PROCESS,
        is_most=not case.interface.get("direct"),
    )


def _read_bytes(sample: Sample) -> float:
    """Returns the bytes that a phase read and its counters have seen, those of the ramp included."""
    # A read-modify-write has no parts: it reads all bytes that it writes.
    parts = sum(part.bytes for part in sample.parts if part.operation == "read")
    counted = parts if sample.parts else sample.bytes
    ramp = sample.runtime.ramp_bytes if sample.runtime else 0
    return counted * (1 + ramp / sample.bytes) if sample.bytes else 0.0
