"""The console for results: a terminal, a file or a pipe."""

import os
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 160
"""Table width in columns for files and pipes."""


def output() -> "Console":
    """Returns the console for results."""
    from rich.console import Console

    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if has_width else PIPE_WIDTH)


def width() -> int:
    """Returns the columns for results: of the terminal, or those for files and pipes."""
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size().columns if has_width else PIPE_WIDTH


def has_colours() -> bool:
    """Returns whether results are printed in colours: to a terminal that has them, without NO_COLOR."""
    has_them = os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("NO_COLOR")
    return has_them and sys.stdout.isatty()
