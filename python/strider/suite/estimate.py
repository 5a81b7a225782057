"""Estimates a plan: bytes, operations, space, and time at assumed rates."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from strider.engine import CheckedCase, CheckedPhase
from strider.suite.checked import CheckedPlan, turns
from strider.suite.plan import PlannedCase

PHASE_S = 0.05
"""Assumed overhead of a phase in seconds for open, close and synchronisation."""
RUN_S = 8.0
"""Assumed time of a run beside its phases: start of the ranks, ceilings of the machine, report."""

_WRITE = "write"

VERIFIED_BYTES_S = 1 << 30
"""Assumed bytes per second that a rank generates or checks with `verify = "full"`."""
ERROR = 3.0
"""Factor by which a run may be shorter or longer than its estimate with probed rates."""


@dataclass(frozen=True)
class AssumedRates:
    """Assumed rates of all phases.

    Attributes:
        bytes_s: Bytes per second, of data.
        operations_s: Operations per second, of metadata.
        probed: Rates of data that a probe has measured, which stand for `bytes_s`; None without one.
    """

    bytes_s: int
    operations_s: int
    probed: "ProbedRates | None" = None


@dataclass(frozen=True)
class ProbedRates:
    """Rates of a directory that a probe has measured, in bytes per second.

    Attributes:
        write_s: Writes that reach storage.
        read_s: Reads from storage.
        cached_write_s: Writes to memory.
        cached_read_s: Reads of data just written.
        memory_bytes: Files up to this size are read from memory.
        reads: Operations that only read.
    """

    write_s: float
    read_s: float
    cached_write_s: float
    cached_read_s: float
    memory_bytes: int
    reads: frozenset[str]


@dataclass(frozen=True)
class Estimate:
    """Totals of a plan, for the minimum and the maximum number of repetitions.

    Attributes:
        phases: Number of phases.
        phases_most: The same with the maximum number of repetitions.
        bytes: Bytes moved by cases of data.
        bytes_most: The same with the maximum number of repetitions.
        prepared_bytes: Bytes moved by unmeasured phases: files for cases that begin with a read, reads before
            `cache = "warm"`, and the check of whole files.
        prepared_bytes_most: The same with the maximum number of repetitions.
        requests: Operations of cases of metadata.
        requests_most: The same with the maximum number of repetitions.
        space_bytes: Maximum space of the files at a time.
        files: Maximum number of files at a time; for metadata, including directories.
        seconds: Estimated time of all phases.
        seconds_most: The same with the maximum number of repetitions.
    """

    phases: int
    phases_most: int
    bytes: int
    bytes_most: int
    prepared_bytes: int
    prepared_bytes_most: int
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
        bytes=sum(_bytes(case, needs, rates) * times for case, needs, times in least),
        bytes_most=sum(_bytes(case, needs, rates) * times for case, needs, times in most),
        prepared_bytes=sum(_prepared_bytes(case, needs, rates) * times for case, needs, times in least),
        prepared_bytes_most=sum(_prepared_bytes(case, needs, rates) * times for case, needs, times in most),
        requests=sum(_requests(case, needs, rates) * times for case, needs, times in least),
        requests_most=sum(_requests(case, needs, rates) * times for case, needs, times in most),
        space_bytes=int(max(_by_turn(checked, lambda _, needs: needs.space_bytes, sum))),
        files=int(max(_by_turn(checked, lambda _, needs: needs.inodes or needs.files, sum))),
        seconds=_total_s(checked, rates, lambda case: case.repetitions.min),
        seconds_most=_total_s(checked, rates, lambda case: case.repetitions.max),
    )


def _by_turn(
    checked: CheckedPlan,
    quantity: Callable[[PlannedCase, CheckedCase], float],
    together: Callable[[Sequence[float]], float],
) -> list[float]:
    """A quantity of each case, where `together` makes one of those of cases that run at the same time."""
    return [together([quantity(case, needs) for case, needs in turn]) for turn in turns(checked.cases)]


def _total_s(checked: CheckedPlan, rates: AssumedRates, repetitions: Callable[[PlannedCase], int]) -> float:
    def seconds(case: PlannedCase, needs: CheckedCase) -> float:
        return _seconds(case, needs, rates) * (int(case.get("warmup", 0)) + repetitions(case))

    return sum(_by_turn(checked, seconds, max))


def planned_phases(checked: CheckedPlan) -> int:
    """Returns the minimum number of phases, including warm-up."""
    return sum(
        len(needs.phases) * (case.repetitions.min + case.get("warmup", 0)) for case, needs in checked.cases
    )


def _bytes(case: PlannedCase, needs: CheckedCase, rates: AssumedRates) -> int:
    if case.tree:
        return 0
    if runtime := float(case.get("runtime", 0.0)):
        most_s = case.get("rate_limit") or float("inf")
        return sum(
            int(min(rate_of(case, needs, phase.operation, rates), most_s) * runtime) for phase in needs.phases
        )
    return sum(int(phase.bytes * share) for phase, share, _ in _shares(case, needs, rates))


def _shares(
    case: PlannedCase, needs: CheckedCase, rates: AssumedRates
) -> Iterator[tuple[CheckedPhase, float, float]]:
    """Yields each phase, the share of its requests before the deadline, and its time in seconds.

    Every rank makes at least one request. Phases after a write access only written data.
    """
    deadline = float(case.get("deadline", 0.0)) or float("inf")
    most = 1.0
    for phase in needs.phases:
        length_s = _length_s(case, needs, phase, rates)
        in_time = deadline / length_s if length_s > deadline else 1.0
        one_each = phase.ranks / phase.requests if phase.requests else 0.0
        share = min(most, max(in_time, one_each))
        yield phase, share, length_s * share
        if phase.operation == _WRITE:
            most = share


def _prepared(case: PlannedCase, needs: CheckedCase, rates: AssumedRates) -> list[tuple[str, int]]:
    """Returns operation and bytes of the unmeasured phases of one repetition of a case of data."""
    if case.tree:
        return []
    # An interface that stores nothing needs no space.
    filled = [(_WRITE, needs.space_bytes)] if case.operations[0] != _WRITE else []
    written = next((share for phase, share, _ in _shares(case, needs, rates) if phase.operation == _WRITE), 1)
    checked = [("read", int(needs.space_bytes * written))] if case.get("verify") == "full" else []
    warmed = []
    if case.get("cache") == "warm":
        warmed = [("read", phase.bytes) for phase in needs.phases if "read" in phase.operation]
    return [*filled, *warmed, *checked] if needs.space_bytes else []


def _prepared_bytes(case: PlannedCase, needs: CheckedCase, rates: AssumedRates) -> int:
    return sum(size for _, size in _prepared(case, needs, rates))


def rate_of(case: PlannedCase, needs: CheckedCase, operation: str, rates: AssumedRates) -> float:
    """Returns the assumed bytes per second of an operation on data."""
    probed = rates.probed
    if probed is None:
        return rates.bytes_s
    is_direct = bool(case.interface.get("direct"))
    if operation not in probed.reads:
        return probed.cached_write_s if case.get("sync") == "none" and not is_direct else probed.write_s
    is_cached = not is_direct and case.get("cache") != "cold" and needs.space_bytes <= probed.memory_bytes
    return probed.cached_read_s if is_cached else probed.read_s


def _requests(case: PlannedCase, needs: CheckedCase, rates: AssumedRates) -> int:
    if not case.tree:
        return 0
    return sum(int(phase.requests * share) for phase, share, _ in _shares(case, needs, rates))


def _transfer_s(
    case: PlannedCase,
    needs: CheckedCase,
    operation: str,
    size: int,
    rates: AssumedRates,
    most_s: float = float("inf"),
) -> float:
    """Returns the estimated seconds to transfer, and to generate or check, the data of a phase."""
    verifying = size / VERIFIED_BYTES_S / case.clients if case.get("verify") == "full" else 0.0
    return size / min(rate_of(case, needs, operation, rates), most_s) + verifying


def _length_s(case: PlannedCase, needs: CheckedCase, phase: CheckedPhase, rates: AssumedRates) -> float:
    """Returns the estimated seconds of all requests of a phase, without a deadline."""
    most_s = case.get("rate_limit") or float("inf")
    arrivals_s = case.get("arrival_rate") or float("inf")
    alone_s = (
        phase.requests / min(rates.operations_s, most_s)
        if case.tree
        else _transfer_s(case, needs, phase.operation, phase.bytes, rates, most_s)
    )
    return float(max(alone_s, phase.requests / arrivals_s))


def _seconds(case: PlannedCase, needs: CheckedCase, rates: AssumedRates) -> float:
    """Returns the estimated seconds of one repetition of a case."""
    settle = float(case.get("settle", 0.0))
    runtime = float(case.get("runtime", 0.0))
    lengths = [runtime or length_s for _, _, length_s in _shares(case, needs, rates)]
    prepared = _prepared(case, needs, rates)
    preparing = sum(_transfer_s(case, needs, name, size, rates) + PHASE_S for name, size in prepared)
    waiting = float(case.get("start", 0.0)) if case.turn else 0.0
    return preparing + waiting + sum(length + settle + PHASE_S for length in lengths)
