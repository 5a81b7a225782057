"""`strider ior`: runs an IOR command line."""

from typing import Annotated

import typer

from strider.cli.options import (
    JsonOption,
    LauncherOption,
    QuietOption,
    StoreOption,
    TasksOption,
    TasksPerNodeOption,
    WriteSuiteOption,
)
from strider.cli.running import RunOptions


def ior(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- ARGUMENTS…", help="IOR options, after --; -f FILE reads a script."),
    ] = None,
    tasks: TasksOption = 1,
    tasks_per_node: TasksPerNodeOption = None,
    suite: WriteSuiteOption = None,
    launcher: LauncherOption = "mpiexec",
    store: StoreOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Run an IOR command line or script.

    Example: strider ior -n 4 -- -a MPIIO -b 16m -t 1m -s 4 -F -C -o /mnt/pfs/file. Uses the same file offsets
    as IOR and prints the same table. Reports differences as notes. Rejects unsupported options that would
    change the measurement.
    """
    from strider.cli import importing
    from strider.importers.ior import read_command

    imported = read_command(
        arguments or [], importing.surroundings(tasks, tasks_per_node, keeps_files=suite is None)
    )
    options = RunOptions(launcher=launcher, store=store, quiet=quiet, json=json)
    importing.run_or_write(imported, suite, options)
