"""`strider report`: a report of one or several runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.options import LATEST, StoreOption
from strider.errors import StriderError

if TYPE_CHECKING:
    from strider.report.output.files import FigureFormat


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN…]", help="Run ids, unique beginnings of them, run directories; else the latest."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The file to write; else report.html in the first run."
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write each figure to a file in DIR, too, named by what it shows."),
    ] = None,
    format_: Annotated[
        str,
        typer.Option("--format", "-f", metavar="F[,F…]", help="With --figures: svg, png, pdf, or several."),
    ] = "svg",
    tables: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write each table to a CSV file in DIR, too."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write a report: one HTML file, charts and tables.

    The file needs nothing else to be read. It is made from the run directory alone, so it can be drawn again
    at any time and anywhere.
    """
    from strider import store as stored
    from strider.launch.rundir import store as store_of
    from strider.report import views_of, write_views
    from strider.report.output.files import write_figures, write_tables

    formats = _formats(format_)
    folder = store_of(store)
    loaded = [stored.load(stored.resolve(folder, name)) for name in runs or [LATEST]]
    views = views_of(loaded)
    print(write_views(views, output or loaded[0].directory / "report.html"))
    if figures is not None:
        _say(write_figures(views, figures, formats), figures, "figures")
    if tables is not None:
        _say(write_tables(views, tables), tables, "tables")


def _formats(text: str) -> "list[FigureFormat]":
    from strider.report.output.files import FORMATS

    chosen = [one.strip() for one in text.split(",")]
    unknown = [one for one in chosen if one not in FORMATS]
    if unknown:
        raise StriderError(f'--format: "{unknown[0]}" is none of {", ".join(FORMATS)}')
    return [one for one in FORMATS if one in chosen]


def _say(files: list[Path], folder: Path, what: str) -> None:
    print(f"{folder}: {len(files)} files of {what}" if files else f"{folder}: the report has no {what}")
