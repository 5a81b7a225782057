"""`strider show`: the results of a run as a table."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from strider.cli.options import LATEST, JsonOption, RunArgument, StoreOption


def show(
    run: RunArgument = LATEST,
    latency: Annotated[
        bool, typer.Option("--latency", help="Show how latencies are distributed, as percentiles.")
    ] = False,
    counters: Annotated[
        bool,
        typer.Option(
            "--counters", help="Show what the nodes counted: CPU, context switches, packets, disks."
        ),
    ] = False,
    limits: Annotated[
        bool,
        typer.Option("--limits", help="Show what the machine's parts can do, and what limits each result."),
    ] = False,
    observed: Annotated[
        list[Path] | None,
        typer.Option(
            "--observed",
            metavar="FILE",
            help="With --counters: what strider observe wrote on a server meanwhile, too. May be repeated.",
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show the results of a run as a table."""
    from strider import store as runs
    from strider.launch.rundir import store as store_of

    loaded = runs.load(runs.resolve(store_of(store), run))
    if json:
        from strider.engine import to_json
        from strider.report.table import as_rows

        if limits:
            from strider.limits import Analysis
            from strider.report.limits import as_json

            sys.stdout.write(to_json({"run": loaded.id, **as_json(Analysis.of(loaded))}))
            return
        head = {"run": loaded.id, "directory": str(loaded.directory), "status": loaded.status}
        sys.stdout.write(to_json({**head, "exit_code": loaded.info.exit_code, "results": as_rows(loaded)}))
        return
    from strider.cli.console import output
    from strider.report import counters_table, latency_table, table
    from strider.report.wording import status_text

    console = output()
    title = f"{loaded.id}: {status_text(loaded)}, {loaded.info.started}, target {loaded.info.directory}"
    console.print(title, highlight=False, markup=False, soft_wrap=True)
    if loaded.start and loaded.start.confinement:
        line = f"confinement: {loaded.start.confinement.in_words}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if limits:
        from strider.report import limits_table

        limits_table.render(loaded, console)
    elif counters or observed:
        counters_table.render(loaded, console)
        for file in [*runs.observed_files(loaded.directory), *(observed or [])]:
            counters_table.render_observed(loaded, runs.read_observed(file), console)
    else:
        (latency_table if latency else table).render(loaded, console)
