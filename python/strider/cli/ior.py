"""`strider ior`: runs an IOR command line."""

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


def ior(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- ARGUMENTS…", help="IOR options, after --; -f FILE reads a script."),
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
    """Run an IOR command line or script.

    Example: strider ior -n 4 -- -a MPIIO -b 16m -t 1m -s 4 -F -C -o /mnt/pfs/file. Uses the same file offsets
    as IOR and prints the same table. Reports differences as notes. Rejects unsupported options that would
    change the measurement.
    """
    from strider.cli import importing
    from strider.importers.ior import read_command
    from strider.launch.launchers import places_of

    places = places_of(hosts, hostfile, nodes, per_node, bind)
    imported = read_command(
        arguments or [], importing.surroundings(tasks, tasks_per_node, places, keeps_files=suite is None)
    )
    # IOR's columns come from the rows of all tasks, also of more than 64.
    options = RunOptions(
        launcher=launcher, store=store, quiet=quiet, json=json, places=places, timeline="rank"
    )
    importing.run_or_write(imported, suite, options)
