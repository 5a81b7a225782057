"""`strider report`: a report of one or several runs."""

from pathlib import Path
from typing import Annotated

import typer

from strider.cli.options import LATEST, StoreOption


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
    store: StoreOption = None,
) -> None:
    """Write a report: one HTML file, charts and tables.

    The file needs nothing else to be read. It is made from the run directory alone, so it can be drawn again
    at any time and anywhere.
    """
    from strider import store as stored
    from strider.launch.rundir import store as store_of
    from strider.report import write_html

    folder = store_of(store)
    loaded = [stored.load(stored.resolve(folder, name)) for name in runs or [LATEST]]
    print(write_html(loaded, output or loaded[0].directory / "report.html"))
