"""The card of a directory: its performance on one screen, with a grade for each number.

A card is a document (`Card`), made from a run of `strider quick`, and kept beside it as `card.json`. A
terminal, JSON, the report and an image show the same document.
"""

from strider.card.history import earlier_cards
from strider.card.image import card_svg, write_image
from strider.card.layout import card_lines
from strider.card.make import make_card
from strider.card.model import CARD_FILE, IMAGE_FILE, Budget, Card, Machine, PlaceFacts, read_card, write_card

__all__ = [
    "CARD_FILE",
    "IMAGE_FILE",
    "Budget",
    "Card",
    "Machine",
    "PlaceFacts",
    "card_lines",
    "card_svg",
    "earlier_cards",
    "make_card",
    "read_card",
    "write_card",
    "write_image",
]
