"""What limits each result, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from strider.limits import Analysis, Verdict, common_rules
from strider.report.limits import CAPTION, by_kind, ceiling_rows, columns, in_order
from strider.report.metadata import Column, Row
from strider.report.numbers import NOTHING
from strider.report.pivot import natural_width
from strider.store.model import Run

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_NO_CEILINGS = (
    "This run has no ceilings: it was made with --ceilings none, or by an older Strider. "
    "What follows is from times and counters alone."
)
#: Width of the text at the end of a row, and the most columns of shares before it.
_TEXT = 44
_MOST_SHARES = 7


def render(run: Run, console: Console) -> None:
    """Prints the machine's ceilings, and beside them each result of a run."""
    if run.ceilings:
        console.print(_ceilings(run))
        console.print()
    else:
        console.print(_NO_CEILINGS, highlight=False)
    analysis = Analysis.of(run)
    for own in by_kind(analysis.verdicts):
        console.print(_fit(analysis, own, console))
    console.print(f"{CAPTION}.", style="dim", highlight=False)
    for sentence in analysis.sentences:
        console.print(sentence, highlight=False, markup=False)


def _ceilings(run: Run) -> Table:
    table = _table()
    for heading, justify in (
        ("ceiling", "left"),
        ("of", "left"),
        ("start", "right"),
        ("end", "right"),
        ("", "left"),
        ("spread\n%", "right"),
        ("how", "left"),
    ):
        table.add_column(heading, justify="right" if justify == "right" else "left", overflow="fold")
    for row in ceiling_rows(run):
        table.add_row(*row)
    return table


def _fit(analysis: Analysis, verdicts: Sequence[Verdict], console: Console) -> Table:
    """As many columns of shares as the console takes; those go first that say least."""
    labels, numbers = columns(verdicts)
    rate, *shares = numbers
    shares = shares[:_MOST_SHARES]
    table = _results(analysis, verdicts, [*labels, rate, *shares], len(labels))
    while shares and natural_width(table, console) > console.width:
        shares = shares[:-1]
        table = _results(analysis, verdicts, [*labels, rate, *shares], len(labels))
    return table


def _results(analysis: Analysis, verdicts: Sequence[Verdict], shown: Sequence[Column], labels: int) -> Table:
    from rich.text import Text

    table = _table()
    for position, column in enumerate(shown):
        number = position >= labels or column.name in ("clients", "transfer")
        heading = "\n".join([*column.name.split(" ", 1), column.unit]) if position > labels else column.name
        heading = f"{heading}\n{column.unit}" if position == labels else heading
        table.add_column(heading, justify="right" if number else "left", no_wrap=True)
    table.add_column("what limits it", min_width=_TEXT, max_width=2 * _TEXT, overflow="fold")
    everywhere = common_rules(verdicts)
    for verdict in in_order(verdicts):
        row = Row(verdict.summary)
        table.add_row(
            *(Text(column.cell(row)) for column in shown), Text(analysis.text(verdict, everywhere) or NOTHING)
        )
    return table


def _table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
