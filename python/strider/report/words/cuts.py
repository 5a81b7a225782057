"""The sentences on a run that was cut and resumed."""

from __future__ import annotations

from collections.abc import Sequence

from strider.report.words.wording import plural, shown_time
from strider.store.model import Cut, Run
from strider.store.starts import Span
from strider.units import format_seconds

_MOST_SENTENCES = 3
"""With more cuts, the table of starts has their times and causes."""
_HOW = {
    "interrupted": "interrupted",
    "failed": "failed",
    "killed": "killed, or cut by a power failure",
    "time limit": "ended by its time limit",
}


def cut_sentences(cuts: Sequence[Cut]) -> list[str]:
    """Returns a sentence for each cut: when and why, and when the run was resumed; one if there are many."""
    if len(cuts) <= _MOST_SENTENCES:
        return [_sentence(cut) for cut in cuts]
    first, last = shown_time(cuts[0].at), shown_time(cuts[-1].at)
    said = f"This run was cut {len(cuts)} times between {first} and {last}, and resumed each time."
    differing = dict.fromkeys(text for cut in cuts for text in cut.differences)
    return [said + (f" Different since its first start: {'; '.join(differing)}." if differing else "")]


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


def starts_sentence(found: Sequence[Span]) -> str:
    """Returns how many starts measured a run, and how long it paused between them."""
    pauses = [span.pause_s for span in found if span.pause_s >= 0]
    paused = f", with {format_seconds(sum(pauses))} of pauses between them" if pauses else ""
    return (
        f"This run was measured in {len(found)} starts{paused}. Each repetition was measured in one start "
        "and counts once; those that a cut left incomplete were measured again."
    )
