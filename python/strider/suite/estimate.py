"""Estimates a plan: bytes, operations, space, and time at assumed rates."""

from dataclasses import dataclass

from strider.engine import CheckedCase
from strider.suite.checked import CheckedPlan
from strider.suite.plan import PlannedCase

PHASE_S = 0.05
"""Assumed overhead of a phase in seconds for open, close and synchronisation."""


@dataclass(frozen=True)
class AssumedRates:
    """Assumed rates of all phases.

    Attributes:
        bytes_s: Bytes per second, of data.
        operations_s: Operations per second, of metadata.
    """

    bytes_s: int
    operations_s: int


@dataclass(frozen=True)
class Estimate:
    """Totals of a plan, for the minimum and the maximum number of repetitions.

    Attributes:
        phases: Number of phases.
        phases_most: The same with the maximum number of repetitions.
        bytes: Bytes moved by cases of data.
        bytes_most: The same with the maximum number of repetitions.
        requests: Operations of cases of metadata.
        requests_most: The same with the maximum number of repetitions.
        space_bytes: Maximum space of the files at a time.
        files: Maximum number of files at a time; for metadata, including directories.
        seconds: Estimated time.
        seconds_most: The same with the maximum number of repetitions.
    """

    phases: int
    phases_most: int
    bytes: int
    bytes_most: int
    requests: int
    requests_most: int
    space_bytes: int
    files: int
    seconds: float
    seconds_most: float


def estimate(checked: CheckedPlan, rates: AssumedRates) -> Estimate:
    """Totals of a plan.

    Args:
        checked: The plan and its needs.
        rates: Assumed rates of all phases.
    """
    pairs = [(case, needs, case.get("warmup", 0)) for case, needs in checked.cases]
    least = [(case, needs, warmup + case.repetitions.min) for case, needs, warmup in pairs]
    most = [(case, needs, warmup + case.repetitions.max) for case, needs, warmup in pairs]
    return Estimate(
        phases=planned_phases(checked),
        phases_most=sum(len(needs.phases) * times for _, needs, times in most),
        bytes=sum(_bytes(case, needs) * times for case, needs, times in least),
        bytes_most=sum(_bytes(case, needs) * times for case, needs, times in most),
        requests=sum(_requests(case, needs) * times for case, needs, times in least),
        requests_most=sum(_requests(case, needs) * times for case, needs, times in most),
        space_bytes=max(needs.space_bytes for _, needs, _ in pairs),
        files=max(needs.inodes or needs.files for _, needs, _ in pairs),
        seconds=sum(_seconds(case, needs, rates) * times for case, needs, times in least),
        seconds_most=sum(_seconds(case, needs, rates) * times for case, needs, times in most),
    )


def planned_phases(checked: CheckedPlan) -> int:
    """Returns the minimum number of phases, including warm-up."""
    return sum(
        len(needs.phases) * (case.repetitions.min + case.get("warmup", 0)) for case, needs in checked.cases
    )


def _bytes(case: PlannedCase, needs: CheckedCase) -> int:
    return 0 if case.tree else sum(phase.bytes for phase in needs.phases)


def _requests(case: PlannedCase, needs: CheckedCase) -> int:
    return sum(phase.requests for phase in needs.phases) if case.tree else 0


def _seconds(case: PlannedCase, needs: CheckedCase, rates: AssumedRates) -> float:
    """Returns the estimated seconds of one repetition of a case."""
    deadline = float(case.get("deadline", 0.0)) or float("inf")
    settle = float(case.get("settle", 0.0))
    most_s = case.get("rate_limit") or float("inf")
    arrivals_s = case.get("arrival_rate") or float("inf")
    lengths = [
        max(
            phase.requests / min(rates.operations_s, most_s)
            if case.tree
            else phase.bytes / min(rates.bytes_s, most_s),
            phase.requests / arrivals_s,
        )
        for phase in needs.phases
    ]
    return sum(min(length, deadline) + settle + PHASE_S for length in lengths)
