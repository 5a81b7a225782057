"""Data sets for the pages: listed, removed and looked up below the directories that the page may use."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from strider import datasets
from strider.datasets import is_name, state_now
from strider.engine import Json
from strider.errors import StriderError
from strider.launch import check_target, open_target
from strider.launch.job_limits import processors
from strider.store.data_sets import KEY, SetOfRun, sets_of
from strider.store.load import load, load_info, load_plan
from strider.store.starts import spans
from strider.units import format_bytes, format_ranges, format_seconds
from strider.web.site import Site, confined_target

MOST_READERS = 4
"""Clients that verify a data set; more do not read faster through one mount."""
MOST_ROWS = 500
"""Rows of a list or table on a page."""


@dataclass(frozen=True)
class Listed:
    """The data sets of a directory.

    Attributes:
        directory: The directory, resolved.
        rows: At most `MOST_ROWS` sets, as `strider data list --json` has them, with `size`, `age` and `when`.
        count: Number of all.
    """

    directory: str
    rows: list[dict[str, Json]]
    count: int


def listed(directory: str, site: Site) -> Listed:
    """The data sets of a directory.

    Raises:
        StriderError: It is not permitted, or cannot be read.
    """
    with _opened(directory, site) as (target, above):
        found = datasets.rows(target, above)
    return Listed(str(target), [_shown(row) for row in found[:MOST_ROWS]], len(found))


def removed(directory: str, name: str, site: Site) -> dict[str, Json]:
    """Removes a data set as `strider data remove` does, without `--force`.

    Returns:
        The number of `files` removed, in trees of all entries (`is_tree`), and the `kept` ones, with reasons.

    Raises:
        StriderError: It is not permitted, not there, or in use.
    """
    require_name(name)
    with _opened(directory, site) as (target, above):
        found = datasets.remove(target, name, above=above)
    return {"files": found.files, "is_tree": found.is_tree, "kept": found.kept}


def require_name(name: str) -> None:
    """Refuses what cannot be the name of a data set.

    Raises:
        StriderError: It has other characters than names have.
    """
    if not is_name(name):
        raise StriderError(f"{name[:80]!r} is not the name of a data set")


def readers_of(directory: str, name: str, site: Site) -> int:
    """The number of clients that can verify a data set: those of its writer, if it has gaps.

    Raises:
        StriderError: It is not permitted, not there, or unreadable.
    """
    require_name(name)
    with _opened(directory, site) as (target, above):
        marker = datasets.find(target, name, above)
    if marker is None:
        raise StriderError(f"{target} has no data set {name}")
    writers = int(marker.case.get("clients") or 1)
    return min(MOST_READERS, processors()) if marker.is_dense else writers


@contextmanager
def _opened(directory: str, site: Site) -> Iterator[tuple[Path, int]]:
    """The path of a permitted directory and its descriptor, which no link put into the path can redirect."""
    target = confined_target(directory, site.allowed)
    check_target(str(target))
    above = open_target(target, site.allowed)
    try:
        yield target, above
    finally:
        os.close(above)


def _shown(row: dict[str, Json]) -> dict[str, Json]:
    if row["state"] == "unreadable":
        return {**row, "size": "", "when": "", "age": ""}
    return {
        **row,
        "size": format_bytes(row["bytes"]),
        "shape": row["pattern"] or (f"tree {row['tree']}" if row["tree"] else ""),
        "when": str(row["at"])[:16].replace("T", " "),
        "age": _age(str(row["at"])),
    }


def _age(at: str) -> str:
    try:
        seconds = (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    except (ValueError, TypeError):
        return ""
    return format_seconds(max(0.0, seconds))


def history(directory: Path, site: Site) -> dict[str, Json]:
    """The starts and the data sets of a run for its page; both are empty for most runs.

    Raises:
        StriderError: The run is damaged.
    """
    uses_sets = any((case.model_extra or {}).get(KEY) for case in load_plan(directory).cases)
    if not uses_sets and not load_info(directory).resumed:
        return {"starts": [], "sets": [], "steps": []}
    run = load(directory)
    sets = sets_of(run)
    steps = sorted((step for one in sets for step in one.steps), key=lambda step: step.position)
    return {
        "starts": [
            {
                "number": span.number,
                "began": span.began[:19].replace("T", " "),
                "took": format_seconds(span.elapsed_s) if span.elapsed_s >= 0 else "",
                "end": span.end,
                "pause": format_seconds(span.pause_s) if span.pause_s >= 0 else "",
                "repetitions": span.repetitions,
                "cases": format_ranges(span.cases),
            }
            for span in (spans(run) if run.cuts else [])
        ][-MOST_ROWS:],
        "sets": [_set(one, site) for one in sets],
        "steps": [
            {
                "set": step.name,
                "case": f"case {step.case.number}: {step.case.interface_name}, {step.case.in_words}",
                "operations": ", ".join(step.case.operations),
                "action": step.action,
                "found": step.found.in_words,
                "left": step.left.in_words,
            }
            for step in steps[:MOST_ROWS]
        ],
    }


def _set(one: SetOfRun, site: Site) -> dict[str, Json]:
    target = Path(one.path).parent
    try:
        confined_target(str(target), site.allowed)
        now = "" if one.is_kept else state_now(target, one.name, one.left.generation)
    except StriderError:
        now = f"in {target}, which this page may not read"
    return {"title": one.title, "action": one.action, "did": _did(one), "target": str(target), "now": now}


def _did(one: SetOfRun) -> str:
    """The use of a data set by a run, in a sentence without its end."""
    match one.action:
        case "made":
            return f"made by this run, left {one.left.in_words}"
        case "updated":
            return f"rewritten by this run, found generation {one.found.generation}, left {one.left.in_words}"
        case "read":
            return f"read, not changed: {one.left.in_words}{f', written by run {one.run}' if one.run else ''}"
        case _:
            return "no case that uses it was reached"
