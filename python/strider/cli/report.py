"""`strider report`: writes a report of one or more runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.options import LATEST
from strider.console import echo
from strider.errors import StriderError
from strider.running.options import StoreOption

if TYPE_CHECKING:
    from strider.report.output.files import FigureFormat


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN…]", help="Run ids, unique prefixes of ids, or run directories (default: latest)."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="File to write (default: report.html in the first run directory).",
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write each figure to a file in DIR."),
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format", "-f", metavar="F[,F…]", help="Figure formats for --figures: svg, png, pdf, or a list."
        ),
    ] = "svg",
    tables: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write each table to a CSV file in DIR."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write a report with charts and tables as one HTML file.

    The file is self-contained. It is generated from the run directory alone, at any time and on any machine.
    """
    from strider import store as stored
    from strider.listing.names import store_of
    from strider.report import views_of, write_views
    from strider.report.output.files import write_figures, write_tables

    formats = _formats(format_)
    folder = store_of(store)
    loaded = [stored.load(stored.resolve(folder, name)) for name in runs or [LATEST]]
    views = views_of(loaded)
    echo(write_views(views, output or loaded[0].directory / "report.html"))
    if figures is not None:
        _say(write_figures(views, figures, formats), figures, "figures")
    if tables is not None:
        _say(write_tables(views, tables), tables, "tables")


def _formats(text: str) -> "list[FigureFormat]":
    from strider.report.output.files import FORMATS

    chosen = [one.strip() for one in text.split(",")]
    unknown = [one for one in chosen if one not in FORMATS]
    if unknown:
        raise StriderError(f'--format: unknown format "{unknown[0]}": use {", ".join(FORMATS)}')
    return [one for one in FORMATS if one in chosen]


def _say(files: list[Path], folder: Path, what: str) -> None:
    echo(f"{folder}: {len(files)} files of {what}" if files else f"{folder}: the report has no {what}")
