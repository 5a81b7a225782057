"""`strider prune`: removes old runs from the store."""

import shlex
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.console import echo
from strider.errors import StriderError
from strider.running.options import StoreOption

if TYPE_CHECKING:
    from strider.store import RunSummary

_STATUSES = ("complete", "errors", "interrupted", "failed", "unfinished", "unreadable")
_AGES_S = {"h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}


def prune(
    *,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than", metavar="AGE", help="Remove runs that are older, such as 12h, 30d or 8w."
        ),
    ] = None,
    keep: Annotated[
        int | None, typer.Option("--keep", metavar="N", min=0, help="Keep the newest N runs.")
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(
            "--status",
            metavar="STATUS[,STATUS…]",
            help=f"Remove runs with this status only: {', '.join(_STATUSES)}.",
        ),
    ] = None,
    labelled: Annotated[
        bool, typer.Option("--labelled", help="Also remove runs with a tag or a note.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be removed; remove nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without a question.")] = False,
    store: StoreOption = None,
) -> None:
    """Remove runs from the store by age, number and status.

    A run is removed if it meets all given conditions. Lists the runs and asks first. Keeps runs with a tag or
    a note, and runs that may be active. To remove runs by name: strider rm RUN.
    """
    from strider.datasets import left_by
    from strider.listing.names import store_of
    from strider.store import list_runs
    from strider.store.removal import remove_run

    if older_than is None and keep is None and status is None:
        raise StriderError("nothing to prune by: add --older-than AGE, --keep N or --status STATUS")
    age_s = _age(older_than) if older_than is not None else 0.0
    wanted = _statuses(status) if status is not None else _STATUSES
    runs = list_runs(store_of(store))
    old = runs[: max(0, len(runs) - (keep or 0))]
    chosen = [run for run in old if run.condition in wanted and _is_removable(run, age_s, labelled=labelled)]
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
            tell_data_sets(left)
        echo(f"removed {_count(chosen)} of {len(runs)}")
    else:
        echo("nothing was removed")


def tell_data_sets(left: "Sequence[tuple[str, Path]]") -> None:
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
