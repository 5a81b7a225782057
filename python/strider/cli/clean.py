"""`strider clean`: removes the folders of killed runs from a target directory."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.options import DryRunOption
from strider.console import echo, error_console
from strider.errors import ExitCode
from strider.running.options import JsonOption, QuietOption

if TYPE_CHECKING:
    from strider.engine import Json
    from strider.launch.leftovers import Leftover
    from strider.launch.removal import Removal


def clean(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Target directory of the runs.")],
    dry_run: DryRunOption = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Also remove marked folders whose run is still active or was started on another "
            "host. Removing the folder of an active run makes the run fail. Folders without "
            "Strider's mark are never removed.",
        ),
    ] = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Remove the folders of killed runs from a target directory.

    Removes only folders DIR/strider-RUN that carry Strider's mark. Symbolic links are not followed and mount
    points are not entered. Keeps folders of active runs and of runs that were started on another host. Exit
    code 1 if a folder cannot be removed.
    """
    from strider.launch import leftovers

    found = leftovers.find(directory.expanduser().absolute())
    rows = [_handle(leftover, dry_run=dry_run, force=force, quiet=quiet) for leftover in found]
    if json:
        from strider.engine import to_json

        sys.stdout.write(to_json({"directory": str(directory), "folders": rows}))
    else:
        _print(directory, rows)
    if any(row["action"] == "failed" for row in rows):
        raise typer.Exit(int(ExitCode.CHECK_FAILED))


def _handle(leftover: "Leftover", *, dry_run: bool, force: bool, quiet: bool) -> "dict[str, Json]":
    """Removes a folder if it is abandoned or forced; returns its row of the result."""
    row: dict[str, Json] = {
        "path": str(leftover.path),
        "run": leftover.folder.run if leftover.folder else None,
        "action": "left",
        "reason": leftover.reason,
        "removed_entries": 0,
    }
    wanted = leftover.state == "abandoned" or (force and leftover.state in ("alive", "elsewhere"))
    if not wanted:
        return row
    if dry_run:
        return {**row, "action": "would be removed"}
    removal = _remove(leftover, quiet=quiet)
    action = "failed" if removal.problems else "removed"
    reason = "; ".join(removal.problems)
    return {**row, "action": action, "reason": reason, "removed_entries": removal.removed}


def _remove(leftover: "Leftover", *, quiet: bool) -> "Removal":
    """Removes a folder; shows the progress on a terminal."""
    from strider.launch import leftovers

    console = error_console()
    if quiet or not console.is_terminal:
        return leftovers.clean(leftover)
    with console.status(f"{leftover.path}") as status:
        return leftovers.clean(
            leftover, lambda count: status.update(f"{leftover.path}: {count:,} entries removed")
        )


def _print(directory: Path, rows: "list[dict[str, Json]]") -> None:
    """Prints one line for each folder."""
    if not rows:
        echo(f"{directory}: no Strider folders found")
    for row in rows:
        entries = f" ({row['removed_entries']:,} entries)" if row["removed_entries"] else ""
        reason = f": {row['reason']}" if row["reason"] else ""
        echo(f"{row['path']}: {row['action']}{entries}{reason}")
