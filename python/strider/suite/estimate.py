"""What a plan will take: bytes, space, and time if the target has a given rate."""

from dataclasses import dataclass

from strider.engine import CheckedCase
from strider.suite.checked import CheckedPlan
from strider.suite.plan import PlannedCase

PHASE_S = 0.05
"""Time assumed for opening, closing and waiting for each other in a phase."""


@dataclass(frozen=True)
class Estimate:
    """Totals of a plan; where the number of repetitions is left open, those of the fewest and of the most.

    Attributes:
        phases: Number of phases.
        phases_most: The same with all repetitions.
        bytes: Bytes moved.
        bytes_most: The same with all repetitions.
        space_bytes: Space that the files need at most at a time.
        files: Files at a time, at most.
        seconds: Estimated time.
        seconds_most: The same with all repetitions.
    """

    phases: int
    phases_most: int
    bytes: int
    bytes_most: int
    space_bytes: int
    files: int
    seconds: float
    seconds_most: float


def estimate(checked: CheckedPlan, bytes_per_second: int) -> Estimate:
    """Totals of a plan.

    Args:
        checked: The plan and what it needs.
        bytes_per_second: Rate that all phases are assumed to have.
    """
    pairs = [(case, needs, case.get("warmup", 0)) for case, needs in checked.cases]
    least = [(case, needs, warmup + case.repetitions.min) for case, needs, warmup in pairs]
    most = [(case, needs, warmup + case.repetitions.max) for case, needs, warmup in pairs]
    return Estimate(
        phases=planned_phases(checked),
        phases_most=sum(len(needs.phases) * times for _, needs, times in most),
        bytes=sum(_bytes(needs) * times for _, needs, times in least),
        bytes_most=sum(_bytes(needs) * times for _, needs, times in most),
        space_bytes=max(needs.space_bytes for _, needs, _ in pairs),
        files=max(needs.files for _, needs, _ in pairs),
        seconds=sum(_seconds(case, needs, bytes_per_second) * times for case, needs, times in least),
        seconds_most=sum(_seconds(case, needs, bytes_per_second) * times for case, needs, times in most),
    )


def planned_phases(checked: CheckedPlan) -> int:
    """Number of phases with the fewest repetitions, the warm-up included."""
    return sum(
        len(needs.phases) * (case.repetitions.min + case.get("warmup", 0)) for case, needs in checked.cases
    )


def _bytes(needs: CheckedCase) -> int:
    return sum(phase.bytes for phase in needs.phases)


def _seconds(case: PlannedCase, needs: CheckedCase, bytes_per_second: int) -> float:
    """Seconds of one repetition of a case."""
    deadline = float(case.get("deadline", 0.0)) or float("inf")
    settle = float(case.get("settle", 0.0))
    return sum(min(phase.bytes / bytes_per_second, deadline) + settle + PHASE_S for phase in needs.phases)
