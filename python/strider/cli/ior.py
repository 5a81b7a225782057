"""`strider ior`: runs an IOR command line."""

from typing import Annotated

import typer

from strider.cli.grouped import grouped
from strider.cli.options import TaskOptions
from strider.running.options import OutputOptions, RankOptions, RunOptions


@grouped
def ior(
    *,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- ARGUMENTS…", help="IOR options, after --; -f FILE reads a script."),
    ] = None,
    tasks: TaskOptions,
    ranks: RankOptions,
    output: OutputOptions,
) -> None:
    """Run an IOR command line or script.

    Example: strider ior -n 4 -- -a MPIIO -b 16m -t 1m -s 4 -F -C -o /mnt/pfs/file. Uses the same file offsets
    as IOR and prints the same table. Reports differences as notes. Rejects unsupported options that would
    change the measurement.
    """
    from strider.cli import importing
    from strider.importers.ior import read_command

    around = importing.surroundings(tasks, ranks, keeps_files=tasks.suite is None)
    imported = read_command(arguments or [], around)
    # IOR's columns come from the rows of all tasks, also of more than 64.
    options = RunOptions.of(ranks, output, timeline="rank")
    importing.run_or_write(imported, tasks.suite, options)
