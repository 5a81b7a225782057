"""The terminal, or whatever the output goes to instead."""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 160
"""Columns of a table in a file or a pipe, which have no width of their own."""


def output() -> "Console":
    """The console for results."""
    from rich.console import Console

    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if has_width else PIPE_WIDTH)
