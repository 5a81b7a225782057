"""The storage card of a run of `strider quick`, at the top of its report."""

from __future__ import annotations

from typing import Any

from strider.card import Card, card_lines, read_card
from strider.card.layout import MOST_CAUTIONS, Style, line_cells, ratio_in_words, ratio_label
from strider.card.model import by_reason
from strider.report.blocks import Alert, Block, Facts, Section, Table, Text, TextStyle
from strider.report.results.results import Results

_COLUMNS = [
    ("what", ""),
    ("rate", ""),
    ("± 95 %", ""),
    ("p50", ""),
    ("p99", ""),
    ("limit", ""),
    ("trust", ""),
]


_STYLES: dict[Style, TextStyle] = {
    "": "",
    "bold": "bold",
    "A": "good",
    "C": "doubt",
    "dim": "caption",
    "caution": "doubt",
}


def _page(results: Results) -> list[Block]:
    card = read_card(results.run.directory)
    if card is None:
        return []
    rows = [line_cells(line) for line in card.lines if line.rate]
    ratios = [(ratio_label(card, ratio.row), ratio_in_words(ratio)) for ratio in card.ratios]
    missing = [(", ".join(names), why) for why, names in by_reason(card.not_measured).items()]
    warned = [one.text for one in card.cautions[:MOST_CAUTIONS]]
    return [
        Text(card.verdict, "bold"),
        *([Table("Rates of storage", _COLUMNS, rows, labels=1, folds=False).without_empty()] if rows else []),
        *(
            [Facts("Ratios, with their 95 % intervals", ratios, ("ratio", "[95 % interval]"))]
            if ratios
            else []
        ),
        *([Alert("Cautions", warned)] if warned else []),
        *([Facts("Not measured", missing, ("not measured", "reason"))] if missing else []),
        Text(_budget(card), "caption"),
    ]


def _budget(card: Card) -> str:
    budget = card.budget
    cut = " The run was cut: a whole one measures more." if budget.cut else ""
    covers = (
        f"± counts how far {card.cards} cards of this directory differ."
        if card.cards > 1
        else "± counts how far these rounds differ; the next card can differ by more."
    )
    took = f"Measured in {budget.took_s:.0f} s of {budget.asked_s:.0f} s, in {budget.rounds} rounds."
    return f"{took} {covers}{cut}"


def _terminal(results: Results) -> list[Block]:
    card = _moved(results)
    return [Text(line.text, _STYLES[line.style], True) for line in card_lines(card)] if card else []


def _document(results: Results) -> dict[str, Any]:
    card = _moved(results)
    return {"card": card.document()} if card else {}


def _moved(results: Results) -> Card | None:
    """The card with the report's place: run directories can be moved."""
    directory = results.run.directory
    card = read_card(directory)
    return card.model_copy(update={"report": str(directory / "report.html")}) if card else None


SECTION = Section(
    "card",
    "Storage card",
    _page,
    _terminal,
    _document,
    applies=lambda results: read_card(results.run.directory) is not None,
)
