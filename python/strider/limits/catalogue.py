"""All sentences that Strider says by itself about limits and ranks, in one form, for the manual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from strider.limits import movers
from strider.limits.rules import RULES
from strider.statistics import crossover, overlap, scaling
from strider.statistics.last_in_phases import OFTEN_LAST
from strider.statistics.rule import Card, Rates
from strider.statistics.stragglers import STRAGGLER, UNEVEN

#: Sentences that are not about a single result.
BESIDE_RULES: tuple[Card, ...] = (
    movers.CARD,
    STRAGGLER,
    OFTEN_LAST,
    UNEVEN,
    overlap.CARD,
    crossover.CARD,
    scaling.CARD,
)
CATALOGUE: tuple[Card, ...] = (*(rule.card for rule in RULES), *BESIDE_RULES)
_NUMBERS = (3, 5, 10)


def tables() -> str:
    """The tables of docs/limits.md: what each rule needs, why its threshold is there, how often it errs."""
    rules = [(one.card, one.weight) for one in RULES]
    return "\n\n".join(
        [
            _table(
                ("rule", "", "evidence", "counts", "test", "effect"),
                [
                    *((c.name, weight, c.evidence, c.counts, c.test, c.effect) for c, weight in rules),
                    *((c.name, "adds", c.evidence, c.counts, c.test, c.effect) for c in BESIDE_RULES),
                ],
            ),
            _table(("rule", "reason for the threshold"), [(one.name, one.why) for one in RULES]),
            _table(
                (
                    "sentence",
                    "runs",
                    "false alarms, % (n = 3, 5, 10)",
                    "found, % (n = 3, 5, 10)",
                    "cause and noise",
                ),
                [(card.name, *_cells(card.rates)) for card in CATALOGUE if card.rates],
            ),
        ]
    )


def _cells(rates: Rates | None) -> tuple[str, ...]:
    if rates is None:
        return ("", "", "", "")
    return str(rates.runs), _shares(rates.false_alarms), _shares(rates.found), rates.cause


def _shares(by_number: Mapping[int, float]) -> str:
    if not set(by_number) & set(_NUMBERS):
        return ", ".join(f"{_percent(share)} (n = {n})" for n, share in by_number.items())
    return ", ".join(_percent(by_number.get(n)) for n in _NUMBERS)


def _percent(share: float | None) -> str:
    if share is None:
        return "–"
    return f"{100 * share:.1f}" if share < 0.0995 else f"{100 * share:.0f}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(
        "|" + "|".join(cell if cell == "---" else f" {cell} " if cell else " " for cell in line) + "|"
        for line in lines
    )
