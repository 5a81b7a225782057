"""What sections are made of: texts, tables and figures as data, for a page, a terminal and files alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

Subject = TypeVar("Subject")

#: Cells without a value.
_EMPTY = frozenset({"", "–"})

#: Columns of words, which begin at the left; all others are numbers.
TEXT_COLUMNS = frozenset(
    {
        "operation",
        "interface",
        "notes",
        "pattern",
        "conditions",
        "interfaces",
        "verdict",
        "remarks",
        "metric",
        "operations",
        "domain",
        "strategy",
        "what",
        "what limits it",
        "of",
        "unit",
        "how",
        "trust",
        "began",
        "end",
        "which cases",
        "data set",
        "case and operations",
        "did",
        "found",
        "left",
    }
)


TextStyle = Literal["", "caption", "bold", "good", "doubt"]


@dataclass(frozen=True)
class Text:
    """A paragraph: plain, a caption, bold, good, or a reservation; with `is_one_line` it is not wrapped."""

    text: str
    style: TextStyle = ""
    is_one_line: bool = False


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str


@dataclass(frozen=True)
class Alert:
    """A problem of the run, in a box with a title."""

    title: str
    sentences: Sequence[str]


@dataclass(frozen=True)
class Points:
    """Sentences as a list."""

    sentences: Sequence[str]


@dataclass(frozen=True)
class Card:
    """A number in large letters, with its meaning and how it was measured; `to` is as in `Conclusion`."""

    name: str
    value: str
    how: str = ""
    to: str = ""


@dataclass(frozen=True)
class Cards:
    """Cards beside each other."""

    cards: Sequence[Card]


@dataclass(frozen=True)
class Conclusion:
    """A sentence with the place of its evidence.

    Attributes:
        to: Anchor of the figures or the table below that show it; empty where there are none.
        place: Text of the link.
        trust: The weakest grade of the results that it rests on; empty where it rests on none.
    """

    text: str
    to: str = ""
    place: str = ""
    trust: str = ""


@dataclass(frozen=True)
class Conclusions:
    """Conclusions as a list, the best proven one first."""

    conclusions: Sequence[Conclusion]


@dataclass(frozen=True)
class Facts:
    """Names and texts, one in a row.

    Attributes:
        label: Subject of the facts, for screen readers.
        rows: The name and further texts.
        heads: Of the columns; none where they need none.
        bad: Numbers of the columns that say what went wrong.
    """

    label: str
    rows: Sequence[Sequence[str]]
    heads: Sequence[str] = ()
    bad: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes:
        columns: Heading and unit of each column; the first `labels` columns name the row.
        rows: Texts, one per column.
        sections: Numbers of the rows, from 0, above which there is a rule.
        aside: Words after the caption, on a page.
        is_open: Whether a page shows it at once.
        folds: Whether a page can close it.
        bad: Numbers of the rows that stand out, in a terminal.
        optional: Columns that may go in a narrow terminal, the first to go first, with the unit where two
            have one name.
        folding: Columns whose texts may take several lines in a terminal, with their width; 0 for any.
        splits: Whether columns that do not fit go into further tables below.
        styles: Styles of single cells in a terminal, by row and column.
        wraps: Whether headings may take several lines in a terminal.
    """

    caption: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]
    labels: int
    sections: frozenset[int] = frozenset()
    aside: str = ""
    is_open: bool = True
    folds: bool = True
    bad: frozenset[int] = frozenset()
    optional: Sequence[str] = ()
    folding: Mapping[str, int] = field(default_factory=dict)
    splits: bool = False
    styles: Mapping[tuple[int, str], str] = field(default_factory=dict)
    wraps: bool = False

    def without(self, name: str) -> Table:
        """The table without the columns of a name, or of a name and a unit."""
        kept = [
            position
            for position, (head, unit) in enumerate(self.columns)
            if position < self.labels or name not in (head, f"{head} {unit}")
        ]
        return self.with_columns(kept)

    def without_empty(self) -> Table:
        """The table without the columns, other than labels, in which no row has a value."""
        kept = [
            position
            for position in range(len(self.columns))
            if position < self.labels or {row[position] for row in self.rows} - _EMPTY
        ]
        return self.with_columns(kept)

    def with_columns(self, kept: Sequence[int]) -> Table:
        """The table with some of its columns, by their numbers."""
        rows = [[row[position] for position in kept] for row in self.rows]
        return replace(self, columns=[self.columns[position] for position in kept], rows=rows)


@dataclass(frozen=True)
class Chart:
    """A drawn figure.

    Attributes:
        title: Stands above it.
        caption: Stands below it.
        svg: Safe to put into a page.
        kind: Subject of the chart, in words that are part of its file name: `rate by transfer`.
        operation: The operation that it is of, by which charts are filtered; empty where they are several.
    """

    title: str
    caption: str
    svg: str
    kind: str = ""
    operation: str = ""


@dataclass(frozen=True)
class Charts:
    """Charts beside each other, or wide ones; with a label one that is too wide for a phone is moved."""

    charts: Sequence[Chart]
    wide: bool = False
    label: str = ""


@dataclass(frozen=True)
class Fold:
    """Blocks below a title that opens and closes them; with an anchor they are a group of cases."""

    title: str
    blocks: Sequence[Block]
    is_open: bool = False
    anchor: str = ""


Block = Text | Heading | Alert | Points | Cards | Conclusions | Facts | Table | Charts | Fold


def walk(blocks: Sequence[Block], group: str = "") -> Iterator[tuple[str, Block]]:
    """All blocks in the order of the page, each with the title of its group of cases."""
    for block in blocks:
        yield group, block
        if isinstance(block, Fold):
            yield from walk(block.blocks, block.title if block.anchor else group)


def nothing(_: object) -> list[Block]:
    """No blocks."""
    return []


@dataclass(frozen=True)
class Section(Generic[Subject]):
    """A part of a report or of a comparison.

    Attributes:
        name: Its address in a page.
        title: Its heading there.
        page: Its blocks on a page; without any the page lacks it.
        terminal: Its blocks in a terminal.
        document: Its data for other programs, by keys of a JSON document.
        applies: Whether it has any content.
        option: Which option of `strider show` asks for it; empty: shown without any.
        link: Its name in the list of contents, where that is not its title.
    """

    name: str
    title: str
    page: Callable[[Subject], Sequence[Block]] = nothing
    terminal: Callable[[Subject], Sequence[Block]] = nothing
    document: Callable[[Subject], Mapping[str, Any]] = lambda _: {}
    applies: Callable[[Subject], bool] = lambda _: True
    option: str = ""
    link: str = ""
