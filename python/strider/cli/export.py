"""`strider export`: exports the results of a run."""

import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from strider.cli.options import LATEST, RunArgument
from strider.errors import StriderError
from strider.running.options import StoreOption

if TYPE_CHECKING:
    from strider.store import Table


class Format(StrEnum):
    """File formats."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


class Rows(StrEnum):
    """Granularity of the rows."""

    RESULTS = "results"
    SAMPLES = "samples"
    PARTS = "parts"
    DISTRIBUTIONS = "distributions"
    RANKS = "ranks"
    TIMELINES = "timelines"
    CLOCKS = "clocks"
    COUNTERS = "counters"
    REQUESTS = "requests"
    ERRORS = "errors"
    CASES = "cases"


def export(
    run: RunArgument = LATEST,
    format_: Annotated[Format, typer.Option("--format", "-f", help="File format.")] = Format.CSV,
    rows: Annotated[
        Rows,
        typer.Option(
            "--rows",
            help="One row per: operation of a case (medians, means, intervals), sample, operation of a "
            "mix, quantity of the ranks (distributions), rank, timeline interval, clock, node counter, "
            "request with its values, error, or case.",
        ),
    ] = Rows.SAMPLES,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="File to write (default: stdout)."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Export the results of a run as CSV, JSON or Parquet.

    Column names end with the unit.
    """
    from strider import store as stored
    from strider.listing.names import store_of

    directory = stored.resolve(store_of(store), run)
    if output is not None:
        _write(directory, format_, output, rows)
        return
    if format_ is Format.PARQUET and sys.stdout.isatty():
        raise StriderError(
            "Parquet is a binary format and cannot be written to a terminal: name a file with -o"
        )
    with tempfile.TemporaryDirectory(prefix="strider-export-") as folder:
        file = Path(folder) / "export"
        _write(directory, format_, file, rows)
        sys.stdout.flush()
        sys.stdout.buffer.write(file.read_bytes())


def _write(directory: Path, format_: Format, file: Path, rows: Rows) -> None:
    from strider import store as stored

    if rows is Rows.RESULTS:
        from strider.report.results.results import Results
        from strider.report.results.rows import as_rows

        stored.export_rows(as_rows(Results(stored.load(directory))), format_.value, file)
    else:
        stored.export(directory, format_.value, file, cast("Table", rows.value))
