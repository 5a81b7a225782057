"""Grades and their reasons in words, for `strider describe trust`, the card, the report and docs/trust.md.

`strider.statistics.trust` computes the grades. The texts are Markdown; `plain` removes its marks.
"""

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict

from strider.statistics.trust import (
    ALL_SERVED,
    FEW,
    HARDLY_SERVED,
    LONG_S,
    MANY,
    MOST_SERVED,
    NARROW,
    SHORT_S,
    WIDE,
)

LETTERS = ("A", "B", "C", "D")
_COUNTED = re.compile(r"\d+ (repetition|pair|earlier run)s?")


class Criterion(BaseModel):
    """What one criterion needs for each grade.

    Attributes:
        name: The criterion.
        needs: The need of A, B, C and D, in this order; empty where it does not decide that grade.
        reasons: Names of its reasons.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    needs: tuple[str, str, str, str]
    reasons: tuple[str, ...]


class Need(BaseModel):
    """The requirement of a grade for a criterion."""

    model_config = ConfigDict(frozen=True)

    criterion: str
    need: str


class GradeWords(BaseModel):
    """A grade in words.

    Attributes:
        name: The letter.
        meaning: Meaning of a rate of this grade.
        needs: Its requirement for each criterion.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    meaning: str
    needs: tuple[Need, ...] = ()


class Reason(BaseModel):
    """A word beside a grade.

    Attributes:
        name: The word; `N` for a number.
        of: Subject of this reason: a result, a line of a card or a comparison.
        grades: The grades that it accompanies.
        meaning: The cause, as part of a sentence.
        remedy: What raises the grade, in imperative.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    of: Literal["result", "card", "comparison"] = "result"
    grades: str
    meaning: str
    remedy: str


CRITERIA = (
    Criterion(
        name=f"repetitions that count and last {LONG_S:g} s or more",
        needs=(
            str(MANY),
            str(FEW),
            f"fewer than {FEW}, one of at least {SHORT_S:g} s",
            f"all shorter than {SHORT_S:g} s",
        ),
        reasons=("short", "N repetitions"),
    ),
    Criterion(
        name="half-width of the 95 % interval",
        needs=(
            f"{100 * NARROW:.0f} %",
            f"{100 * WIDE:.0f} %",
            f"more than {100 * WIDE:.0f} %, or no interval",
            "",
        ),
        reasons=("spread",),
    ),
    Criterion(
        name="reads: share of the bytes that storage served",
        needs=(
            f"{ALL_SERVED:g}, counted exactly",
            f"{MOST_SERVED:g}, or a client proven cold, or direct I/O",
            f"less than {MOST_SERVED:g}, or unknown",
            f"less than {HARDLY_SERVED:g}",
        ),
        reasons=("cache", "servers?", "source?"),
    ),
    Criterion(
        name="writes",
        needs=(
            "synced (`sync` not `none`) or direct",
            "the same as for A, on network and FUSE file systems",
            "neither synced nor direct",
            "",
        ),
        reasons=("not synced", "servers?"),
    ),
    Criterion(
        name="rate above that of the device or the network", needs=("", "", "", "yes"), reasons=("cache",)
    ),
    Criterion(name="target in memory (tmpfs)", needs=("", "always", "", ""), reasons=("memory",)),
    Criterion(
        name="clock error, share of the phase", needs=("1 %", "", "more than 1 %", ""), reasons=("clock",)
    ),
    Criterion(
        name="steadiness over the repetitions",
        needs=("", "", "a level shift or a trend of more than 5 %", ""),
        reasons=("level", "trend"),
    ),
    Criterion(name="errors, void samples", needs=("none", "", "", "any"), reasons=("errors", "void")),
    Criterion(name="ranks", needs=("real", "", "", "simulated"), reasons=("simulated",)),
    Criterion(name="verification of data", needs=("off", "", "on", ""), reasons=("verified",)),
)
"""Each criterion allows a grade; the weakest one decides."""


def _grade(name: str, meaning: str) -> GradeWords:
    each = [(one.name, one.needs[LETTERS.index(name)]) for one in CRITERIA]
    needs = tuple(Need(criterion=criterion, need=need) for criterion, need in each if need)
    return GradeWords(name=name, meaning=meaning, needs=needs)


GRADES = (
    _grade("A", f"the rate of storage to within {100 * NARROW:.0f} %"),
    _grade("B", f"the rate of storage or of a named part of it, to within {100 * WIDE:.0f} %"),
    _grade(
        "C",
        "a number to look at, not to quote: short phases, few repetitions, a wide interval, or an unknown "
        "source",
    ),
    _grade("D", "not a rate of storage: errors, reads from a cache, phases too short to time"),
    GradeWords(name="–", meaning="interface `null`: Strider's own rate"),
)

REASONS = (
    Reason(
        name="short",
        grades="B, C, D",
        meaning="phases are too short",
        remedy=f"Measure phases of {LONG_S:.0f} s or more: increase block, segments or count",
    ),
    Reason(
        name="N repetitions",
        grades="B, C",
        meaning=f"fewer than {MANY} repetitions count",
        remedy=f"Set repetitions = {MANY}",
    ),
    Reason(
        name="spread",
        grades="B, C",
        meaning="rates differ from repetition to repetition",
        remedy="Increase repetitions, or find what disturbs the storage",
    ),
    Reason(
        name="cache",
        grades="B, C, D",
        meaning="a cache served some or all of the bytes",
        remedy='Read from storage: set `cache = "cold"` or direct I/O, or use files larger than memory',
    ),
    Reason(
        name="source?",
        grades="C",
        meaning="what served the reads is unknown",
        remedy='Show what served the reads: set `cache = "cold"` or direct I/O',
    ),
    Reason(
        name="servers?",
        grades="B",
        meaning="caches of servers are not visible",
        remedy="Use files larger than the memory of the servers; the grade remains B",
    ),
    Reason(
        name="memory",
        grades="B",
        meaning="the target is in memory",
        remedy="Choose a target on storage",
    ),
    Reason(
        name="not synced",
        grades="C",
        meaning="writes are not synced",
        remedy='Include the write to storage: set `sync = "end"` for data, `"each"` for metadata',
    ),
    Reason(
        name="clock",
        grades="C",
        meaning="clocks are too inexact",
        remedy="Synchronize the clocks of the nodes, or measure longer phases",
    ),
    Reason(
        name="level",
        grades="C",
        meaning="rates jump between levels",
        remedy="Find what changed between repetitions, for example other programs on the storage",
    ),
    Reason(
        name="trend",
        grades="C",
        meaning="rates rise or fall from repetition to repetition",
        remedy="Repeat until the rate is steady: set warmup, or measure longer",
    ),
    Reason(name="errors", grades="D", meaning="operations failed", remedy="Correct the errors first"),
    Reason(
        name="void",
        grades="D",
        meaning="a failed check made samples void",
        remedy="Correct what made samples void: see the errors",
    ),
    Reason(
        name="simulated",
        grades="D",
        meaning="the ranks are simulated",
        remedy="Measure with real ranks: leave --simulate out",
    ),
    Reason(
        name="verified",
        grades="C",
        meaning="verification takes part of the time",
        remedy='Measure once more with `verify = "off"`',
    ),
    Reason(
        name="touch",
        of="card",
        grades="C",
        meaning="new memory is slow",
        remedy="Use a machine that has its memory from the start, not at its first touch",
    ),
    Reason(
        name="cards",
        of="card",
        grades="B, C",
        meaning="rates differ from card to card",
        remedy="Find what disturbs the storage, or measure longer with --budget",
    ),
    Reason(
        name="N pairs",
        of="comparison",
        grades="B",
        meaning="fewer than 6 pairs",
        remedy="Measure 6 rounds of one run, or 6 alternating runs of each side",
    ),
    Reason(
        name="N earlier runs",
        of="comparison",
        grades="B, C",
        meaning="single runs, compared by the differences between earlier runs",
        remedy="Alternate runs of both sides, or collect 5 earlier runs for a B",
    ),
    Reason(
        name="single runs",
        of="comparison",
        grades="D",
        meaning="how much runs differ by chance is unknown",
        remedy="Measure both sides in rounds of one run, or alternate runs of both sides",
    ),
    Reason(
        name="not alternating",
        of="comparison",
        grades="D",
        meaning="the runs of both sides do not alternate",
        remedy="Alternate runs of both sides",
    ),
    Reason(
        name="not interleaved",
        of="comparison",
        grades="D",
        meaning="the cases were measured one after the other",
        remedy='Set `interleave = "random"`',
    ),
)
"""Reasons of results, then those of lines of cards, then those of comparisons."""


def reason_of(word: str) -> Reason | None:
    """Returns the reason that a word such as `cache` or `3 repetitions` names; None for another word."""
    counted = _COUNTED.fullmatch(word)
    name = f"N {counted[1]}s" if counted else word
    return next((one for one in REASONS if one.name == name), None)


def plain(text: str) -> str:
    """Returns a text without the marks of Markdown."""
    return text.replace("`", "")
