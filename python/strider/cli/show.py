"""`strider show`: shows the results of a run as a table."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from strider.cli.options import LATEST, JsonOption, RunArgument, StoreOption


def show(
    run: RunArgument = LATEST,
    latency: Annotated[bool, typer.Option("--latency", help="Show latency percentiles.")] = False,
    counters: Annotated[
        bool,
        typer.Option("--counters", help="Show node counters: CPU, context switches, packets, disks."),
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
    from strider.launch.rundir import store as store_of
    from strider.report import document_of
    from strider.report import show as print_sections
    from strider.report.results.results import Results
    from strider.report.words.wording import status_text

    loaded = runs.load(runs.resolve(store_of(store), run))
    files = [*runs.observed_files(loaded.directory), *(observed or [])] if counters or observed else []
    results = Results(loaded, observed=[runs.read_observed(file) for file in files])
    asked = {"limits": limits, "counters": counters or observed, "latency": latency}
    option = next((name for name, is_asked in asked.items() if is_asked), "")
    if json:
        from strider.engine import to_json

        state = {
            "directory": str(loaded.directory),
            "status": loaded.status,
            "exit_code": loaded.info.exit_code,
        }
        head = {"run": loaded.id, **({} if limits else state)}
        sys.stdout.write(to_json({**head, **document_of(results, [option if limits else ""])}))
        return
    from strider.cli.console import output

    console = output()
    title = f"{loaded.id}: {status_text(loaded)}, {loaded.info.started}, target {loaded.info.directory}"
    console.print(title, highlight=False, markup=False, soft_wrap=True)
    if loaded.start and loaded.start.confinement:
        line = f"confinement: {loaded.start.confinement.in_words}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    print_sections(results, console, [option])
