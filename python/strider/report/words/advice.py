"""What to do next, so that results can be trusted: one line for each reason of a low grade."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from strider.report.blocks import Conclusion
from strider.report.words.storage import cases_of, from_storage
from strider.report.words.wording import plural
from strider.statistics import OperationSummary, is_trusted
from strider.statistics.distribution import typical_repetitions_for
from strider.statistics.exceeding import is_through_target
from strider.statistics.grades import REASONS, plain, reason_of
from strider.statistics.trust import LONG_S, MANY, SYNCED, WIDE

#: Keys of patterns that set how much data a client moves.
_AMOUNTS = ("block", "segments", "count", "size")
#: So many lines at most, the reason of the most results first.
_MOST_LINES = 5


def advice(summaries: Sequence[OperationSummary], places: Mapping[int, str]) -> list[Conclusion]:
    """Returns what raises the grades of results below B, the reason of the most results first.

    Args:
        summaries: The results.
        places: Anchors of the figures of each case.
    """
    by_reason: defaultdict[str, list[OperationSummary]] = defaultdict(list)
    for summary in summaries:
        if summary.trust is None or is_trusted(summary.trust):
            continue
        for word in summary.trust.reasons:
            if not _has_no_remedy(summary, word):
                by_reason[_name(word)].append(summary)
    ordered = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    return [
        Conclusion(
            f"{_remedy(word, own, summaries)} ({plural(len(own), 'result')}: {_word(word)}).",
            places.get(own[0].case.number, ""),
            "results",
        )
        for word, own in ordered[:_MOST_LINES]
    ]


def _remedy(word: str, own: Sequence[OperationSummary], summaries: Sequence[OperationSummary]) -> str:
    """Returns the remedy of a reason for some of the results."""
    if word in _COMPUTED:
        return _COMPUTED[word](own)
    if word in _FROM_STORAGE:
        reads = [summary for summary in own if "read" in summary.operation]
        return f"{_FROM_STORAGE[word]}: {from_storage(cases_of(reads), cases_of(summaries))}"
    (reason,) = (one for one in REASONS if one.name == word)
    return plain(reason.remedy)


def remedies(reasons: Sequence[str], summaries: Sequence[OperationSummary]) -> list[str]:
    """Returns what removes some reasons of a low grade, without final stops.

    Args:
        reasons: The reasons, in the words of a `Trust`.
        summaries: The results that have them.
    """
    names = dict.fromkeys(_name(word) for word in reasons)
    return [_remedy(name, summaries, summaries) for name in names if reason_of(name)]


def _has_no_remedy(summary: OperationSummary, word: str) -> bool:
    """Returns whether no key of a case removes a reason.

    Libraries and servers do not show their caches. A client may answer look-ups itself, and changes of names
    but those of `SYNCED` are never synced.
    """
    if not summary.case.is_metadata:
        return word == "source?" and not is_through_target(summary.case)
    return word == "source?" or (word == "not synced" and summary.operation not in SYNCED)


def _name(word: str) -> str:
    """Returns the name of a reason, the same for all numbers of repetitions."""
    reason = reason_of(word)
    return reason.name if reason else word


def _word(name: str) -> str:
    return "too few repetitions" if name == "N repetitions" else name


def _longer(summaries: Sequence[OperationSummary]) -> str:
    lengths = [sample.elapsed_s for summary in summaries for sample in summary.samples]
    middle = median(lengths) if lengths else 0.0
    for key in ("deadline", "runtime"):
        if all(0 < summary.case.common_parameters.get(key, 0) < LONG_S for summary in summaries):
            return f"Measure phases of {LONG_S:.0f} s or more: raise the {key}"
    is_metadata = all(summary.case.is_metadata for summary in summaries)
    what = "items" if is_metadata else _amount(summaries)
    if not 0 < middle < LONG_S:
        return f"Measure longer phases: increase {what}"
    factor = math.ceil(LONG_S / middle)
    # Buffered reads that are repeated come from the cache.
    repeated = "" if is_metadata else f', or for writes and direct I/O set runtime = "{LONG_S:.0f}s"'
    return f"Measure phases of {LONG_S:.0f} s or more: increase {what} about {factor} times{repeated}"


def _amount(summaries: Sequence[OperationSummary]) -> str:
    """Returns the keys that set how much data a client of these cases moves."""
    given = [name for name in _AMOUNTS if any(name in summary.case.pattern for summary in summaries)]
    names = given or list(_AMOUNTS)
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _narrower(summaries: Sequence[OperationSummary]) -> str:
    needed = typical_repetitions_for([summary.rate for summary in summaries if summary.rate], WIDE)
    if needed is None:
        return "Find what disturbs the storage: more than 1000 repetitions would be needed"
    return (
        f"Increase repetitions to about {max(MANY, needed)}: intervals within "
        f"±{100 * WIDE:.0f} % for half of these results"
    )


_COMPUTED: dict[str, Callable[[Sequence[OperationSummary]], str]] = {"short": _longer, "spread": _narrower}
"""Remedies that depend on the results; the others are those of `strider.statistics.grades`."""
_FROM_STORAGE = {"cache": "Read from storage", "source?": "Show what served the reads"}
"""Begins of remedies that depend on the interfaces of the cases."""
