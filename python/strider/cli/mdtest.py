"""`strider mdtest`: runs an mdtest command line."""

from typing import Annotated

import typer

from strider.cli.grouped import grouped
from strider.cli.options import TaskOptions
from strider.running.options import OutputOptions, RankOptions, RunOptions


@grouped
def mdtest(
    *,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- ARGUMENTS…", help="mdtest options, after --."),
    ] = None,
    tasks: TaskOptions,
    ranks: RankOptions,
    output: OutputOptions,
) -> None:
    """Run an mdtest command line.

    Example: strider mdtest -n 4 -- -n 1000 -z 2 -b 3 -F -u -i 3 -d /mnt/pfs/bench. Uses the same trees, items
    and operations as mdtest and prints the same summary. Reports differences as notes. Rejects unsupported
    options that would change the measurement.
    """
    from strider.cli import importing
    from strider.importers.mdtest import read_command

    imported = read_command(arguments or [], importing.surroundings(tasks, ranks))
    options = RunOptions.of(ranks, output)
    importing.run_or_write(imported, tasks.suite, options)
