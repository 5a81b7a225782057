"""`strider plan`: shows the plan of a suite."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.grouped import grouped
from strider.cli.options import SuiteArgument
from strider.errors import StriderError
from strider.running.options import JsonOption, RankOptions, RunOptions, SuiteOptions
from strider.text import printable

if TYPE_CHECKING:
    from strider.engine import Engine
    from strider.launch.launchers import Places
    from strider.running.options import RunOptions
    from strider.running.prepared import Sized
    from strider.suite import CheckedPlan, Plan, Suite
    from strider.suite.estimate import AssumedRates

ExtentsOption = Annotated[
    int | None,
    typer.Option(
        "--extents",
        metavar="CASE",
        help="Print the requests of one rank of this case as CSV: extents, or item paths of a tree.",
    ),
]
RankOption = Annotated[int, typer.Option("--rank", metavar="R", help="Rank for --extents, from 0.")]
OperationOption = Annotated[
    str | None,
    typer.Option("--operation", metavar="OP", help="Operation for --extents (default: first)."),
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", metavar="N", help="Maximum number of requests for --extents.")
]
AssumeRateOption = Annotated[
    str,
    typer.Option(
        "--assume-rate",
        metavar="SIZE",
        help="Assumed data rate for the time estimate, in bytes per second.",
    ),
]
AssumeOperationsOption = Annotated[
    int,
    typer.Option(
        "--assume-operations",
        metavar="N",
        min=1,
        help="Assumed metadata rate for the time estimate, in operations per second.",
    ),
]
ProbeOption = Annotated[
    bool,
    typer.Option(
        "--probe", help='Measure the rates of the target for the time and for sizes "auto", in 3 s.'
    ),
]

SeatsOption = Annotated[
    bool,
    typer.Option("--seats", help="Print only the ranks of each case on each node, none left out."),
]


@grouped
def plan(
    *,
    suite: SuiteArgument,
    changes: SuiteOptions,
    ranks: RankOptions,
    extents: ExtentsOption = None,
    rank: RankOption = 0,
    operation: OperationOption = None,
    limit: LimitOption = None,
    assume_rate: AssumeRateOption = "200MiB",
    assume_operations: AssumeOperationsOption = 10_000,
    probe: ProbeOption = False,
    seats: SeatsOption = False,
    json: JsonOption = False,
) -> None:
    """Show the cases of a suite with bytes, space and estimated time.

    Measures nothing and does not touch the target, unless --probe is given. The line "start" is the command
    that starts the ranks, quoted as for a shell. If a case has placement, nodes or per_node, "seats" shows
    the ranks of each case on each node, such as n0: 0-3, n1: 4-7.
    --json prints the plan, the input of the engine; with --seats, the seats. --extents prints
    request,extent,file_offset,memory_offset,length for each request of a rank in issue order, or
    request,path for a case with a tree.
    """
    from strider import engine as engines
    from strider.console import output
    from strider.datasets.binding import require_names
    from strider.launch.fitting import fitted
    from strider.running.performing import tell_sizes
    from strider.running.prepared import changes_of
    from strider.suite import load, locate

    engine = engines.find()
    places = ranks.places()
    options = RunOptions.of(changes, launcher=ranks.launcher, places=places)
    loaded = load(locate(suite), engine.description, changes_of(options), "several")
    require_names(loaded)
    loaded, places = fitted(loaded, ranks.launcher, places, is_plan=True)
    options = replace(options, places=places)
    if seats:
        _print_seats(loaded.plan, places, are_all=True, json=json)
        return
    sized = _sized(loaded, engine, probe, "--extents" if extents is not None else "--json" if json else "")
    checked = sized.checked
    if extents is not None:
        _print_extents(checked, engine, extents, rank, operation, limit)
    elif json:
        sys.stdout.write(checked.suite.plan.to_json())
    else:
        _print_table(checked, engine, _rates(checked, engine, probe, assume_rate, assume_operations))
        tell_sizes(sized.sentences, output())
        _print_seats(checked.suite.plan, places)
        if places.are_given or places.bind or ranks.launcher != "mpiexec":
            tell_sizes([f"start: {_start(engine, options, checked.suite.plan.ranks)}"], output())


def _print_seats(plan: "Plan", places: "Places", *, are_all: bool = False, json: bool = False) -> None:
    """Prints the ranks of each case by node: as JSON, all, or a table if a case has a key of placement."""
    from json import dumps

    from strider.console import output
    from strider.running.performing import tell_sizes
    from strider.suite.case_ranks import blocks, has_placement, lines, ranks_by_case

    if not are_all and not has_placement(plan):
        return
    mapping = places.mapping(plan.ranks)
    per_node = mapping.per_node
    rooms = mapping.counts or (blocks(mapping.ranks, per_node) if per_node else [])
    found = ranks_by_case(plan, rooms, mapping.names)
    if json:
        # A case on a line of its own: with indentation, each rank would have one.
        rows = ",".join(f"\n{printable(dumps(one.to_json(), ensure_ascii=False))}" for one in found)
        sys.stdout.write(f"[{rows}\n]\n")
    else:
        tell_sizes(lines(found, are_all=are_all), output())


def _start(engine: "Engine", options: "RunOptions", ranks: int) -> str:
    """Returns the command that starts the ranks, quoted as for a shell.

    Raises:
        StriderError: The launcher is not installed, or the ranks do not fit into the places.
    """
    import shlex

    from strider.launch.launchers import choose

    chosen = choose(options.launcher, engine.version.mpi, options.places)
    chosen.places.require_all_used(ranks)
    return shlex.join([*chosen.command(ranks), str(engine.path.resolve()), "run", "…"])


def _sized(suite: "Suite", engine: "Engine", probe: bool, option: str) -> "Sized":
    """Returns the suite with its sizes; those of `auto` stay open without a probe.

    Args:
        suite: The suite.
        engine: The engine.
        probe: Whether the target may be probed.
        option: Option whose output needs all sizes; empty for the table.

    Raises:
        StriderError: The option needs a probe, or the suite is invalid.
    """
    from strider.running.options import RunOptions
    from strider.running.sizing import with_chosen_sizes, without_probe
    from strider.suite.sizes import probed_key

    key = probed_key(suite)
    if probe or not key:
        return with_chosen_sizes(suite, engine, RunOptions())
    if option:
        raise StriderError(
            f'{option} needs a number, but {key} = "auto" is chosen by a probe of the target: add --probe, '
            f"or give a size such as --set case.{key}=64MiB"
        )
    return without_probe(suite, engine)


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


def _rates(
    checked: "CheckedPlan", engine: "Engine", probe: bool, assume_rate: str, assume_operations: int
) -> "AssumedRates":
    """Returns the rates of the estimate: those of a probe, or those assumed."""
    from strider.suite.estimate import AssumedRates
    from strider.units import parse_bytes

    if probe:
        from strider.launch import check_target
        from strider.running.probing import rates_for

        if not checked.suite.plan.target:
            raise StriderError("--probe needs a directory: name it with --target DIR")
        return rates_for(check_target(checked.suite.plan.target), engine.description)
    try:
        rate = parse_bytes(assume_rate.removesuffix("/s"))
    except ValueError as error:
        raise StriderError(f"--assume-rate: {error}") from error
    if rate <= 0:
        raise StriderError("--assume-rate must be more than 0")
    return AssumedRates(rate, assume_operations)


def _print_table(checked: "CheckedPlan", engine: "Engine", rates: "AssumedRates") -> None:
    from strider.cli.plan_table import render
    from strider.console import output

    render(checked, engine.description, rates, output())
