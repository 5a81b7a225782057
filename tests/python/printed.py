"""What sections of a report print in a terminal."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from strider.report import show
from strider.report.results.results import Results
from strider.report.results.rows import as_rows
from strider.store import Run

__all__ = ["printed", "rows_of"]


def printed(run: Run, width: int = 200, option: str = "", most_remarks: int | None = None) -> str:
    """The results of a run as `strider show` prints them."""
    text = io.StringIO()
    show(Results(run, most_remarks=most_remarks), Console(file=text, width=width), [option])
    return text.getvalue()


def rows_of(run: Run) -> list[dict[str, Any]]:
    """The same as rows for other programs."""
    return as_rows(Results(run))
