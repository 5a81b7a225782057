"""`strider list`: lists the runs of the store."""

import json as json_
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli import plain_table
from strider.console import echo, has_colours, width
from strider.listing.summary import SEARCHED
from strider.running.options import JsonOption, StoreOption
from strider.text import printable

if TYPE_CHECKING:
    from strider.listing.summary import RunSummary

_COLOURS = {
    "errors": "\x1b[33m",
    "interrupted": "\x1b[33m",
    "unfinished": "\x1b[33m",
    "failed": "\x1b[31m",
    "unreadable": "\x1b[31m",
}
_PLAIN = "\x1b[0m"
_HEADS = ("run", "status", "cases", "samples", "errors", "target")
_NUMBERS = frozenset({2, 3, 4})
"""Columns of `_HEADS`."""


def list_(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD]...",
            help=f"List only runs with all these words, in upper or lower case. Searched are {SEARCHED}.",
            show_default=False,
        ),
    ] = None,
    newest: Annotated[
        int | None,
        typer.Option(
            "--newest", metavar="N", min=1, help="List only the newest N of them.", show_default=False
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """List the runs of the store, oldest first."""
    from strider.listing.index import Index
    from strider.listing.names import run_names, store_of

    folder = store_of(store)
    names, index = run_names(folder), Index(folder, _read)
    if newest and not words:
        names = names[-newest:]
    runs = index.search(names, " ".join(words or []))
    runs = runs[-newest:] if newest else runs
    if json:
        sys.stdout.write(f"[{','.join(map(_as_json, runs))}\n]\n")
    elif runs:
        _print_table(runs)
    elif names:
        echo(f"no run in {folder} has {' '.join(words or [])} in its {SEARCHED}", stream=sys.stderr)
    else:
        echo(f"no runs in {folder}: measure one with strider quick DIR", stream=sys.stderr)


def _read(directory: Path) -> "RunSummary":
    """Summarizes a run that is not in the index; only then the slow modules are needed."""
    from strider.store.runs import summarize

    return summarize(directory)


def _as_json(run: "RunSummary") -> str:
    """A run on a line of its own: with indentation, thousands would take seconds."""
    row = {"run": run.run, "directory": "", **vars(run)}
    return "\n" + printable(json_.dumps(row, ensure_ascii=False, default=_plain))


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else vars(value)


def _print_table(runs: "list[RunSummary]") -> None:
    """Prints a row for each run, or two lines where the terminal is too narrow for rows.

    Not by rich, which takes seconds for thousands of rows.
    """
    rows = [_cells(run) for run in runs]
    widths = plain_table.widths_of(_HEADS, rows)
    is_coloured = has_colours()
    if plain_table.total(widths) <= width():
        lines = [*plain_table.lines(_HEADS, rows, _NUMBERS, widths)]
        if is_coloured:
            lines[2:] = [_coloured(run, line) for run, line in zip(runs, lines[2:], strict=True)]
    else:
        lines = [line for run in runs for line in _two_lines(run, _colour(run, is_coloured=is_coloured))]
    sys.stdout.write("\n".join([*lines, ""]))
    for run in runs:
        if run.damage:
            echo(f"strider: {run.run}: {run.damage}", stream=sys.stderr)


def _cells(run: "RunSummary") -> tuple[str, ...]:
    counts = ("" if count is None else str(count) for count in (run.cases, run.samples, run.errors))
    return (printable(run.run), printable(run.shown_status), *counts, printable(run.target))


def _colour(run: "RunSummary", *, is_coloured: bool) -> str:
    return _COLOURS.get(run.condition, "") if is_coloured else ""


def _painted(text: str, colour: str) -> str:
    return f"{colour}{text}{_PLAIN}" if colour else text


def _coloured(run: "RunSummary", line: str) -> str:
    """The line of a run with its status in colour; the status follows the id, which has no spaces."""
    name, status = printable(run.run), printable(run.shown_status)
    place = line.index(status, len(name))
    painted = _painted(status, _colour(run, is_coloured=True))
    return line[:place] + painted + line[place + len(status) :]


def _two_lines(run: "RunSummary", colour: str) -> tuple[str, str]:
    """A run on two lines: ids stay whole, so that they can be copied."""
    counts = ((run.cases, "case"), (run.samples, "sample"), (run.errors, "error"))
    known = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count is not None]
    status = _painted(printable(run.shown_status), colour)
    return printable(run.run), "  " + ", ".join([status, *known, printable(run.target)])
