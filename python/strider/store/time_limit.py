"""Repetitions that a run left out because of its time limit (`suite.time_limit`)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from strider.listing.summary import TimeLimitCut
from strider.store.case import Case, turns_of
from strider.store.model import ErrorRow, Run, Sample

#: Student's t for 97.5 % by degrees of freedom, as in `engine/repetitions/schedule.cpp`.
_T_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
)  # fmt: skip
_ENDING = frozenset({"io", "plan", "group"})
_CARD_FILE = "card.json"
"""Only runs of `strider quick` have it (docs/formats.md)."""


def time_limit_cut(run: Run) -> TimeLimitCut | None:
    """Returns the part of a run that the time limit cut; None if every case ended for its own reason.

    A case ends for its own reason after its last repetition, once its intervals are as narrow as `until`
    demands, or with an error. A run that was interrupted or failed was not ended by its limit. The limit of a
    storage card is its budget, and cuts nothing that was promised.
    """
    if run.time_limit_s <= 0 or run.status != "complete" or (run.directory / _CARD_FILE).exists():
        return None
    samples: dict[int, list[Sample]] = defaultdict(list)
    for sample in run.samples:
        if sample.measured and not sample.warmup:
            samples[sample.case].append(sample)
    ended = {error.case for error in run.errors if _ends_case(error, run)}
    for members in turns_of(run.cases.values()).values():
        if ended.intersection(members):
            ended.update(members)
    done = {
        number: (len({sample.repetition for sample in samples[number]}), _planned(case))
        for number, case in run.cases.items()
        if number not in ended and not _is_done(case, samples[number])
    }
    if not done:
        return None
    counts = [count for count, _ in done.values()]
    planned = max(planned for _, planned in done.values())
    return TimeLimitCut(run.time_limit_s, min(counts), max(counts), planned, len(counts), counts.count(0))


def _ends_case(error: ErrorRow, run: Run) -> bool:
    """Returns whether an error ends its case (docs/formats.md, section 3)."""
    case = run.cases.get(error.case or 0)
    return error.kind in _ENDING or (error.kind == "verify" and case is not None and not case.is_metadata)


def _planned(case: Case) -> int:
    return int(case.repetitions.get("max", 0))


def _is_done(case: Case, samples: Sequence[Sample]) -> bool:
    """Returns whether a case needs no further repetition."""
    count = len({sample.repetition for sample in samples})
    if count >= _planned(case):
        return True
    until = float(case.repetitions.get("until", 0.0))
    if until <= 0 or count < case.repetitions.get("min", 0):
        return False
    rates: dict[str, list[float]] = defaultdict(list)
    for sample in sorted(samples, key=lambda sample: sample.repetition):
        rates[sample.operation].append(sample.requests_s if case.is_metadata else sample.rate_mib_s)
    return all(_relative_half_width(values) <= until for values in rates.values())


def _relative_half_width(rates: Iterable[float]) -> float:
    """Returns the half-width of the 95 % interval of the mean rate ÷ this mean, as the engine computes it."""
    values = list(rates)
    if len(values) < 2 or not all(value > 0 for value in values):
        return math.inf
    logs = [math.log(value) for value in values]
    mean = sum(logs) / len(logs)
    freedom = len(logs) - 1
    variance = sum((value - mean) ** 2 for value in logs) / freedom
    t = _T_975[freedom - 1] if freedom <= len(_T_975) else 1.95996 + 2.3722 / freedom + 2.8225 / freedom**2
    return math.expm1(t * math.sqrt(variance / len(logs)))
