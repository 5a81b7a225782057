"""Phases by time: how often the ranks went over their requests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from strider.store import Sample
from strider.units import MIB


@dataclass(frozen=True)
class RuntimeSummary:
    """Requests of phases with a runtime; of passes and requests, the extremes of all repetitions.

    Attributes:
        runtime_s: The runtime of the case.
        ramp_s: The part of it that is not counted.
        ramp_mib_s: Mean rate of the requests that began during the ramp; NaN without a ramp.
    """

    runtime_s: float
    ramp_s: float
    ramp_mib_s: float
    passes_min: float
    passes_max: float
    requests_per_rank_min: int
    requests_per_rank_max: int


def summarize_runtime(samples: Sequence[Sample]) -> RuntimeSummary | None:
    """Returns the summary of the samples with a runtime; None if there are none."""
    found = [sample.runtime for sample in samples if sample.runtime is not None]
    if not found:
        return None
    ramp_s = found[0].ramp_s
    return RuntimeSummary(
        runtime_s=found[0].runtime_s,
        ramp_s=ramp_s,
        ramp_mib_s=fmean(one.ramp_bytes for one in found) / ramp_s / MIB if ramp_s > 0 else math.nan,
        passes_min=min(one.passes_min for one in found),
        passes_max=max(one.passes_max for one in found),
        requests_per_rank_min=min(one.requests_per_rank_min for one in found),
        requests_per_rank_max=max(one.requests_per_rank_max for one in found),
    )
