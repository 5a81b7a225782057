"""The table of `strider plan`."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from strider.cli import plain_table
from strider.engine import Description
from strider.suite import CheckedPlan
from strider.suite.estimate import AssumedRates
from strider.suite.plan_rows import PlanTable, tables, totals

_MANY = 500
"""Rows of a table that is not adapted to the width of the terminal."""


def render(checked: CheckedPlan, description: Description, rates: AssumedRates, console: Console) -> None:
    """Prints a row for each case, the common parameters and the totals.

    Args:
        checked: The plan and its requirements.
        description: The engine's description; parameters at their default are not shown.
        rates: Assumed rates for the time estimate.
        console: Where to print.
    """
    title = checked.suite.plan.suite
    _print(f"{title.name}: {title.description}" if title.description else title.name, console)
    for each in tables(checked, description):
        if each.common:
            _print(each.common, console)
        _print_rows(each, console)
    for line in totals(checked, rates, "--assume-rate", "--assume-operations"):
        _print(line, console)


def _print_rows(each: PlanTable, console: Console) -> None:
    if len(each.rows) < _MANY:
        console.print(_table(each))
        return
    heads = [head for head, _ in each.headers]
    numbers = frozenset(index for index, (_, side) in enumerate(each.headers) if side == "right")
    for line in plain_table.lines(heads, each.rows, numbers, plain_table.widths_of(heads, each.rows)):
        console.file.write(f"{line}\n")


def _print(line: str, console: Console) -> None:
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def _table(each: PlanTable) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for header, justify in each.headers:
        table.add_column(header, justify=justify, overflow="fold")
    for row in each.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
