"""`strider ior`: takes IOR's own options."""

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
        typer.Argument(
            metavar="-- ARGUMENTS…", help="IOR's options, after two hyphens; -f FILE for a script."
        ),
    ] = None,
    tasks: TasksOption = 1,
    tasks_per_node: TasksPerNodeOption = None,
    suite: WriteSuiteOption = None,
    launcher: LauncherOption = "mpiexec",
    store: StoreOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Measure what an IOR command line or script describes.

    For instance: strider ior -n 4 -- -a MPIIO -b 16m -t 1m -s 4 -F -C -o /mnt/pfs/file. The offsets are
    those of IOR, and so is the table. What differs is noted; an option that would change what is measured
    but is not supported is refused.
    """
    from strider.cli import importing
    from strider.importers.ior import read_command

    imported = read_command(arguments or [], importing.surroundings(tasks, tasks_per_node))
    options = RunOptions(launcher=launcher, store=store, quiet=quiet, json=json)
    importing.run_or_write(imported, suite, options)
