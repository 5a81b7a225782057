"""How many rows got which verdict, and what to know about them."""

from __future__ import annotations

from strider.compare.model import Comparison
from strider.compare.wording import MARKS, constants_text, counts_text, overall_text
from strider.report.blocks import Block, Card, Cards, Facts, Heading, Section, Text


def _page(comparison: Comparison) -> list[Block]:
    counts = [
        Card(f"{MARKS[verdict]} {verdict}", str(count))
        for verdict, count in comparison.counts.items()
        if count
    ]
    sides = dict.fromkeys((side.label, side.about) for side in comparison.sides)
    rows = [(label if number else f"{label} (base)", about) for number, (label, about) in enumerate(sides)]
    constants = constants_text(comparison)
    return [
        *(Text(overall_text(one, comparison.threshold)) for one in comparison.overall),
        Cards(counts),
        Text(counts_text(comparison)),
        *map(Text, comparison.remarks),
        Heading("What is compared"),
        Facts("What is compared", rows),
        *([Text(f"Common to all rows: {constants}.", "caption")] if constants else []),
    ]


def _terminal(comparison: Comparison) -> list[Block]:
    return [
        Text(counts_text(comparison), "bold"),
        *(Text(remark, "doubt") for remark in comparison.remarks),
    ]


SECTION = Section("summary", "Summary", _page, _terminal)
