"""Which share of a pattern's bytes later phases of a repetition cover, where an earlier phase was cut short.

After a write that its deadline or runtime ended early, later phases use only the requests that every rank has
written; after such a read, so does a reread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from strider.statistics.summary import OperationSummary
from strider.store.case import Case
from strider.store.model import Run, Sample, WorkOfPhase

_READS = frozenset({"read", "reread"})


@dataclass(frozen=True)
class Coverage:
    """An operation that covers fewer bytes than its pattern has.

    Attributes:
        cut: The earlier operation that was cut short the most.
        least_bytes: Bytes that the operation covers, in the repetition with the fewest.
        bytes: Bytes of the pattern.
    """

    summary: OperationSummary
    cut: str
    least_bytes: int
    bytes: int


def coverages(run: Run, summaries: Sequence[OperationSummary]) -> list[Coverage]:
    """Returns the operations on data that cover only a part of their pattern, in the order of the summaries.

    Args:
        run: The run; one without the engine's check of the plan shows none.
        summaries: Its results.
    """
    work = {(own.case, phase.operation): phase for own in run.info.check.cases or [] for phase in own.phases}
    phases: defaultdict[tuple[int, int], list[Sample]] = defaultdict(list)
    for sample in run.samples:
        case = run.cases.get(sample.case)
        if sample.measured and case is not None and not case.is_metadata:
            phases[sample.case, sample.repetition].append(sample)
    least: dict[tuple[int, str], tuple[float, str]] = {}
    for (number, _), samples in phases.items():
        for sample, share, cut in _shares(run.cases[number], samples, work):
            if sample.counts and share < 1:
                key = number, sample.operation
                least[key] = min((share, cut), least.get(key, (share, cut)))
    return [
        Coverage(summary, cut, round(share * work[summary.key].bytes), work[summary.key].bytes)
        for summary in summaries
        if summary.key in least
        for share, cut in [least[summary.key]]
    ]


def _shares(
    case: Case, samples: Sequence[Sample], work: dict[tuple[int, str], WorkOfPhase]
) -> list[tuple[Sample, float, str]]:
    """Returns each phase of a repetition, the share of the requests that it may use, and what limits it."""
    written, read = (1.0, ""), (1.0, "")
    found = []
    for sample in sorted(samples, key=lambda one: one.start_s):
        phase = work.get((case.number, sample.operation))
        if phase is None:
            return []
        limit = min(written, read) if sample.operation == "reread" else written
        found.append((sample, *limit))
        share = _completed(case, sample, phase, limit[0])
        own = (share, sample.operation) if share < limit[0] else limit
        if sample.operation in _READS:
            read = own
        else:
            written = own
    return found


def _completed(case: Case, sample: Sample, phase: WorkOfPhase, limit: float) -> float:
    """Returns the share of a phase's requests that every rank has completed, at most `limit`.

    Args:
        case: The case.
        sample: The phase.
        phase: Its work without an end by time.
        limit: The share that it could use.
    """
    if sample.runtime is not None:
        return limit * min(1.0, sample.runtime.passes_min)
    if sample.deadline is None or not phase.requests:
        return limit
    # In open loop there is no wear-out.
    evened = case.common_parameters.get("wear_out", True) and sample.arrivals is None
    requests = sample.requests if evened else sample.deadline.requests_per_rank_min * phase.ranks
    return min(limit, requests / phase.requests)
