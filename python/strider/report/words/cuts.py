"""The sentences on a run that was cut and resumed."""

from __future__ import annotations

from collections.abc import Sequence

from strider.report.words.wording import plural, shown_time
from strider.store.model import Cut, Run

_HOW = {
    "interrupted": "interrupted",
    "failed": "failed",
    "killed": "killed, or cut by a power failure",
    "time limit": "ended by its time limit",
}


def cut_sentences(cuts: Sequence[Cut]) -> list[str]:
    """Returns a sentence for each cut: when and why, and when the run was resumed."""
    return [_sentence(cut) for cut in cuts]


def ceilings_sentence(run: Run) -> str:
    """Returns a sentence on ceilings of several starts; empty if those of one start are all."""
    starts = len({report.start for report in run.ceilings})
    if starts < 2:
        return ""
    return f"The machine ceilings were measured at each of {starts} starts of this run; the highest counts."


def _sentence(cut: Cut) -> str:
    reason = f" ({cut.reason})" if cut.reason and cut.reason != cut.status else ""
    differing = f" Different since then: {'; '.join(cut.differences)}." if cut.differences else ""
    return (
        f"This run was {_HOW.get(cut.status, cut.status)}{reason} at {shown_time(cut.at)} after "
        f"{plural(cut.repetitions, 'repetition')}, and resumed at {shown_time(cut.resumed)}.{differing}"
    )
