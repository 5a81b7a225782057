"""`strider rm`: removes runs from the store."""

from typing import Annotated

import typer

from strider.console import echo
from strider.running.options import StoreOption


def rm(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Run ids, unique prefixes, or run directories; or latest."),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be removed; remove nothing.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Also remove a run without an end whose last event is less than 10 min old."
        ),
    ] = False,
    store: StoreOption = None,
) -> None:
    """Remove runs from the store: their results, reports and all other files in their directories.

    If a name does not denote exactly one run, nothing is removed. Symbolic links are not followed. Data sets
    that a run wrote stay, and are named. For files that a killed run left in its target: strider clean DIR.
    """
    from strider.cli.prune import tell_data_sets
    from strider.datasets import left_by
    from strider.listing.names import store_of
    from strider.store import resolve
    from strider.store.removal import remove_run

    folder = store_of(store)
    directories = list(dict.fromkeys(resolve(folder, name).absolute() for name in runs))
    for directory in directories:
        left = left_by(directory)
        if not dry_run:
            remove_run(directory, force=force)
        echo(f"{'would remove' if dry_run else 'removed'} {directory}")
        tell_data_sets(left)
