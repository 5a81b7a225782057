"""Reservations about the results of a run: short phases, expensive opens, wide intervals."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from strider.report.words.clocks import clock_remark
from strider.statistics import OperationSummary
from strider.statistics.distribution import repetitions_for
from strider.statistics.trust import NARROW

#: Shorter phases, in seconds, are dominated by start-up, scheduling and the first open.
_SHORT_S = 0.1
#: Share of the elapsed time from which open and close are reported.
_DEAR_SHARE = 0.2


def reservations(summaries: Sequence[OperationSummary]) -> list[str]:
    """Returns one sentence for each reservation; empty if there is none."""
    found = [
        clock_remark(summaries),
        _short_phases(summaries),
        *dear_opens(summaries),
        _not_converged(summaries),
        _needed(summaries),
    ]
    return [sentence for sentence in found if sentence]


def half_width(summary: OperationSummary) -> float:
    """Returns how far the 95 % interval of a rate reaches, as a share of it; infinite without an interval."""
    width = summary.rate.half_width if summary.rate else None
    return math.inf if width is None else width


def _short_phases(summaries: Sequence[OperationSummary]) -> str:
    elapsed_s = [sample.elapsed_s for summary in summaries for sample in summary.samples]
    short = sum(one < _SHORT_S for one in elapsed_s)
    if not short:
        return ""
    return (
        f"{short} of {len(elapsed_s)} phases are shorter than {_SHORT_S:g} s; their rates are not reliable."
    )


def dear_opens(summaries: Sequence[OperationSummary]) -> list[str]:
    """Returns a sentence for each interface whose open and close take a large share of the time."""
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for summary in summaries:
        times = summary.times
        if times is None or not times.elapsed_s > 0:
            continue
        # Each is the maximum over the ranks, so their sum may exceed the elapsed time.
        share = min((times.open_s + times.close_s) / times.elapsed_s, 1.0)
        if share > _DEAR_SHARE:
            shares[summary.case.interface_name].append(share)
    return [
        f"{name}: open and close take {_range_percent(own)} of the time in {len(own)} "
        f"{'result' if len(own) == 1 else 'results'}."
        for name, own in shares.items()
    ]


def _range_percent(shares: Sequence[float]) -> str:
    low, high = (f"{100 * share:.0f}" for share in (min(shares), max(shares)))
    return f"{low} %" if low == high else f"{low}–{high} %"


def _not_converged(summaries: Sequence[OperationSummary]) -> str:
    """Returns a sentence on operations that did not reach the requested interval width."""
    asked = [summary for summary in summaries if summary.case.repetitions.get("until")]
    missed = [
        summary
        for summary in asked
        if summary.n + summary.voided >= summary.case.repetitions.get("max", 0)
        and half_width(summary) > summary.case.repetitions["until"]
    ]
    if not missed:
        return ""
    worst = max(missed, key=half_width)
    width = half_width(worst)
    spread = f"±{100 * width:.0f} %" if math.isfinite(width) else "no interval"
    goals = _one_or_range([f"{100 * summary.case.repetitions['until']:g}" for summary in missed])
    counts = _one_or_range([str(summary.case.repetitions["max"]) for summary in missed])
    noun = "operation" if len(asked) == 1 else "operations"
    return (
        f"{len(missed)} of {len(asked)} {noun} did not reach ±{goals} % in {counts} repetitions "
        f"(worst: {_place(worst)}: {spread}"
        f"{_takes(worst, worst.case.repetitions['until'])})."
    )


def _takes(summary: OperationSummary, half_width: float) -> str:
    """Returns the number of repetitions for an interval of this half-width; empty if it is not known."""
    count = repetitions_for(summary.rate, half_width) if summary.rate else None
    return f"; ±{100 * half_width:g} % takes about {count} repetitions" if count else ""


def _needed(summaries: Sequence[OperationSummary]) -> str:
    """Returns how many repetitions intervals of grade A take, by the spread of those there are."""
    wide = [
        summary
        for summary in summaries
        if not summary.case.repetitions.get("until") and NARROW < half_width(summary) < math.inf
    ]
    counts = [repetitions_for(summary.rate, NARROW) or math.inf for summary in wide if summary.rate]
    if not counts:
        return ""
    largest, middle = max(counts), sorted(counts)[len(counts) // 2]
    worst = wide[counts.index(largest)]
    at_most = "more than 1000" if largest == math.inf else f"{largest}"
    about = "more than 1000" if middle == math.inf else f"about {middle}"
    several = f" (median; at most {at_most}: {_place(worst)})" if len(wide) > 1 else f" ({_place(worst)})"
    noun = "result is" if len(wide) == 1 else "results are"
    return (
        f"{len(wide)} {noun} known less well than ±{100 * NARROW:g} %: to show {100 * NARROW:g} % takes "
        f"{about} repetitions{several}."
    )


def _place(summary: OperationSummary) -> str:
    return f"{summary.operation} through {summary.case.interface_name}, {summary.case.in_words}"


def _one_or_range(numbers: Sequence[str]) -> str:
    ordered = sorted(set(numbers), key=float)
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}–{ordered[-1]}"
