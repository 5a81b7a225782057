"""`strider show`: shows the results of a run as a table."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.options import LATEST, RunArgument
from strider.running.options import JsonOption, StoreOption

if TYPE_CHECKING:
    from strider.report.results.results import Results


def show(
    *,
    run: RunArgument = LATEST,
    latency: Annotated[bool, typer.Option("--latency", help="Show latency percentiles.")] = False,
    counters: Annotated[
        bool,
        typer.Option("--counters", help="Show node counters: CPU, context switches, packets, disks."),
    ] = False,
    costs: Annotated[
        bool,
        typer.Option(
            "--costs",
            help="Show costs for each MiB by interface: time of the ranks, calls, copies, switches, packets.",
        ),
    ] = False,
    processes: Annotated[
        bool,
        typer.Option("--processes", help="Show wall, user and system time of each process."),
    ] = False,
    values: Annotated[
        bool,
        typer.Option("--values", help="Show values that each process read, compared."),
    ] = False,
    limits: Annotated[
        bool,
        typer.Option("--limits", help="Show the machine ceilings and the limiting factor of each result."),
    ] = False,
    observed: Annotated[
        list[Path] | None,
        typer.Option(
            "--observed",
            metavar="FILE",
            help="With --counters: also show this file of strider observe, recorded on a server during "
            "the run. May be repeated.",
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show the results of a run as a table; of strider quick, also its card."""
    from strider import store as runs
    from strider.listing.names import store_of
    from strider.report.results.results import Results

    loaded = runs.load(runs.resolve(store_of(store), run))
    files = [*runs.observed_files(loaded.directory), *(observed or [])] if counters or observed else []
    results = Results(loaded, observed=[runs.read_observed(file) for file in files])
    asked = {
        "limits": limits,
        "counters": counters or observed,
        "costs": costs,
        "processes": processes,
        "values": values,
        "latency": latency,
    }
    option = next((name for name, is_asked in asked.items() if is_asked), "")
    if json:
        _print_json(results, only_limits=limits)
    else:
        _print_tables(results, option)


def _print_json(results: "Results", *, only_limits: bool) -> None:
    from strider.engine import to_json
    from strider.report import document_of

    run = results.run
    state = {
        "directory": str(run.directory),
        "status": run.status,
        "exit_code": run.info.exit_code,
    }
    head = {"run": run.id, **({} if only_limits else state)}
    sys.stdout.write(to_json({**head, **document_of(results, ["limits" if only_limits else ""])}))


def _print_tables(results: "Results", option: str) -> None:
    from strider.console import output
    from strider.report import show as print_sections
    from strider.report.words.wording import status_text

    run, console = results.run, output()
    title = f"{run.id}: {status_text(run)}, {run.info.started}, target {run.info.directory}"
    console.print(title, highlight=False, markup=False, soft_wrap=True)
    if run.start and run.start.confinement:
        line = f"confinement: {run.start.confinement.in_words}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if run.ignored_events:
        line = (
            f"note: {run.ignored_events} events after the end of the run are ignored: ranks that strider "
            "run could not reach continued to write"
        )
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    print_sections(results, console, [option])
