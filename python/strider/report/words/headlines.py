"""Headlines: the highest trusted rate of each operation, freed from its luck."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median
from types import MappingProxyType

from strider.report.blocks import Card
from strider.report.labels.facets import Facets
from strider.report.words.wording import format_rate_of, plural
from strider.statistics import OperationSummary, is_trusted
from strider.statistics.best import Best, best_of
from strider.units import format_bytes

#: With three repetitions that vary by 10 %, few intervals are narrow enough for grade B, and those only by
#: luck: the highest of 60 such results is 8 % too high.
LEAST_REPETITIONS = 5
#: The same holds for five repetitions that vary by 10 or 15 %. With both limits the headline of 5, 15 or 60
#: equal results is less than 0.5 % too high.
MOST_HALF_WIDTH = 0.10
#: No result counts for more than so many times the median in the spread of all: one unsteady result beside
#: steady ones does not matter, and of five equal ones none has so wide an interval by chance.
_MOST_OF_MEDIAN = math.sqrt(5)
#: Operations of one grade that a sentence names.
_MOST_NAMED = 4


def best_rates(
    summaries: Sequence[OperationSummary], facets: Facets, places: Mapping[int, str] = MappingProxyType({})
) -> list[Card]:
    """Returns the best of the trusted results of each operation, with those that do not differ from it.

    Args:
        summaries: The results.
        facets: Labels of their cases.
        places: Anchors of the figures of each case.
    """
    cards = []
    for operation, own in _by_operation(summaries).items():
        trusted = [summary for summary in own if _may_lead(summary)]
        if trusted and _are_narrow(own):
            best = best_of([summary.rates for summary in trusted])
            place = places.get(trusted[best.leader].case.number, "")
            cards.append(replace(_card(operation, trusted, best, len(own), facets), to=place))
    return cards


def headline_remark(summaries: Sequence[OperationSummary]) -> str:
    """Returns why operations have no headline, with the best grade of each; empty if all have one."""
    missing: dict[str, list[str]] = {}
    for operation, own in _by_operation(summaries).items():
        if not (any(map(_may_lead, own)) and _are_narrow(own)):
            missing.setdefault(min(str(summary.trust) for summary in own), []).append(operation)
    if not missing:
        return ""
    listed = "; ".join(f"{_some(names)} (best grade: {grade})" for grade, names in missing.items())
    return (
        f"No headline for {listed}: headlines need trust A or B, {LEAST_REPETITIONS} repetitions, and "
        f"intervals within ±{100 * MOST_HALF_WIDTH:.0f} % (root mean square of the results)."
    )


def _some(names: Sequence[str]) -> str:
    """Some operations; of many, the number of the others."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:_MOST_NAMED])} and {more} others"


def _by_operation(summaries: Sequence[OperationSummary]) -> dict[str, list[OperationSummary]]:
    """Returns the graded summaries of each operation: all with a rate but those of `null`."""
    found: dict[str, list[OperationSummary]] = {}
    for summary in summaries:
        if summary.trust is not None and summary.rate is not None:
            found.setdefault(summary.operation, []).append(summary)
    return found


def _may_lead(summary: OperationSummary) -> bool:
    rate = summary.rate
    if summary.case.measured_together:
        return False
    return is_trusted(summary.trust) and rate is not None and rate.n >= LEAST_REPETITIONS


def _are_narrow(own: Sequence[OperationSummary]) -> bool:
    """Whether the intervals are narrow as a whole, so that the trusted ones are not narrow by luck alone.

    The root mean square depends on chance far less than the median: of 15 results that vary by 10 %, half
    have narrow intervals in 8 % of runs, and the root mean square is narrow in 0.5 %.
    """
    widths = [summary.rate.half_width for summary in own if summary.rate]
    logs = [math.log1p(width) for width in widths if width is not None]
    most = _MOST_OF_MEDIAN * median(logs)
    return math.sqrt(fmean(min(one, most) ** 2 for one in logs)) <= math.log1p(MOST_HALF_WIDTH)


def _card(
    operation: str, trusted: Sequence[OperationSummary], best: Best, results: int, facets: Facets
) -> Card:
    leader = trusted[best.leader]
    case, others = leader.case, len(best.members) - 1
    transfer = (
        f", {format_bytes(case.transfer_bytes)} per transfer" if case.transfer_bytes is not None else ""
    )
    alike = f"not distinguishable from {plural(others, 'other')}" if others else ""
    of_how_many = (
        f"of {len(trusted)} trusted results"
        if len(trusted) > 1
        else f"the only trusted result{f' of {results}' if results > 1 else ''}"
    )
    said = "; ".join(part for part in (alike, of_how_many, f"trust {leader.trust}") if part)
    return Card(
        name=operation,
        value=f"{format_rate_of(leader, best.rate)} {leader.rate_unit}",
        how=(
            f"through {facets.series[case.number]}, {plural(case.clients, 'client')}, "
            f"{facets.group[case.number]}{transfer} ({said})"
        ),
    )
