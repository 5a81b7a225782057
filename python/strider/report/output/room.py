"""Bounds the rows on the page of a run with thousands of cases, and names the omitted ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from strider.report.blocks import Block, Charts, Facts, Fold, Table, Text, walk
from strider.units import grouped

MOST_ROWS = 6500
"""Rows of tables in one section. The rates of a thousand cases with two operations have 6048; a browser takes
seconds for many more, and no reader scrolls so far."""


def bounded(blocks: Sequence[Block], run: str) -> Sequence[Block]:
    """The blocks of a section with at most `MOST_ROWS` rows, and a sentence on omitted rows.

    Args:
        blocks: All blocks of the section.
        run: Id of the run, for the command that has all rows.
    """
    rows = sum(map(_rows, (block for _, block in walk(blocks))))
    if rows <= MOST_ROWS:
        return blocks
    room = _Room(MOST_ROWS)
    kept = room.fitted(blocks)
    noun = "group with its" if room.groups == 1 else "groups with their"
    groups = f", without {grouped(room.groups)} {noun} charts" if room.groups else ""
    sentence = (
        f"This page shows the first {grouped(MOST_ROWS)} of {grouped(rows)} rows of this section{groups}. "
        f"All samples and results: strider export {run} -f csv; all sections: strider show {run} --json."
    )
    return [Text(sentence, "doubt"), *kept]


def _rows(block: Block) -> int:
    return len(block.rows) if isinstance(block, Table | Facts) else 0


class _Room:
    """Room for rows that are left to a section.

    Attributes:
        groups: Number of groups of cases that are left out as a whole.
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self.groups = 0

    def fitted(self, blocks: Sequence[Block]) -> list[Block]:
        """Blocks up to the last row for which there is room; what follows is left out."""
        kept: list[Block] = []
        for block in blocks:
            if not self._rows and isinstance(block, Fold):
                self.groups += 1
            elif self._rows or not isinstance(block, Table | Facts | Charts):
                kept.append(self._fitted(block))
        return kept

    def _fitted(self, block: Block) -> Block:
        if isinstance(block, Fold):
            return replace(block, blocks=self.fitted(block.blocks))
        shown = min(_rows(block), self._rows)
        self._rows -= shown
        if isinstance(block, Table):
            return replace(
                block,
                rows=block.rows[:shown],
                sections=frozenset(row for row in block.sections if row < shown),
                bad=frozenset(row for row in block.bad if row < shown),
            )
        return replace(block, rows=block.rows[:shown]) if isinstance(block, Facts) else block
