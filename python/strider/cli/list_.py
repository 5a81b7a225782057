"""`strider list`: lists the runs of the store."""

import dataclasses
import sys
from typing import TYPE_CHECKING

from strider.cli.options import JsonOption, StoreOption

if TYPE_CHECKING:
    from rich.console import Console

    from strider.store import RunSummary

_ANY_WIDTH = 10_000
_STYLES = {
    "errors": "yellow",
    "interrupted": "yellow",
    "unfinished": "yellow",
    "failed": "red",
    "unreadable": "red",
}


def list_(store: StoreOption = None, json: JsonOption = False) -> None:
    """List the runs of the store, oldest first."""
    from strider.launch.rundir import store as store_of
    from strider.store import list_runs

    folder = store_of(store)
    runs = list_runs(folder)
    if json:
        from strider.engine import to_json

        rows = [{**dataclasses.asdict(run), "directory": str(run.directory)} for run in runs]
        sys.stdout.write(to_json(rows))
    elif runs:
        _print_table(runs)
    else:
        print(f"no runs in {folder}: measure one with strider quick DIR", file=sys.stderr)


def _print_narrow(runs: "list[RunSummary]", console: "Console") -> None:
    """Prints each run on two lines: ids stay whole, so that they can be copied."""
    from rich.text import Text

    from strider.report.words.wording import plural

    for run in runs:
        counts = ((run.cases, "case"), (run.samples, "sample"), (run.errors, "error"))
        known = [plural(count, noun) for count, noun in counts if count is not None]
        status = Text(run.shown_status, _STYLES.get(run.condition, ""))
        console.print(Text(run.run), soft_wrap=True)
        console.print(
            Text("  ").append_text(status).append(", ".join(["", *known, run.target])), soft_wrap=True
        )


def _print_table(runs: "list[RunSummary]") -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from strider.cli.console import output

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("run", no_wrap=True)
    table.add_column("status", no_wrap=True)
    for header in ("cases", "samples", "errors"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("target", no_wrap=True)
    for run in runs:
        counts = ("" if count is None else str(count) for count in (run.cases, run.samples, run.errors))
        status = Text(run.shown_status, _STYLES.get(run.condition, ""))
        table.add_row(Text(run.run), status, *map(Text, counts), Text(run.target))
    console = output()
    if console.measure(table, options=console.options.update(width=_ANY_WIDTH)).maximum <= console.width:
        console.print(table)
    else:
        _print_narrow(runs, console)
    for run in runs:
        if run.damage:
            print(f"strider: {run.directory.name}: {run.damage}", file=sys.stderr)
