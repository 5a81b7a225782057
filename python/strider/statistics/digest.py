"""Whether the same case read the same data through every interface."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from strider.store.case import Case
from strider.store.model import Run, Sample

_NO_DATA = frozenset(
    {"warmup", "settle", "deadline", "runtime", "ramp", "mount", "mount_servers", "values", "group", "start"}
)
"""Parameters that do not change the written data, besides a case's number, name, interface and repetitions.

The engine's data depends on all keys of a case but these (docs/formats.md, section 3), so cases that differ
in nothing else have the same digest.
"""

Verdict = Literal["same data", "different data", "not comparable"]


@dataclass(frozen=True)
class DigestComparison:
    """Cases that read the same data through different interfaces or settings of them, in one operation.

    Attributes:
        cases: The cases that were compared, in the order of the plan.
        repetitions: Number of repetitions in which at least two of them have a digest.
        verdict: `same data` where the digests agree in each of these repetitions; `not comparable` where the
            cases read different amounts (a deadline or a runtime does that) or share no repetition.
        digests: By repetition, the digest of each case number.
    """

    cases: Sequence[Case]
    operation: str
    repetitions: int
    verdict: Verdict
    digests: dict[int, dict[int, str]]


def compare_digests(run: Run) -> list[DigestComparison]:
    """Compares what cases read whose data is the same.

    Void samples are compared too: a wrong digest is the very thing to be found. Only groups of two cases or
        more that
    have a digest are listed.
    """
    groups: defaultdict[tuple[str, str], list[Sample]] = defaultdict(list)
    keys = data_keys(run)
    for sample in run.samples:
        if sample.digest is not None and sample.measured and not sample.warmup and sample.case in keys:
            groups[keys[sample.case], sample.operation].append(sample)
    return [
        _compare(run, operation, samples)
        for (_, operation), samples in groups.items()
        if len({sample.case for sample in samples}) > 1
    ]


def data_keys(run: Run) -> dict[int, str]:
    """Returns, by case number, a text that is the same for cases that read the same data.

    Cases with a data set that the run rewrites have none: each of them may find another generation.
    """
    rewritten = {_data_set(case) for case in run.cases.values() if "rewrite" in case.operations} - {""}
    return {
        number: workload_key(case) for number, case in run.cases.items() if _data_set(case) not in rewritten
    }


def _data_set(case: Case) -> str:
    return str((case.model_extra or {}).get("dataset") or "")


def workload_key(case: Case) -> str:
    """Everything that defines a case's data, as a comparable text: neither the interface nor how often."""
    common = {key: value for key, value in case.common_parameters.items() if key not in _NO_DATA}
    common["dataset"] = _data_set(case)
    return json.dumps([case.shape, case.operations, common], sort_keys=True)


def _amount(case: Case, sample: Sample) -> tuple[int, int]:
    """How much a sample did: bytes, and of metadata operations too."""
    return sample.bytes, sample.requests if case.is_metadata else 0


def _compare(run: Run, operation: str, samples: Sequence[Sample]) -> DigestComparison:
    digests: defaultdict[int, dict[int, str]] = defaultdict(dict)
    amounts: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
    for sample in samples:
        digests[sample.repetition][sample.case] = sample.digest or ""
        amounts[sample.repetition].add(_amount(run.cases[sample.case], sample))
    shared = [repetition for repetition, found in digests.items() if len(found) > 1]
    comparable = [repetition for repetition in shared if len(amounts[repetition]) == 1]
    verdict: Verdict = "same data"
    if not comparable:
        verdict = "not comparable"
    elif any(len(set(digests[repetition].values())) > 1 for repetition in comparable):
        verdict = "different data"
    numbers = sorted({sample.case for sample in samples})
    return DigestComparison(
        cases=[run.cases[number] for number in numbers],
        operation=operation,
        repetitions=len(comparable),
        verdict=verdict,
        digests={repetition: digests[repetition] for repetition in sorted(comparable or shared)},
    )
