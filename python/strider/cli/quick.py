"""`strider quick`: what a directory can do, in about two minutes."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.options import (
    CeilingsOption,
    ClientsOption,
    JsonOption,
    LauncherOption,
    QuietOption,
    SetOption,
    StoreOption,
)
from strider.cli.running import RunOptions, run_document

if TYPE_CHECKING:
    from strider.suite.document import Document


def quick(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Directory to measure; it must exist.")],
    clients: ClientsOption = None,
    settings: SetOption = None,
    launcher: LauncherOption = "mpiexec",
    ceilings: CeilingsOption = "all",
    store: StoreOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Measure what a directory can do (about two minutes).

    Interfaces, access patterns, operations, a few transfer sizes and numbers of clients, with files of at
    most 256 MiB: the operating system's calls, MPI-IO, and list I/O to servers that are started for the run.
    It ends with a table and report.html, and leaves the directory as it was. It is the suite quick.
    """
    from strider.suite import locate, ready_made
    from strider.suite.document import read

    document = read(ready_made().get("quick") or locate("quick"))
    _leave_out_missing(document)
    # What the user sets comes later, and stands.
    changes = [f"suite.clients={clients_here()}", *(settings or [])]
    run_document(
        document,
        RunOptions(changes, directory, clients, launcher, store, quiet, json, ceilings=ceilings),
    )


def _leave_out_missing(document: "Document") -> None:
    """Leaves out the interfaces that this engine was built without: the others can be measured."""
    from strider import engine as engines

    missing = {each.name for each in engines.find().description.interfaces if not each.available}
    cases = document.data.get("case", [])
    for case in cases:
        named = case["interface"] if isinstance(case["interface"], list) else [case["interface"]]
        case["interface"] = [name for name in named if name not in missing]
    document.data["case"] = [case for case in cases if case["interface"]]


def clients_here() -> str:
    """One client, and as many as can work at the same time here.

    MPI's ranks wait by spinning: more of them than there are processors would show how they get in each
    other's way, and not what the directory can do.
    """
    cores = len(os.sched_getaffinity(0))
    return ",".join(str(number) for number in (1, 2, 4) if number <= max(2, cores))
