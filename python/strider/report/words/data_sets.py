"""The sentences on the data sets of a run."""

from __future__ import annotations

from strider.report.words.wording import shown_time
from strider.store.data_sets import SetOfRun

_NOT_WHOLE = "the phase that wrote it did not end"


def set_sentence(one: SetOfRun) -> str:
    """Returns sentences on a run's use of a data set, and on the data after it."""
    content = one.left.in_words
    match one.action:
        case "made":
            done = f"made by this run; left: {content}"
        case "updated":
            done = f"rewritten by this run, which found generation {one.found.generation}; left: {content}"
        case "read":
            by = f", written by run {one.run} at {shown_time(one.at)}" if one.run else ""
            done = f"read, not changed: {content}{by}"
        case _:
            done = "no case that uses it was reached"
    return f"{one.title}: {done}."


def is_left_incomplete(one: SetOfRun) -> bool:
    """Returns whether the last phase that wrote a set in a run did not end."""
    return one.left.generation > 0 and not one.left.is_whole


def remedy_sentence(one: SetOfRun) -> str:
    """Returns what mends a data set that a run left incomplete."""
    if one.is_kept:
        return f"{one.title} are incomplete: {_NOT_WHOLE}. Write them again, or remove them."
    return (
        f"Data set {one.name} is incomplete: {_NOT_WHOLE}. strider data list shows its state; a rewrite "
        "completes an update, and strider data remove removes the set."
    )
