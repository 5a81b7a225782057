"""`strider mdtest`: runs an mdtest command line."""

from typing import Annotated

import typer

from strider.cli.options import (
    BindOption,
    HostfileOption,
    HostsOption,
    JsonOption,
    LauncherOption,
    NodesOption,
    PerNodeOption,
    QuietOption,
    StoreOption,
    TasksOption,
    TasksPerNodeOption,
    WriteSuiteOption,
)
from strider.running.options import RunOptions


def mdtest(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- ARGUMENTS…", help="mdtest options, after --."),
    ] = None,
    tasks: TasksOption = None,
    tasks_per_node: TasksPerNodeOption = None,
    suite: WriteSuiteOption = None,
    launcher: LauncherOption = "mpiexec",
    hosts: HostsOption = None,
    hostfile: HostfileOption = None,
    nodes: NodesOption = None,
    per_node: PerNodeOption = None,
    bind: BindOption = None,
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
    from strider.launch.launchers import places_of

    places = places_of(hosts, hostfile, nodes, per_node, bind)
    imported = read_command(arguments or [], importing.surroundings(tasks, tasks_per_node, places))
    options = RunOptions(launcher=launcher, store=store, quiet=quiet, json=json, places=places)
    importing.run_or_write(imported, suite, options)
