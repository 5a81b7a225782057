"""The console for results: a terminal, a file or a pipe."""

import os
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
