"""`strider rm`: removes runs from the store."""

import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.grouped import grouped
from strider.cli.options import DryRunOption
from strider.console import echo
from strider.errors import StriderError
from strider.running.options import Group, StoreOption

if TYPE_CHECKING:
    from strider.store import RunSummary

_STATUSES = ("complete", "errors", "interrupted", "failed", "unfinished", "unreadable")
_AGES_S = {"h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
BY_CONDITION = "--older-than AGE, --keep N or --status STATUS"

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Remove without a question.")]


@dataclass(frozen=True, kw_only=True)
class Conditions(Group):
    """Conditions on the runs to remove."""

    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than", metavar="AGE", help="Remove runs that are older, such as 12h, 30d or 8w."
        ),
    ] = None
    keep: Annotated[
        int | None, typer.Option("--keep", metavar="N", min=0, help="Keep the newest N runs.")
    ] = None
    status: Annotated[
        str | None,
        typer.Option(
            "--status",
            metavar="STATUS[,STATUS…]",
            help=f"Remove runs with this status only: {', '.join(_STATUSES)}.",
        ),
    ] = None
    labelled: Annotated[bool, typer.Option("--labelled", help="Also remove runs with a tag or a note.")] = (
        False
    )

    def select_runs(self) -> bool:
        """Returns whether there is a condition that selects runs."""
        return (self.older_than, self.keep, self.status) != (None, None, None)


@grouped
def rm(
    *,
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Run ids, unique prefixes, or run directories; or latest."),
    ] = None,
    conditions: Conditions,
    dry_run: DryRunOption = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Also remove a named run without an end whose last event is less than 10 min old.",
        ),
    ] = False,
    yes: YesOption = False,
    store: StoreOption = None,
) -> None:
    """Remove runs from the store: their results, reports and all other files in their directories.

    Removes the named runs, without a question. If a name does not denote exactly one run, nothing is removed.

    Without names, removes the runs that meet all given conditions. Lists them and asks first. Keeps runs with
    a tag or a note, and runs that may be active.

    Symbolic links are not followed. Data sets that a run wrote stay, and are named. For files that a killed
    run left in its target: strider clean DIR.
    """
    if runs and conditions != Conditions():
        raise StriderError(
            "runs are selected by name or by condition, not by both: leave out the names, or "
            "--older-than, --keep, --status and --labelled"
        )
    if runs:
        _remove_named(runs, dry_run=dry_run, force=force, store=store)
    elif force:
        raise StriderError("--force is for named runs: name the runs to remove")
    elif not conditions.select_runs():
        raise StriderError(f"nothing to remove: name runs, or add {BY_CONDITION}")
    else:
        remove_selected(conditions, dry_run=dry_run, yes=yes, store=store)


def _remove_named(names: "Sequence[str]", *, dry_run: bool, force: bool, store: Path | None) -> None:
    from strider.datasets import left_by
    from strider.listing.names import store_of
    from strider.store import resolve
    from strider.store.removal import remove_run

    folder = store_of(store)
    directories = list(dict.fromkeys(resolve(folder, name).absolute() for name in names))
    for directory in directories:
        left = left_by(directory)
        if not dry_run:
            remove_run(directory, force=force)
        echo(f"{'would remove' if dry_run else 'removed'} {directory}")
        _print_data_sets(left)


def remove_selected(conditions: Conditions, *, dry_run: bool, yes: bool, store: Path | None) -> None:
    """Lists the runs that meet all conditions, asks, and removes them.

    Raises:
        StriderError: A condition is invalid, or there is no terminal to ask on.
    """
    from strider.datasets import left_by
    from strider.listing.names import store_of
    from strider.store import list_runs
    from strider.store.removal import remove_run

    age_s = _age(conditions.older_than) if conditions.older_than is not None else 0.0
    wanted = _statuses(conditions.status) if conditions.status is not None else _STATUSES
    runs = list_runs(store_of(store))
    old = runs[: max(0, len(runs) - (conditions.keep or 0))]
    chosen = [
        run
        for run in old
        if run.condition in wanted and _is_removable(run, age_s, labelled=conditions.labelled)
    ]
    for run in chosen:
        echo(f"{run.run}: {run.shown_status}, {run.target or 'target unknown'}")
    if not chosen:
        echo("no run meets the conditions")
    elif dry_run:
        echo(f"would remove {_count(chosen)} of {len(runs)}")
    elif yes or _confirmed(chosen):
        for run in chosen:
            left = left_by(run.directory)
            remove_run(run.directory)
            _print_data_sets(left)
        echo(f"removed {_count(chosen)} of {len(runs)}")
    else:
        echo("nothing was removed")


def _print_data_sets(left: "Sequence[tuple[str, Path]]") -> None:
    """Prints the data sets that a removed run wrote, with the command that removes each."""
    for name, target in left:
        command = f"strider data remove {name} --target {shlex.quote(str(target))}"
        echo(f"data set {name} stays in {target}: {command}")


def _is_removable(run: "RunSummary", age_s: float, *, labelled: bool) -> bool:
    """Returns whether a run is old enough, is not active, and has no label that protects it."""
    from strider.store.labels import read_labels
    from strider.store.removal import is_active

    labels = read_labels(run.directory)
    is_protected = not labelled and (labels.tags or labels.note)
    if is_protected or (run.ended is None and not run.damage and is_active(run.directory)):
        return False
    return time.time() - _end(run) >= age_s


def _end(run: "RunSummary") -> float:
    """Returns when a run ended, or else began, in seconds since 1970."""
    for text in (run.ended, run.started):
        try:
            return datetime.fromisoformat(text or "").timestamp()
        except ValueError:
            continue
    return _changed(run.directory)


def _changed(directory: Path) -> float:
    return directory.stat().st_mtime


def _confirmed(runs: "Sequence[RunSummary]") -> bool:
    """Asks on the terminal.

    Raises:
        StriderError: There is no terminal to ask on.
    """
    if not sys.stdin.isatty():
        raise StriderError(f"{_count(runs)} not removed: there is no terminal to ask on; add --yes")
    sys.stdout.flush()
    answer = input(f"Remove {_count(runs)} with all results? [y/N] ")
    return answer.strip().casefold() in ("y", "yes")


def _count(runs: "Sequence[RunSummary]") -> str:
    from strider.report.words.wording import plural

    return plural(len(runs), "run")


def _age(text: str) -> float:
    """Returns the seconds of `--older-than`.

    Raises:
        StriderError: It is no time.
    """
    from strider.units import parse_seconds

    number, unit = text[:-1], text[-1:]
    try:
        return (
            float(number) * _AGES_S[unit] if unit in _AGES_S and number.isdecimal() else parse_seconds(text)
        )
    except ValueError as error:
        raise StriderError(f"--older-than {text}: {error}; for days and weeks: 30d, 8w") from error


def _statuses(text: str) -> list[str]:
    """Returns the values of `--status`.

    Raises:
        StriderError: One is unknown.
    """
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in _STATUSES:
            raise StriderError(f'unknown --status "{word}": choose from {", ".join(_STATUSES)}')
    return words
