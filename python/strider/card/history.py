"""Differences between the cards of one directory, which the rounds of one card do not show.

The rounds of a card share its minutes, the places of its files and its neighbours. Their interval says
nothing of another minute, so the next card can lie outside it. Where the store has earlier cards of the
directory, their spread widens the interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import stdev

from strider.card.model import Card, Line, RatioLine, read_card
from strider.card.ratios import word_of
from strider.errors import StriderError
from strider.listing.names import run_directories
from strider.statistics import MINIMUM_FOR_RATIO, describe
from strider.statistics.distribution import LEVEL, half_width_of
from strider.statistics.trust import NARROW, WIDE
from strider.store.load import load_info

REASON = "cards"
#: The latest ones count: a directory changes.
MOST_EARLIER = 9
MOST_AGE_S = 7 * 86400.0
#: Rounds that differ so much say nothing of how cards differ: one disturbed card would spoil the next ones.
_WIDEST = 0.5
#: Of a store with many runs only so many are read.
_MOST_READ = 200


def earlier_cards(store: Path, run: Path) -> list[Card]:
    """Returns the cards of a store that were made in the week before a run, latest first.

    Args:
        store: The store.
        run: Directory of the run; without a time, or not to be read, it has no earlier cards.
    """
    own_s = _started_s(run)
    found: list[Card] = []
    for directory in run_directories(store)[: -_MOST_READ - 1 : -1]:
        if 0.0 < own_s - _started_s(directory) <= MOST_AGE_S and (card := read_card(directory)):
            found.append(card)
    return found


def _started_s(directory: Path) -> float:
    try:
        return load_info(directory).started_s
    except StriderError:
        return math.nan


def with_earlier(card: Card, earlier: Sequence[Card]) -> Card:
    """Returns the card with intervals and grades that count how far earlier cards of the directory differ.

    Args:
        card: The card, with the intervals of its rounds.
        earlier: Earlier cards, latest first; those of other directories or of other work do not count.
    """
    like = [one for one in earlier if _is_alike(card, one)][:MOST_EARLIER]
    lines = [_line(line, [other for one in like if (other := _same_work(line, one))]) for line in card.lines]
    # The numbers of a card are those of one client, its ratios often of all.
    together = [one for one in like if one.machine.clients == card.machine.clients]
    ratios = [
        _ratio(ratio, [found for one in together if (found := one.ratio(ratio.id))]) for ratio in card.ratios
    ]
    return card.model_copy(update={"lines": lines, "ratios": ratios})


def _is_alike(card: Card, other: Card) -> bool:
    """Whether another card is one of the same directory, measured in the same way."""
    facts = [
        (
            one.target,
            one.place.fs,
            one.place.device,
            one.place.interface,
            one.place.direct,
            one.machine.cores,
        )
        for one in (card, other)
    ]
    return facts[0] == facts[1] and not other.budget.cut


def _same_work(line: Line, card: Card) -> Line | None:
    """The line of an earlier card with the same requests; None if no earlier card shows how cards differ."""
    other = card.line(line.id)
    if other is None or other.rate is None or not "" < other.grade < "D":
        return None
    rounds = describe([one.rate for one in other.rounds])
    if rounds is None or rounds.half_width is None or rounds.half_width > _WIDEST:
        return None
    same = (other.interface, other.depth, other.request) == (line.interface, line.depth, line.request)
    return other if same else None


def _line(line: Line, earlier: Sequence[Line]) -> Line:
    if line.rate is None or not line.grade:
        return line
    values = [one.rate.value for one in earlier if one.rate and one.rate.value > 0]
    half = half_width_between([line.rate.value, *values])
    if half is None:
        return line
    rate = line.rate.model_copy(update={"cards": len(values) + 1})
    if half <= (line.rate.half_width or 0.0):
        return line.model_copy(update={"rate": rate})
    ends = {"low": line.rate.value / (1 + half), "high": line.rate.value * (1 + half)}
    return _graded(line.model_copy(update={"rate": rate.model_copy(update=ends)}), half)


def _graded(line: Line, half: float) -> Line:
    """The line with the grade that an interval allows at most."""
    allowed = "C" if half > WIDE else "B" if half > NARROW else "A"
    if line.grade >= allowed:
        return line
    return line.model_copy(update={"grade": allowed, "reasons": [REASON]})


def _ratio(ratio: RatioLine, earlier: Sequence[RatioLine]) -> RatioLine:
    half = half_width_between([ratio.value, *(one.value for one in earlier if one.value > 0)])
    if (
        half is None
        or ratio.low is None
        or ratio.high is None
        or half <= half_width_of(ratio.low, ratio.high)
    ):
        return ratio
    low, high = ratio.value / (1 + half), ratio.value * (1 + half)
    return ratio.model_copy(update={"low": low, "high": high, "word": word_of(low, high)})


def half_width_between(values: Sequence[float]) -> float | None:
    """Returns the half-width of the 95 % interval around one value, by how far all of them differ.

    Each stands for a card: Student's t with their standard deviation, on logarithms.

    Returns:
        None of fewer than three.
    """
    if len(values) < MINIMUM_FOR_RATIO:
        return None
    from scipy.special import stdtrit

    logs = [math.log(value) for value in values]
    return math.expm1(float(stdtrit(len(logs) - 1, (1 + LEVEL) / 2)) * stdev(logs))
