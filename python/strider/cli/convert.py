"""`strider convert`: a suite of another benchmark's input file."""

from pathlib import Path
from typing import Annotated

import typer


def convert(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A configuration of PIObench, a script of IOR, or a file with command lines of mdtest.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="SUITE", help="The suite file to write; else the output."),
    ] = None,
    clients: Annotated[
        int,
        typer.Option("--clients", "-n", metavar="N", min=1, help="Number of clients, as for mpiexec."),
    ] = 1,
) -> None:
    """Write the suite that is equivalent to another benchmark's input file."""
    from strider.cli.importing import write_suite
    from strider.importers import formats
    from strider.text_file import read_text

    write_suite(formats.read(read_text(file), str(file), clients), output)
