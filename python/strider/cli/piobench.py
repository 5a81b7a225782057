"""`strider piobench`: runs a configuration of PIObench."""

from pathlib import Path
from typing import Annotated

import typer

from strider.cli.grouped import grouped
from strider.errors import StriderError
from strider.running.options import LauncherOption, OutputOptions, RunOptions, SuiteOptions


@grouped
def piobench(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="PIObench configuration file.")] = Path(
        "pio-bench.conf"
    ),
    changes: SuiteOptions,
    launcher: LauncherOption = "mpiexec",
    output: OutputOptions,
) -> None:
    """Run a PIObench configuration (pio-bench.conf).

    Prints pattern, operation, time and bandwidth of each repetition, and keeps the run in the store. The
    target is the directory of TestFile. strider convert FILE shows the equivalent suite.
    """
    from strider.cli.importing import run_imported
    from strider.importers import piobench as importer
    from strider.text_file import read_text

    imported = importer.read(read_text(file), str(file), _numbers(changes.clients or "1"))
    run_imported(imported, RunOptions.of(changes, output, clients=None, launcher=launcher))


def _numbers(clients: str) -> list[int]:
    """Parses a list of client counts."""
    words = [word.strip() for word in clients.split(",")]
    if not all(word.isdecimal() and int(word) for word in words):
        raise StriderError(
            f"-n {clients}: not a list of client counts: write whole numbers from 1, for example -n 2,4"
        )
    return [int(word) for word in words]
