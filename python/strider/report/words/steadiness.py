"""Sentences on the variability of repetitions and ranks: outliers, trends, stragglers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from strider.report.words.numbers import significant
from strider.report.words.wording import format_rate_of, plural, result_in_words
from strider.statistics import (
    LastRank,
    Levels,
    OperationSummary,
    Outlier,
    Straggler,
    Trend,
    Uneven,
    last_ranks,
    levels,
    outliers,
    resemblance,
    slow_spell,
    stragglers,
    trends,
    uneven,
)
from strider.statistics.stragglers import LATE, Phase
from strider.store.model import Run

#: Maximum number of sentences of each kind; others are counted.
_MAXIMUM = 3

_Found = TypeVar("_Found")


def steadiness(run: Run, summaries: Sequence[OperationSummary]) -> list[str]:
    """Returns one sentence for each of the worst stragglers, outliers and trends; empty for a steady run.

    Raises:
        StriderError: The run's events are damaged.
    """
    if not summaries:
        return []
    last = last_ranks(run) if any(case.clients > 1 for case in run.cases.values()) else {}
    jumps, slopes = steps_or_lines(summaries)
    return [
        *_worst(stragglers(run, last), lambda one: _straggler_text(run, one), "straggler"),
        *_worst(uneven(run, last), _uneven_text, "uneven phase"),
        *_worst(outliers(summaries), lambda one: _outlier_text(one, last), "outlier"),
        *_worst(jumps, _levels_text, "difference of levels"),
        *_worst(slopes, _trend_text, "trend"),
        *_resemblance_text(summaries),
    ]


def steps_or_lines(summaries: Sequence[OperationSummary]) -> tuple[list[Levels], list[Trend]]:
    """Returns the levels and the trends: of an operation with both, the closer one to its rates."""
    slopes = trends(summaries)
    rising = {one.summary.key for one in slopes}
    jumps = [one for one in levels(summaries) if not (one.summary.key in rising and one.is_rather_a_line)]
    jumping = {one.summary.key for one in jumps}
    return jumps, [one for one in slopes if one.summary.key not in jumping]


def _worst(found: Sequence[_Found], text_of: Callable[[_Found], str], noun: str) -> list[str]:
    """Returns sentences on the first ones, and the number of others."""
    left_out = len(found) - _MAXIMUM
    rest = [f"{plural(left_out, f'smaller {noun}')} not shown."] if left_out > 0 else []
    return [*map(text_of, found[:_MAXIMUM]), *rest]


def _straggler_text(run: Run, straggler: Straggler) -> str:
    who = (
        f"all ranks of {straggler.node}"
        if straggler.rank is None
        else f"rank {straggler.rank} on {straggler.node}"
    )
    operation = result_in_words(straggler.case, " and ".join(straggler.operations))
    if straggler.lost is None and straggler.rank is None:
        return (
            f"Straggler: a rank of {straggler.node} finished last in {straggler.last} of "
            f"{plural(straggler.n, 'phase')} of {operation}, and took "
            f"{significant(straggler.lateness, 2)} × as long as the median rank of the other nodes there."
        )
    if straggler.lost is None:
        return (
            f"Straggler: {who} finished last in {straggler.last} of {plural(straggler.n, 'phase')} of "
            f"{operation}, and took {significant(straggler.lateness, 2)} × as long as the median rank "
            "there."
        )
    return (
        f"Straggler: {who} took {significant(straggler.lateness, 2)} × as long as the median of the others "
        f"in {plural(straggler.n, 'phase')} of {operation}, which lost {100 * straggler.lost:.0f} % of the "
        f"rate{_spell_text(run, straggler)}."
    )


def _uneven_text(found: Uneven) -> str:
    return (
        f"Uneven: in the only repetition of {result_in_words(found.case, found.operation)} the last rank "
        f"took {significant(found.lateness, 2)} × as long as the median of the others; more repetitions show "
        "whether it is always the same rank."
    )


def _spell_text(run: Run, straggler: Straggler) -> str:
    """Returns when it was slow, if timelines show it."""
    spell = slow_spell(run, straggler.operation, straggler.case.number, straggler.worst)
    if spell is None:
        return ""
    if spell.all_along:
        return "; it was slow during the whole phase"
    return (
        f"; in repetition {straggler.worst.repetition} it was slow from {spell.begin_s:.3g} to "
        f"{spell.end_s:.3g} s after the start"
    )


def _outlier_text(outlier: Outlier, last: dict[Phase, LastRank]) -> str:
    case, sample = outlier.summary.case, outlier.sample
    head = (
        f"Outlier: repetition {sample.repetition} of {result_in_words(case, outlier.summary.operation)} had "
        f"{significant(outlier.ratio)} × the median rate"
    )
    phase = last.get((sample.case, sample.repetition, sample.operation))
    if outlier.ratio > 1 or phase is None:
        return f"{head}."
    if phase.lateness <= LATE:
        return f"{head}; all ranks were slow."
    return (
        f"{head}; its last rank took {significant(phase.lateness, 2)} × as long as the median of the others."
    )


def _trend_text(trend: Trend) -> str:
    verb = "rose" if trend.change > 0 else "fell"
    what = result_in_words(trend.summary.case, trend.summary.operation)
    return (
        f"No steady state: the rate of {what} {verb} by {100 * abs(trend.change):.0f} % from the "
        f"first to the last of {trend.summary.n} repetitions."
    )


def _levels_text(found: Levels) -> str:
    summary = found.summary
    what, unit = result_in_words(summary.case, summary.operation), summary.rate_unit
    low, high = (format_rate_of(summary, rate) for rate in (found.low, found.high))
    if found.since is None:
        return (
            f"Two levels: the rate of {what} is near {low} {unit} in some repetitions, and near {high} in "
            "the others."
        )
    rises = summary.rates[found.since] > summary.rates[0]
    first, second = (low, high) if rises else (high, low)
    return (
        f"Level shift: the rate of {what} is near {first} {unit} in the first {found.since} repetitions, and "
        f"near {second} in the other {summary.n - found.since}."
    )


def _resemblance_text(summaries: Sequence[OperationSummary]) -> list[str]:
    phi = resemblance(summaries)
    if phi is None:
        return []
    return [
        f"Repetitions resemble the one before (autocorrelation {phi:.1f}): intervals contain the rate less "
        "often than 95 %."
    ]
