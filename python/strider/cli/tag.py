"""`strider tag` and `strider note`: what a user says about a run."""

from pathlib import Path
from typing import Annotated

import typer

from strider.console import echo
from strider.running.options import StoreOption

_RUN = typer.Argument(metavar="RUN", help="Run id, unique prefix of one, or run directory; or latest.")


def tag(
    run: Annotated[str, _RUN],
    tags: Annotated[
        list[str] | None,
        typer.Argument(metavar="[+TAG|-TAG]...", help="+TAG adds a tag, -TAG removes it (default: list)."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Add tags to a run, remove some, or list them.

    The page of strider serve shows and finds them. strider prune keeps runs with a tag.
    """
    from strider.store.labels import read_labels, write_labels

    directory = _directory(store, run)
    labels = read_labels(directory)
    if tags:
        words = dict.fromkeys(labels.tags)
        for word in tags:
            name = word[1:] if word[:1] in "+-" else word
            if word.startswith("-"):
                words.pop(name, None)
            else:
                words[name] = None
        labels = write_labels(directory, " ".join(words), labels.note)
    echo(f"{directory.name}: {', '.join(labels.tags) or 'no tags'}")


def note(
    run: Annotated[str, _RUN],
    text: Annotated[
        str | None,
        typer.Argument(metavar="[TEXT]", help='The note; "" removes it (default: print the note).'),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Replace the note on a run, or print it.

    The page of strider serve shows and finds notes. strider prune keeps runs with a note.
    """
    from strider.store.labels import read_labels, write_labels

    directory = _directory(store, run)
    labels = read_labels(directory)
    if text is not None:
        labels = write_labels(directory, " ".join(labels.tags), text)
    echo(labels.note or f"{directory.name}: no note")


def _directory(store: Path | None, run: str) -> Path:
    from strider.listing.names import store_of
    from strider.store import resolve

    return resolve(store_of(store), run).absolute()
