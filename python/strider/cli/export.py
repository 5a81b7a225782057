"""`strider export`: a run's numbers for other programs."""

import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from strider.cli.options import RunArgument, StoreOption
from strider.errors import StriderError


class Format(StrEnum):
    """File formats."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


class Rows(StrEnum):
    """What a row is."""

    SAMPLES = "samples"
    PARTS = "parts"
    RANKS = "ranks"
    COUNTERS = "counters"
    ERRORS = "errors"
    CASES = "cases"


def export(
    run: RunArgument,
    format_: Annotated[Format, typer.Option("--format", "-f", help="The file format.")] = Format.CSV,
    rows: Annotated[
        Rows,
        typer.Option(
            "--rows",
            help="One row per sample, per operation of a sample's mix, per rank of a sample, per counter of "
            "a node and sample, per error or per case.",
        ),
    ] = Rows.SAMPLES,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The file to write; else the output."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Export a run as CSV, JSON or Parquet.

    Units are in the names of the columns.
    """
    from strider import store as stored
    from strider.launch.rundir import store as store_of

    directory = stored.resolve(store_of(store), run)
    if output is not None:
        stored.export(directory, format_.value, output, rows.value)
        return
    if format_ is Format.PARQUET and sys.stdout.isatty():
        raise StriderError("Parquet is not for the terminal: name a file with -o")
    with tempfile.TemporaryDirectory(prefix="strider-export-") as folder:
        file = Path(folder) / "export"
        stored.export(directory, format_.value, file, rows.value)
        sys.stdout.flush()
        sys.stdout.buffer.write(file.read_bytes())
