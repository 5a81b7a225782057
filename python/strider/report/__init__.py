"""The report of a run, for people: tables in a terminal and a page that contains everything."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from strider.report.output import terminal
from strider.report.output.page import RunView, view_of, write_views
from strider.report.results.results import Results
from strider.report.sections import SECTIONS
from strider.store.model import Run

if TYPE_CHECKING:
    from typing import Any

    from rich.console import Console

__all__ = ["document_of", "show", "views_of", "write_html", "write_views"]


def views_of(runs: Sequence[Run]) -> list[RunView]:
    """The report of some runs: all their texts, charts and tables."""
    return [view_of(SECTIONS, run, f"run-{position}") for position, run in enumerate(runs, start=1)]


def write_html(runs: Sequence[Run], out: Path) -> Path:
    """Writes the report of some runs.

    Args:
        runs: At least one; each gets a part of its own.
        out: The HTML file; an existing one is replaced as a whole.

    Returns:
        `out`.

    Raises:
        StriderError: The file cannot be written.
    """
    return write_views(views_of(runs), out)


def show(results: Results, console: "Console", options: Sequence[str] = ("",)) -> None:
    """Prints the results of a run: the sections that some options of `strider show` ask for."""
    terminal.show(SECTIONS, results, console, options)


def document_of(results: Results, options: Sequence[str] = ("",)) -> "dict[str, Any]":
    """The same for other programs, by keys of a JSON document."""
    asked = [section for section in SECTIONS if section.option in options and section.applies(results)]
    return {key: value for section in asked for key, value in section.document(results).items()}
