"""Prints to a terminal, a file or a pipe.

The output may contain names and notes of other users: control characters in them are printed visibly, so
that they neither command the terminal nor look like lines of Strider.
"""

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, TextIO

from strider.text import printable, printable_lines

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 160
"""Table width in columns for files and pipes."""


def echo(line: object = "", stream: TextIO | None = None) -> None:
    """Prints one line; line breaks in it are printed visibly, like other control characters.

    Args:
        line: The line.
        stream: Where to; None for stdout.
    """
    to = stream or sys.stdout
    if to is not None:  # a closed stream
        print(printable(str(line)), file=to, flush=to is sys.stderr)


def discard_output() -> int:
    """Discards all further output, after the reader (head, less) has closed the pipe.

    Returns:
        The exit code of a verb that has nothing else to do.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def output() -> "Console":
    """Returns the console for results."""
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return _console(width=None if has_width else PIPE_WIDTH)


def error_console(*, quiet: bool = False) -> "Console":
    """Returns the console for progress and errors."""
    return _console(stderr=True, quiet=quiet)


def _console(**options: Any) -> "Console":  # noqa: ANN401 - those of rich
    """Returns a console that prints control characters of a text visibly."""
    from collections.abc import Iterable

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Printing(Console):
        def on_broken_pipe(self) -> None:  # rich would end the process
            discard_output()

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                text, style, control = segment
                yield segment if control else Segment(printable_lines(text), style)

    return Printing(**options)


def width() -> int:
    """Returns the columns for results: of the terminal, or those for files and pipes."""
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size().columns if has_width else PIPE_WIDTH


def has_colours() -> bool:
    """Returns whether results are printed in colours: to a terminal that has them, without NO_COLOR."""
    has_them = os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("NO_COLOR")
    return has_them and sys.stdout.isatty()
