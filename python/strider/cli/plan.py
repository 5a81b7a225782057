"""`strider plan`: what a suite means, without touching the target."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.options import ClientsOption, JsonOption, SetOption, SuiteArgument, TargetOption
from strider.errors import StriderError

if TYPE_CHECKING:
    from strider.engine import Engine
    from strider.suite import CheckedPlan


def plan(
    suite: SuiteArgument,
    target: TargetOption = None,
    clients: ClientsOption = None,
    settings: SetOption = None,
    extents: Annotated[
        int | None,
        typer.Option(
            "--extents",
            metavar="CASE",
            help="Print the requests of one rank of this case as CSV: extents, or paths of a tree's items.",
        ),
    ] = None,
    rank: Annotated[int, typer.Option("--rank", metavar="R", help="With --extents: the rank, from 0.")] = 0,
    operation: Annotated[
        str | None,
        typer.Option("--operation", metavar="OP", help="With --extents: the operation, else the first one."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="With --extents: at most so many requests.")
    ] = None,
    assume_rate: Annotated[
        str,
        typer.Option(
            "--assume-rate", metavar="SIZE", help="Bytes per second that the time estimate assumes."
        ),
    ] = "200MiB",
    assume_operations: Annotated[
        int,
        typer.Option(
            "--assume-operations",
            metavar="N",
            min=1,
            help="Operations of metadata per second that the time estimate assumes.",
        ),
    ] = 10_000,
    json: JsonOption = False,
) -> None:
    """Show every case of a suite, its bytes, space and time.

    Nothing is measured and the target is not touched. --json prints the plan as the engine takes it;
    --extents prints request,extent,file_offset,memory_offset,length for each request of a rank, in the order
    in which it makes them, and request,path of a case with a tree.
    """
    from strider import engine as engines
    from strider.suite import Changes, check, load, locate

    engine = engines.find()
    loaded = load(
        locate(suite), engine.description, Changes(settings or [], target, clients), target="optional"
    )
    checked = check(loaded, engine)
    if extents is not None:
        _print_extents(checked, engine, extents, rank, operation, limit)
    elif json:
        sys.stdout.write(checked.suite.plan.to_json())
    else:
        _print_table(checked, engine, assume_rate, assume_operations)
        if suite == "quick" and not (settings or clients):
            _print_quick(checked)


def _print_quick(checked: "CheckedPlan") -> None:
    """Tells what `strider quick` does of the suite of that name on this machine, if that is less."""
    from strider.cli.quick import clients_here

    here = clients_here()
    if max(case.clients for case in checked.suite.plan.cases) > max(map(int, here.split(","))):
        print(
            "strider quick leaves out numbers of clients for which this machine has too few processors: "
            f"strider plan quick --set suite.clients={here} shows what it does here"
        )


def _print_extents(
    checked: "CheckedPlan", engine: "Engine", case: int, rank: int, operation: str | None, limit: int | None
) -> None:
    count = len(checked.suite.plan.cases)
    if not 1 <= case <= count:
        raise StriderError(f"--extents {case}: the plan has cases 1 to {count}")
    planned = checked.suite.plan.cases[case - 1]
    if not 0 <= rank < planned.clients:
        raise StriderError(f"--rank {rank}: case {case} has ranks 0 to {planned.clients - 1}")
    requests = engine.items if planned.tree else engine.extents
    for line in requests(checked.suite.plan.to_json(), case, rank, operation, limit):
        sys.stdout.write(line)


def _print_table(checked: "CheckedPlan", engine: "Engine", assume_rate: str, assume_operations: int) -> None:
    from strider.cli.console import output
    from strider.cli.plan_table import render
    from strider.suite.estimate import AssumedRates
    from strider.units import parse_bytes

    try:
        rate = parse_bytes(assume_rate.removesuffix("/s"))
    except ValueError as error:
        raise StriderError(f"--assume-rate: {error}") from error
    if rate <= 0:
        raise StriderError("--assume-rate must be more than 0")
    render(checked, engine.description, AssumedRates(rate, assume_operations), output())
