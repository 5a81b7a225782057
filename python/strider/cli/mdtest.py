"""`strider mdtest`: runs an mdtest command line."""

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


def mdtest(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- ARGUMENTS…", help="mdtest options, after --."),
    ] = None,
    tasks: TasksOption = 1,
    tasks_per_node: TasksPerNodeOption = None,
    suite: WriteSuiteOption = None,
    launcher: LauncherOption = "mpiexec",
    store: StoreOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Run an mdtest command line.

    Example: strider mdtest -n 4 -- -n 1000 -z 2 -b 3 -F -u -i 3 -d /mnt/pfs/bench. Uses the same trees, items
    and operations as mdtest and prints the same summary. Reports differences as notes. Rejects unsupported
    options that would change the measurement.
    """
    from strider.cli import importing
    from strider.importers.mdtest import read_command

    imported = read_command(arguments or [], importing.surroundings(tasks, tasks_per_node))
    options = RunOptions(launcher=launcher, store=store, quiet=quiet, json=json)
    importing.run_or_write(imported, suite, options)
