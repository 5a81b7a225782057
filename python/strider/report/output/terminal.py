"""Sections in a terminal: tables as wide as it takes, sentences in colours."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING

from strider.report.blocks import TEXT_COLUMNS, Alert, Block, Section, Subject, Table, Text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

_STYLES = {"caption": "dim", "doubt": "yellow", "bold": "bold", "good": "bold green"}

#: Sections to print after all others, in this order: a terminal is read from its end.
_LAST = ("summary", "card")

#: Characters between columns.
_GAP = 2
#: Longer words, such as paths, are folded within.
_LONGEST_WORD = 16


def show(
    sections: Sequence[Section[Subject]], subject: Subject, console: Console, options: Sequence[str] = ("",)
) -> None:
    """Prints sections.

    A terminal is read from its end, so the summary comes last, or the card of a directory.

    Args:
        sections: All of them, in the order of a page.
        subject: Subject of the sections.
        console: Where to print.
        options: Those of `strider show`; the sections that they ask for are printed.
    """
    for section in sorted(sections, key=_position):
        if section.option in options and section.applies(subject):
            for block in section.terminal(subject):
                show_block(block, console)


def _position(section: Section[Subject]) -> int:
    return _LAST.index(section.name) + 1 if section.name in _LAST else 0


@singledispatch
def show_block(block: Block, console: Console) -> None:
    """Prints a block.

    Raises:
        TypeError: A terminal cannot show such a block.
    """
    raise TypeError(f"{type(block).__name__} cannot be shown on a terminal")


@show_block.register(Text)
def _text(block: Text, console: Console) -> None:
    style = _STYLES.get(block.style)
    console.print(block.text, style=style, highlight=False, markup=False, soft_wrap=block.is_one_line)


@show_block.register(Alert)
def _alert(block: Alert, console: Console) -> None:
    for sentence in block.sentences:
        console.print(sentence, style="bold red", highlight=False, markup=False)


@show_block.register(Table)
def _table(block: Table, console: Console) -> None:
    block = block.without_empty()
    if not block.splits:
        for name in block.optional:
            if _natural_width(block) <= console.width:
                break
            block = block.without(name)
    if _natural_width(block) <= console.width:
        console.print(_built(block))
        return
    is_enough = block.splits and all(_fits(one, console) for one in _single(block))
    _split(block if is_enough else _narrowed(block), console)


def _single(table: Table) -> Iterator[Table]:
    """The table with each of its numbers alone."""
    labels = list(range(table.labels))
    return (table.with_columns([*labels, number]) for number in range(table.labels, len(table.columns)))


def _narrowed(table: Table) -> Table:
    """Long names and headings take several lines; numbers may not."""
    names = {name for name, _ in table.columns[: table.labels]} & TEXT_COLUMNS
    words = dict.fromkeys(names - {"operation"}, 0)
    return replace(table, folding={**words, **table.folding}, wraps=True)


def _split(table: Table, console: Console) -> None:
    """As many tables below each other as the width asks for: no cell is cut."""
    labels, numbers = list(range(table.labels)), list(range(table.labels, len(table.columns)))
    while numbers:
        count = 1
        while count < len(numbers) and _fits(table.with_columns(labels + numbers[: count + 1]), console):
            count += 1
        console.print(_built(table.with_columns(labels + numbers[:count])))
        numbers = numbers[count:]


def _fits(table: Table, console: Console) -> bool:
    return _least_width(table) <= console.width


def _least_width(table: Table) -> int:
    """Characters of a line that a table needs so that nothing is cut; names may be folded."""
    from rich.cells import cell_len

    width = 0
    for position, (name, unit) in enumerate(table.columns):
        cells = [row[position] for row in table.rows]
        if name in table.folding:
            cells = [word[:_LONGEST_WORD] for cell in cells for word in cell.split()]
        texts = [*_heading(table, position, name, unit).split("\n"), *cells]
        width += max(map(cell_len, texts)) + _GAP
    return width - _GAP


def _natural_width(table: Table) -> int:
    """Characters of a line that a table needs so that nothing in it is cut or folded needlessly."""
    from rich.cells import cell_len

    width = 0
    for position, (name, unit) in enumerate(table.columns):
        texts = [*_head(name, unit).split("\n"), *(row[position] for row in table.rows)]
        longest = max(map(cell_len, texts))
        width += min(longest, table.folding.get(name) or longest) + _GAP
    return width - _GAP


def _head(name: str, unit: str) -> str:
    return "\n".join(filter(None, [name, unit]))


def _heading(table: Table, position: int, name: str, unit: str) -> str:
    """The heading of a column; where space is short, its words go below each other."""
    if not table.wraps:
        return _head(name, unit)
    longest = max([len(row[position]) for row in table.rows if name not in table.folding], default=0)
    room = max(longest, *(len(word) for word in name.split()), 1)
    return _head("\n".join(textwrap.wrap(name, room, break_long_words=False)), unit)


def _built(table: Table) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    built = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for position, (name, unit) in enumerate(table.columns):
        built.add_column(
            _heading(table, position, name, unit),
            justify="left" if name in TEXT_COLUMNS else "right",
            no_wrap=name not in table.folding,
            overflow="fold" if name in table.folding else "ellipsis",
            max_width=table.folding.get(name) or None,
        )
    # A rule above every other row separates nothing.
    rules = table.sections if 2 * (len(table.sections) + 1) <= len(table.rows) else frozenset()
    for number, row in enumerate(table.rows):
        if number in rules:
            built.add_section()
        cells = [
            RichText(cell, style=table.styles.get((number, name), ""))
            for cell, (name, _) in zip(row, table.columns, strict=True)
        ]
        built.add_row(*cells, style="red" if number in table.bad else None)
    return built
