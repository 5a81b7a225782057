"""Earlier names of verbs: `strider prune` and `strider note`. Version 0.3 removes them."""

import sys
from typing import Annotated

import typer

from strider.cli.grouped import grouped
from strider.cli.options import DryRunOption
from strider.cli.rm import BY_CONDITION, Conditions, YesOption, remove_selected
from strider.cli.tag import NamedRunArgument, change_labels
from strider.console import echo
from strider.errors import StriderError
from strider.running.options import StoreOption


@grouped
def prune(
    *,
    conditions: Conditions,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    store: StoreOption = None,
) -> None:
    """Remove runs by age, number and status: use strider rm with the same options.

    Version 0.3 removes this name.
    """
    _print_new_name("prune", "rm")
    if not conditions.select_runs():
        raise StriderError(f"nothing to prune by: add {BY_CONDITION}")
    remove_selected(conditions, dry_run=dry_run, yes=yes, store=store)


def note(
    run: NamedRunArgument,
    text: Annotated[
        str | None,
        typer.Argument(metavar="[TEXT]", help='The note; "" removes it (default: print the note).'),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Replace the note on a run, or print it: use strider tag RUN --note TEXT, or strider tag RUN.

    Version 0.3 removes this name.
    """
    _print_new_name("note", "tag RUN --note TEXT")
    directory, labels = change_labels(run, [], text, store)
    echo(labels.note or f"{directory.name}: no note")


def _print_new_name(old: str, new: str) -> None:
    message = f'strider: "strider {old}" is now "strider {new}": version 0.3 removes the old name'
    echo(message, stream=sys.stderr)
