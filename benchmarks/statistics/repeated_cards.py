"""How often the intervals of storage cards hold the rate of a directory, by the number of cards of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grids import Grid, Progress, Share
from noise import Logs, Noise, Random, lognormal, run_effect
from strider.card import Budget, Card, Machine, PlaceFacts
from strider.card.history import with_earlier
from strider.card.model import Line, Rate, Round
from strider.statistics import describe
from strider.statistics.trust import NARROW, WIDE
from trials import LEAST

#: Rounds of a card of two minutes.
ROUNDS = 5
COUNTS = (1, 3, 5, 10)
NOISES: tuple[Noise, ...] = (
    lognormal(0.03),
    lognormal(0.03) + run_effect(0.03, of_rows=True),
    lognormal(0.03) + run_effect(0.1, of_rows=True),
    lognormal(0.1) + run_effect(0.1, of_rows=True),
    lognormal(0.2) + run_effect(0.2, of_rows=True),
)
_NAME = "write.sequential"
_PLACE = PlaceFacts(fs="ext4", kind="local", size=1, free=1, direct=True)


def coverage_of_cards(trials: int, rng: Random, progress: Progress) -> Grid:
    """How often the interval of the latest card holds the truth, where the earlier ones are known."""
    about = (
        "Share of the 95 % intervals of a number of a storage card, in percent, that contain the true "
        "centre, by the number of cards of the directory, this one included; in brackets, of those with "
        f"grade A or B. A card has {ROUNDS} rounds; *run effect* is what all rounds of a card have in "
        f"common. {trials} series each. Promised: 93 or more from three cards on, without the brackets."
    )
    grid = Grid("Intervals of cards", about, ["noise", *map(str, COUNTS)])
    for noise in NOISES:
        cells = []
        for count in COUNTS:
            found = [latest(noise.draw(rng, (count, ROUNDS))) for _ in range(trials)]
            held, trusted = _held(found), _held([one for one in found if one.is_trusted])
            cells.append(f"{held.percent} ({trusted.percent})")
            if count >= 3 and held.is_below(LEAST):
                grid.claims.append(f"interval of a card, {noise.name}, {count} cards: {held.percent} %")
            progress.step("cards", 1)
        grid.rows.append([noise.name, *cells])
    return grid


def latest(logs: Logs) -> Line:
    """The line of the first of some cards; the others are earlier ones.

    Args:
        logs: Logarithms of the rates, a row for each card.
    """
    own, *earlier = (_card(rates) for rates in np.exp(logs).tolist())
    (line,) = with_earlier(own, earlier).lines
    return line


def _card(rates: Sequence[float]) -> Card:
    """A card of one line, with the interval and the grade of its rounds."""
    found = describe(rates)
    if found is None or found.interval is None:
        raise ValueError(f"{len(rates)} rounds have no interval")
    half = found.half_width or 0.0
    rate = Rate(value=found.centre, unit="B/s", low=found.interval.low, high=found.interval.high)
    rounds = [Round(at_s=0.0, seconds=1.0, requests=1, rate=one) for one in rates]
    grade = "C" if half > WIDE else "B" if half > NARROW else "A"
    return Card(
        target="/scratch",
        place=_PLACE,
        machine=Machine(cores=2, memory=1),
        budget=Budget(asked_s=120, took_s=120),
        lines=[Line(id=_NAME, label=_NAME, rate=rate, grade=grade, rounds=rounds)],
    )


def _held(lines: Sequence[Line]) -> Share:
    ends = [(one.rate.low or 0.0, one.rate.high or 0.0) for one in lines if one.rate]
    return Share(sum(low <= 1.0 <= high for low, high in ends), len(ends))
