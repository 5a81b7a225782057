"""Styles of series: they differ in colour, mark and dash, for colour-blind readers and black-and-white print.

Colours are those of Okabe and Ito (Color Universal Design, 2008), without the yellow, which is too faint on
white.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (12, 4))

#: From this ratio of the highest to the lowest rate on, an axis of rates is logarithmic: of a linear one the
#: lower tenth is too small to read.
WIDE = 10.0

#: Vega expressions for the labels of an axis: a size in bytes, a duration in seconds.
SIZE_LABEL = (
    "datum.value < 1024 ? format(datum.value, '~r') + ' B' "
    ": datum.value < 1048576 ? format(datum.value / 1024, '~r') + ' KiB' "
    ": datum.value < 1073741824 ? format(datum.value / 1048576, '~r') + ' MiB' "
    ": format(datum.value / 1073741824, '~r') + ' GiB'"
)
TIME_LABEL = (
    "datum.value < 1e-6 ? format(datum.value * 1e9, '~r') + ' ns' "
    ": datum.value < 1e-3 ? format(datum.value * 1e6, '~r') + ' µs' "
    ": datum.value < 1 ? format(datum.value * 1e3, '~r') + ' ms' "
    ": format(datum.value, '~r') + ' s'"
)

#: A Vega expression for labels of several lines.
LINES = "split(datum.label, '\\n')"
#: Room of a legend, and of its symbols in it; additional width of letters, pixels each.
_LEGEND_CHARACTERS, _SYMBOL_CHARACTERS, _WIDER = 78, 5, 1.3

#: With more powers of ten than this, only these are marked.
_MOST_DECADES = 3

FONT = "system-ui, 'Segoe UI', 'Liberation Sans', Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class SeriesStyle:
    """How one series is drawn."""

    colour: str
    shape: str
    dash: tuple[int, ...]


def styles(series: Sequence[str]) -> dict[str, SeriesStyle]:
    """A style for each of a run's series; the same series looks the same in all charts of a report.

    The numbers of colours, shapes and dashes have no common divisor, so no two of 210 series look alike.
    """
    return {
        name: SeriesStyle(
            _COLOURS[index % len(_COLOURS)], _SHAPES[index % len(_SHAPES)], _DASHES[index % len(_DASHES)]
        )
        for index, name in enumerate(series)
    }


@dataclass(frozen=True)
class Ends:
    """The lowest rate of charts that are to be compared, and the highest end of their whiskers."""

    low: float
    high: float

    @property
    def is_wide(self) -> bool:
        """Whether their axis is logarithmic; never if one of the rates is 0."""
        return self.low > 0 and self.high / self.low >= WIDE

    @property
    def start(self) -> float:
        """Where bars begin: at 0, or on a logarithmic axis at the power of ten below the lowest rate."""
        return 10.0 ** math.floor(math.log10(self.low * 0.999)) if self.is_wide else 0.0

    @property
    def title(self) -> str:
        """Words of the axis title besides the unit."""
        return ", logarithmic" if self.is_wide else ""

    def scale(self) -> dict[str, Any]:
        """The scale of a rate axis (Vega-Lite)."""
        if self.is_wide:
            return {"type": "log", "domain": [self.start, self.high * 1.1], "nice": False}
        return {"domain": [0, self.high], "nice": True, "zero": True}

    def axis(self) -> dict[str, Any]:
        """The marks of a rate axis: on a logarithmic one 1, 2 and 5 of each power of ten, if few enough."""
        if not self.is_wide:
            return {"format": "~r", "tickCount": 6}
        first, last = (math.floor(math.log10(end)) for end in (self.start, self.high))
        steps = (1, 2, 5) if last - first < _MOST_DECADES else (1,)
        values = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        shown = [value for value in values if self.start <= value <= 1.1 * self.high]
        return {"format": "~r", "values": shown, "labelOverlap": "greedy"}


def wrapped(label: str, characters: int) -> str:
    """A label in lines of at most so many characters, where it has spaces; `LINES` draws them."""
    return "\n".join(textwrap.wrap(label, characters, break_long_words=False, break_on_hyphens=False))


def legend_columns(names: Sequence[str]) -> int:
    """Columns of a legend that is hardly wider than a chart."""
    return max(1, min(3, _LEGEND_CHARACTERS // (max(map(len, names), default=0) + _SYMBOL_CHARACTERS)))


def field_texts(axes: dict[str, Any]) -> dict[str, Any]:
    """Returns the layer with the text of each field of a map: white where its datum is `dark`.

    Args:
        axes: The encoding of the position.
    """
    return {
        "mark": {"type": "text", "fontSize": 10, "aria": False},
        "encoding": {
            **axes,
            "text": {"field": "text", "type": "nominal"},
            "color": {"condition": {"test": "datum.dark", "value": "white"}, "value": "#222"},
        },
    }


def config(longest_label: int = 0) -> dict[str, object]:
    """Vega-Lite configuration of all figures.

    Args:
        longest_label: Characters of the longest label to the left of the figure, which letters of a browser
            may make wider than they were when the figure was drawn.
    """
    return {
        "font": FONT,
        "background": "white",
        "padding": {"left": 12 + _WIDER * longest_label, "top": 5, "right": 12, "bottom": 5},
        "view": {"stroke": None},
        "axis": {
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "gridColor": "#e3e3e3",
            "domainColor": "#555",
            "tickColor": "#555",
            "labelColor": "#222",
            "titleColor": "#222",
            "labelPadding": 4,
        },
        "legend": {
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "labelLimit": 0,
            "symbolSize": 70,
            "columnPadding": 16,
        },
        "header": {"labelFontSize": 11, "labelLimit": 0},
    }
