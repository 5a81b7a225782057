"""`strider tag`: tags and the note of a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.console import echo
from strider.running.options import StoreOption

if TYPE_CHECKING:
    from strider.store.labels import Labels

NamedRunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="Run id, unique prefix of one, or run directory; or latest.")
]


def tag(
    run: NamedRunArgument,
    tags: Annotated[
        list[str] | None,
        typer.Argument(metavar="[+TAG|-TAG]...", help="+TAG adds a tag, -TAG removes it (default: list)."),
    ] = None,
    note: Annotated[
        str | None,
        typer.Option("--note", metavar="TEXT", help='Replace the note of the run; "" removes it.'),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Add tags to a run, remove some, set its note, or list both.

    The page of strider serve shows and finds them. strider rm with conditions keeps runs with a tag or a
    note.
    """
    directory, labels = change_labels(run, tags or [], note, store)
    echo(f"{directory.name}: {', '.join(labels.tags) or 'no tags'}")
    if labels.note and (note is not None or not tags):
        echo(labels.note)


def change_labels(
    run: str, tags: Sequence[str], note: str | None, store: Path | None
) -> "tuple[Path, Labels]":
    """Changes tags and the note of a run.

    Args:
        run: Name of the run.
        tags: +TAG or TAG to add, -TAG to remove.
        note: The new note; None keeps the present one.
        store: Directory of the runs, if given.

    Returns:
        The directory of the run, and its labels.
    """
    from strider.listing.names import store_of
    from strider.store import resolve
    from strider.store.labels import read_labels, write_labels

    directory = resolve(store_of(store), run).absolute()
    labels = read_labels(directory)
    if not tags and note is None:
        return directory, labels
    words = dict.fromkeys(labels.tags)
    for word in tags:
        name = word[1:] if word[:1] in "+-" else word
        if word.startswith("-"):
            words.pop(name, None)
        else:
            words[name] = None
    return directory, write_labels(directory, " ".join(words), labels.note if note is None else note)
