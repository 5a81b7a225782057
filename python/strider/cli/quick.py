"""`strider quick`: what a directory can do, in about two minutes."""

import os
from typing import Annotated

import typer

from strider.cli.options import ClientsOption, JsonOption, LauncherOption, QuietOption, SetOption, StoreOption
from strider.cli.running import RunOptions, run_suite


def quick(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Directory to measure; it must exist.")],
    clients: ClientsOption = None,
    settings: SetOption = None,
    launcher: LauncherOption = "mpiexec",
    store: StoreOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Measure what a directory can do (about two minutes).

    Interfaces, access patterns, operations, a few transfer sizes and numbers of clients, with files of at
    most 256 MiB. It ends with a table and report.html, and leaves the directory as it was. It is the
    ready-made suite quick.
    """
    from strider.suite import locate, ready_made

    file = ready_made().get("quick") or locate("quick")
    changes = [f"suite.clients={_clients()}", *(settings or [])]  # what the user sets comes later, and stands
    run_suite(file, RunOptions(changes, directory, clients, launcher, store, quiet, json))


def _clients() -> str:
    """One client, and as many as can work at the same time here.

    MPI's ranks wait by spinning: more of them than there are processors would show how they get in each
    other's way, and not what the directory can do.
    """
    cores = len(os.sched_getaffinity(0))
    return ",".join(str(number) for number in (1, 2, 4) if number <= max(2, cores))
