"""`strider convert`: converts the input file of another benchmark to a suite."""

from pathlib import Path
from typing import Annotated

import typer


def convert(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="PIObench configuration, IOR script, or file with mdtest command lines.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="SUITE", help="Suite file to write (default: stdout)."),
    ] = None,
    clients: Annotated[
        int,
        typer.Option("--clients", "-n", metavar="N", min=1, help="Number of clients, as in mpiexec -n."),
    ] = 1,
) -> None:
    """Convert the input file of another benchmark to a suite."""
    from strider.cli.importing import write_suite
    from strider.importers import formats
    from strider.text_file import read_text

    write_suite(formats.read(read_text(file), str(file), clients), output)
