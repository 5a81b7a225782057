"""A card as an image to share: an SVG of real text, without references to other files."""

import textwrap
from collections.abc import Sequence
from html import escape
from pathlib import Path

from strider.card.layout import interval, place_line, ratio_in_words, ratio_label, taken
from strider.card.model import IMAGE_FILE, Card, Line
from strider.card.wording import in_words, size, time, wrapped
from strider.text_file import write_whole

WIDTH = 800
_MARGIN, _ROW = 32, 27
_TITLE_CHARACTERS, _SENTENCE_CHARACTERS, _SMALL_CHARACTERS = 76, 64, 96
#: Right ends of the columns of numbers; the badge of the grade is at the right margin.
_ENDS = {"rate": 438, "±95 %": 508, "p50": 592, "p99": 676}
_STYLE = """
  .paper { fill: #fcfcfb } .ink { fill: #1c1c1a } .soft { fill: #5f5e5a } .rule { stroke: #d9d8d3 }
  .A { fill: #1f6f43 } .B { fill: #2b5c8a } .mark { fill: #ffffff; font-weight: 600; text-anchor: middle }
  text { font: 15px system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif }
  .end { font-variant-numeric: tabular-nums; text-anchor: end }
  .place { font-size: 14px } .sentence { font-size: 19px; font-weight: 600 } .small { font-size: 13px }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #1b1c1e } .ink { fill: #ecebe6 } .soft { fill: #a9a8a2 } .rule { stroke: #3c3d40 }
    .A { fill: #2f8a58 } .B { fill: #3c76ad }
  }
"""


def card_svg(card: Card) -> str:
    """Returns the image of a card: the sentence, the numbers of grade A and B, and ratios with a word."""
    drawing = _Drawing()
    drawing.text(_shortened(place_line(card), _TITLE_CHARACTERS), "place soft", 44)
    for line in wrapped(card.verdict, _SENTENCE_CHARACTERS):
        drawing.text(line, "sentence ink", 27)
    shown = [line for line in card.lines if line.is_trusted]
    if shown:
        drawing.down(34)
        for name, end in _ENDS.items():
            drawing.at(end, name, "small soft end")
        drawing.at(WIDTH - _MARGIN, "grade", "small soft end")
        for one in shown:
            drawing.row(one)
    ratios = [ratio for ratio in card.ratios if ratio.word]
    drawing.down(12 if ratios else 0)
    for ratio in ratios:
        drawing.text(f"{ratio_label(card, ratio.row)}: {ratio_in_words(ratio)}", "small ink", 22)
    drawing.down(12)
    for line in _notes(card, len(shown)):
        drawing.text(line, "small soft", 21)
    return drawing.whole(f"Storage card of {card.target}: {card.verdict}")


def write_image(card: Card, directory: Path) -> None:
    """Writes `card.svg` into a run directory."""
    write_whole(directory / IMAGE_FILE, card_svg(card))


def _notes(card: Card, shown: int) -> list[str]:
    graded = sum(1 for line in card.lines if line.grade or line.why)
    machine = f"{card.machine.cores} cores, {size(card.machine.memory)} memory"
    of = "the rounds" if card.cards == 1 else f"{card.cards} cards of this directory"
    below = f"{graded - shown} of {graded} numbers are below grade B and left out."
    left_out = [below] if graded > shown else []
    made = f"strider quick: {taken(card)}; {machine}. ± is the 95 % interval of {of}."
    return [line for text in (*left_out, made) for line in textwrap.wrap(text, _SMALL_CHARACTERS)]


def _shortened(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"…{text[1 - characters :]}"


class _Drawing:
    """Lines of text from the top to the bottom."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._y = 0

    def down(self, pixels: int) -> None:
        self._y += pixels

    def text(self, text: str, style: str, pixels: int) -> None:
        self.down(pixels)
        self.at(_MARGIN, text, style)

    def at(self, x: float, text: str, style: str) -> None:
        self._parts.append(f'<text x="{x}" y="{self._y}" class="{style}">{_escaped(text)}</text>')

    def row(self, line: Line) -> None:
        """A number with its label, interval, percentiles and grade."""
        self.down(_ROW)
        above = self._y - 19
        self._parts.append(f'<path d="M{_MARGIN} {above}H{WIDTH - _MARGIN}" class="rule"/>')
        self.at(_MARGIN, line.label, "ink")
        for x, value in zip(_ENDS.values(), _cells(line), strict=True):
            self.at(x, value, "ink end")
        left, width = WIDTH - _MARGIN - 26, 26
        self._parts.append(
            f'<rect x="{left}" y="{self._y - 15}" width="{width}" height="20" rx="5" class="{line.grade}"/>'
        )
        self.at(left + width / 2, line.grade, "mark")

    def whole(self, title: str) -> str:
        height = self._y + 24
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img">'
        )
        paper = f'<rect width="{WIDTH}" height="{height}" rx="10" class="paper"/>'
        parts = [head, f"<title>{_escaped(title)}</title>", f"<style>{_STYLE}</style>", paper, *self._parts]
        return "\n".join([*parts, "</svg>", ""])


def _cells(line: Line) -> Sequence[str]:
    rate = in_words(line.rate, 3) if line.rate else ""
    found = (line.latency_us.p50, line.latency_us.p99)
    return (rate, interval(line), *("–" if value is None else time(value) for value in found))


def _escaped(text: str) -> str:
    """Text of XML, which has no control characters."""
    return escape("".join(one if one.isprintable() else "�" for one in text), quote=False)
