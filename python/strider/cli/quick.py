"""`strider quick`: a standard measurement of a directory in about two minutes."""

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
    """Measure the performance of a directory in about two minutes.

    Runs the suite quick: POSIX calls, MPI-IO and list I/O (with temporary servers), several access patterns,
    operations, transfer sizes and client counts, and files of at most 256 MiB. Prints a table, writes
    report.html and removes its files from the directory.
    """
    from strider.suite import locate, ready_made
    from strider.suite.document import read

    document = read(ready_made().get("quick") or locate("quick"))
    _leave_out_missing(document)
    # The user's own settings come later and take precedence.
    changes = [f"suite.clients={clients_here()}", *(settings or [])]
    run_document(
        document,
        RunOptions(changes, directory, clients, launcher, store, quiet, json, ceilings=ceilings),
    )


def _leave_out_missing(document: "Document") -> None:
    """Removes the interfaces that this engine was built without."""
    from strider import engine as engines

    missing = {each.name for each in engines.find().description.interfaces if not each.available}
    cases = document.data.get("case", [])
    for case in cases:
        named = case["interface"] if isinstance(case["interface"], list) else [case["interface"]]
        case["interface"] = [name for name in named if name not in missing]
    document.data["case"] = [case for case in cases if case["interface"]]


def clients_here() -> str:
    """Returns the client counts: 1 and the number of processors.

    MPI ranks spin while they wait. More ranks than processors would measure their contention for the CPU and
    not the directory.
    """
    cores = len(os.sched_getaffinity(0))
    return ",".join(str(number) for number in (1, 2, 4) if number <= max(2, cores))
