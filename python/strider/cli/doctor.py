"""`strider doctor`: checks the environment."""

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.errors import ExitCode
from strider.running.options import JsonOption

if TYPE_CHECKING:
    from strider.doctor import Diagnosis


def doctor(
    directory: Annotated[Path | None, typer.Argument(metavar="DIR", help="Directory to be measured.")] = None,
    json: JsonOption = False,
) -> None:
    """Check what works on this machine, and why other parts do not.

    With a directory, also checks its file system; creates and removes a small file there.
    """
    from strider.doctor import diagnose

    diagnoses = diagnose(directory)
    if json:
        from strider.engine import to_json

        sys.stdout.write(to_json([dataclasses.asdict(diagnosis) for diagnosis in diagnoses]))
    else:
        _print_table(diagnoses)
    if any(diagnosis.state == "fails" for diagnosis in diagnoses):
        raise typer.Exit(int(ExitCode.CANNOT_RUN))


def _print_table(diagnoses: "list[Diagnosis]") -> None:
    from rich.table import Table
    from rich.text import Text

    from strider.console import output

    signs = {
        "works": ("✓", "green"),
        "note": ("·", "yellow"),
        "missing": ("–", "yellow"),
        "fails": ("✗", "red"),
    }
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(2):
        table.add_column(no_wrap=True)
    # Do not truncate long paths: they may be part of a command to copy.
    table.add_column(overflow="fold")
    for diagnosis in diagnoses:
        sign, style = signs[diagnosis.state]
        text = Text(diagnosis.finding)
        if diagnosis.remedy:
            text.append(f"\n→ {diagnosis.remedy}", style="dim")
        table.add_row(Text(sign, style=style), Text(diagnosis.subject), text)
    output().print(table)
