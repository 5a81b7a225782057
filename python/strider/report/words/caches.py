"""Sentences on whether reads were served by storage or by a cache."""

from __future__ import annotations

from collections.abc import Sequence

from strider.report.words.numbers import percent
from strider.report.words.storage import cases_of, from_storage
from strider.statistics import OperationSummary
from strider.statistics.served import BOTH_WAYS
from strider.statistics.trust import COLD, HARDLY_SERVED, MOST_SERVED


def is_from_cache(summary: OperationSummary) -> bool:
    """Returns whether counters show that a read was served by a cache."""
    return summary.served is not None and summary.served.share < HARDLY_SERVED


def is_from_storage(summary: OperationSummary) -> bool:
    """Returns whether counters show that a read was served by storage; an upper bound does not."""
    served = summary.served
    return served is not None and not served.is_most and served.share > MOST_SERVED


def cache_note(summary: OperationSummary) -> str:
    """Returns a note that a rate is from a cache, with the evidence; empty otherwise."""
    if is_from_cache(summary):
        return "reads from cache" if summary.operation in BOTH_WAYS else "from cache"
    return f"faster than the {summary.exceeding.what}: cache" if summary.exceeding is not None else ""


def cache_notes(summary: OperationSummary) -> list[str]:
    """Returns the notes of a row about caches; empty if storage served all reads."""
    found = []
    if note := cache_note(summary):
        found.append(note)
    elif summary.served is not None and summary.served.share <= MOST_SERVED:
        at_most = "at most " if summary.served.is_most else ""
        of_reads = " of reads" if summary.operation in BOTH_WAYS else ""
        found.append(f"{at_most}{percent(summary.served.share)} %{of_reads} from storage")
    if _is_not_cold(summary):
        found.append("not cold")
    return found


def format_served(summary: OperationSummary) -> str:
    """Returns the share served by storage in percent; empty for operations that do not read."""
    if "read" not in summary.operation or summary.case.is_metadata:
        return ""
    at_most = "≤ " if summary.served and summary.served.is_most else ""
    return at_most + percent(summary.served.share if summary.served else None)


def cache_remarks(summaries: Sequence[OperationSummary]) -> list[str]:
    """Returns sentences on reads not served by storage and on caches that could not be dropped."""
    cached = [summary for summary in summaries if is_from_cache(summary)]
    warm = [summary for summary in summaries if _is_not_cold(summary)]
    blind = [summary for summary in summaries if _is_unseen(summary)]
    found = []
    if cached:
        most = max(summary.served.share for summary in cached if summary.served)
        remedy = from_storage(cases_of(cached), cases_of(summaries))
        found.append(
            f"{_reads(cached)} served by a cache: {_at_most(most)} of the bytes came from storage. These "
            f"are rates of memory; to read from storage, {remedy}."
        )
    if warm:
        most = max(s.preparation.cached_share or 0.0 for s in warm if s.preparation)
        found.append(
            f"{_reads(warm)} meant to be cold, but up to {percent(most)} % of the files stayed in memory."
        )
    if blind:
        found.append(
            f"{_reads(blind)} meant to be cold, but this cannot be verified on this system "
            f"({_actions(blind)})."
        )
    return found


def _is_not_cold(summary: OperationSummary) -> bool:
    done = summary.preparation
    return done is not None and done.policy == "cold" and (done.cached_share or 0.0) > COLD


def _is_unseen(summary: OperationSummary) -> bool:
    done = summary.preparation
    seen = done is None or done.cached_share is not None or is_from_storage(summary)
    return not seen and done is not None and done.policy == "cold"


def _actions(summaries: Sequence[OperationSummary]) -> str:
    return "; ".join(dict.fromkeys(s.preparation.action for s in summaries if s.preparation))


def _at_most(share: float) -> str:
    return f"at most {percent(share)} %" if share else "none"


def _reads(summaries: Sequence[OperationSummary]) -> str:
    """Returns the reads with a verb: '3 reads were'."""
    count = len(summaries)
    cases = "; ".join(dict.fromkeys(f"{s.case.interface_name}, {s.case.in_words}" for s in summaries))
    few = f" ({cases})" if count <= 3 else ""
    return f"1 read{few} was" if count == 1 else f"{count} reads{few} were"
