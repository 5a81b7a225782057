"""`strider list`: lists the runs of the store."""

import json as json_
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.console import has_colours, width
from strider.cli.options import JsonOption, StoreOption
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
_NUMBERS = frozenset({"cases", "samples", "errors"})


def list_(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD]...",
            help="List only runs with all these words in id, target, host, status, interfaces, headline, "
            "tags or note.",
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
    runs = [run for run in index.summaries(names) if not words or run.has(words)]
    runs = runs[-newest:] if newest else runs
    if json:
        sys.stdout.write(f"[{','.join(map(_as_json, runs))}\n]\n")
    elif runs:
        _print_table(runs)
    elif names:
        print(f"no run in {folder} has {' '.join(words or [])}", file=sys.stderr)
    else:
        print(f"no runs in {folder}: measure one with strider quick DIR", file=sys.stderr)


def _read(directory: Path) -> "RunSummary":
    """Summarizes a run that is not in the index; only then the slow modules are needed."""
    from strider.store.runs import summarize

    return summarize(directory)


def _as_json(run: "RunSummary") -> str:
    """A run on a line of its own: with indentation, thousands would take seconds."""
    row = {"run": run.run, "directory": "", **vars(run)}
    return "\n" + json_.dumps(row, ensure_ascii=False, default=_plain)


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else vars(value)


def _print_table(runs: "list[RunSummary]") -> None:
    """Prints a row for each run, or two lines where the terminal is too narrow for rows.

    Not by rich, which takes seconds for thousands of rows.
    """
    rows = [_cells(run) for run in runs]
    widths = [max(map(_width, column)) for column in zip(_HEADS, *rows, strict=True)]
    total = sum(widths) + 2 * (len(widths) - 1)
    is_coloured = has_colours()
    if total <= width():
        lines = [_line(_HEADS, widths), "─" * total]
        lines += [_line(row, widths, _colour(run, is_coloured)) for run, row in zip(runs, rows, strict=True)]
    else:
        lines = [line for run in runs for line in _two_lines(run, _colour(run, is_coloured))]
    sys.stdout.write("\n".join([*lines, ""]))
    for run in runs:
        if run.damage:
            print(f"strider: {run.run}: {printable(run.damage)}", file=sys.stderr)


def _cells(run: "RunSummary") -> tuple[str, ...]:
    counts = ("" if count is None else str(count) for count in (run.cases, run.samples, run.errors))
    return (printable(run.run), printable(run.shown_status), *counts, printable(run.target))


def _width(text: str) -> int:
    """Columns of a text on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _colour(run: "RunSummary", is_coloured: bool) -> str:
    return _COLOURS.get(run.condition, "") if is_coloured else ""


def _painted(text: str, colour: str) -> str:
    return f"{colour}{text}{_PLAIN}" if colour else text


def _line(cells: Sequence[str], widths: Sequence[int], colour: str = "") -> str:
    padded = []
    for head, cell, wide in zip(_HEADS, cells, widths, strict=True):
        space = " " * (wide - _width(cell))
        shown = _painted(cell, colour) if head == "status" else cell
        padded.append(space + shown if head in _NUMBERS else shown + space)
    return "  ".join(padded).rstrip()


def _two_lines(run: "RunSummary", colour: str) -> tuple[str, str]:
    """A run on two lines: ids stay whole, so that they can be copied."""
    counts = ((run.cases, "case"), (run.samples, "sample"), (run.errors, "error"))
    known = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count is not None]
    status = _painted(printable(run.shown_status), colour)
    return printable(run.run), "  " + ", ".join([status, *known, printable(run.target)])
