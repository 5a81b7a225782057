"""The points of the figures: one per summary, with whiskers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from strider.report.figures.style import Ends
from strider.report.labels.facets import Facets
from strider.report.words.caches import cache_note
from strider.report.words.numbers import significant
from strider.statistics import Distribution, OperationSummary
from strider.units import format_bytes

#: Up to so many repetitions whiskers are their minimum and maximum.
FEW = 3

Whiskers = Literal["95 % interval", "minimum and maximum", "none"]


@dataclass(frozen=True)
class Point:
    """A rate in MiB/s with the ends of its whiskers; `label` is shown when a reader points at it.

    With a `note` it is no rate of storage, and is drawn hollow. `published_mib_s` is what others published
    for it.
    """

    series: str
    group: str
    transfer_bytes: int | None
    rate_mib_s: float
    low_mib_s: float
    high_mib_s: float
    whiskers: Whiskers
    label: str
    note: str = ""
    published_mib_s: float | None = None


def ends_of(points: Iterable[Point]) -> Ends:
    """The ends of the rate axis of charts that are to be compared."""
    some = list(points)
    published = [point.published_mib_s for point in some if point.published_mib_s is not None]
    low, high = [point.rate_mib_s for point in some], [point.high_mib_s for point in some]
    return Ends(min([*low, *published]), max([*high, *published]))


def point_of(summary: OperationSummary, facets: Facets) -> Point | None:
    """The point of a summary; None where nothing was measured."""
    rate, case = summary.rate, summary.case
    if rate is None:
        return None
    whiskers, low, high = whiskers_of(rate)
    spread = "" if whiskers == "none" else f", {whiskers} {significant(low)}–{significant(high)}"
    transfer = "" if case.transfer_bytes is None else f", {format_bytes(case.transfer_bytes)}"
    series = facets.series[case.number]
    note = cache_note(summary)
    noted = f"; {note}" if note else ""
    return Point(
        series=series,
        group=facets.group[case.number],
        transfer_bytes=case.transfer_bytes,
        rate_mib_s=rate.centre,
        low_mib_s=low,
        high_mib_s=high,
        whiskers=whiskers,
        label=f"{series}{transfer}: {significant(rate.centre)} MiB/s{spread} (n = {rate.n}){noted}",
        note=note,
    )


def whiskers_of(rate: Distribution) -> tuple[Whiskers, float, float]:
    """What whiskers around a rate are, and their ends.

    The interval of a few repetitions reaches several times as far as they do, and would squeeze all else.
    """
    if rate.interval is not None and rate.n > FEW:
        return "95 % interval", rate.interval.low, rate.interval.high
    if rate.n > 1:
        return "minimum and maximum", rate.minimum, rate.maximum
    return "none", rate.centre, rate.centre
