"""Data sets as rows: of a target, and those that a run finds before its first case."""

from collections.abc import Sequence
from pathlib import Path

from strider.datasets.binding import names_of
from strider.datasets.folder import find, names_in
from strider.datasets.marker import Marker, is_name
from strider.engine import Json
from strider.errors import StriderError
from strider.suite import PlannedCase
from strider.text_file import MOST_DOCUMENT_BYTES, json_of, read_regular


def row(marker: Marker) -> dict[str, Json]:
    """Returns a data set as a row of a list."""
    written = marker.written or marker.made
    return {
        "name": marker.name,
        "state": marker.state,
        "active": marker.writer.active() if marker.writer else "",
        "files": marker.file_count,
        "bytes": marker.total_bytes,
        "dense": marker.is_dense,
        "generation": marker.generation,
        "format": marker.file_format or "plain",
        "clients": marker.case.get("clients"),
        "pattern": (marker.case.get("pattern") or {}).get("name"),
        "tree": marker.tree.shape.name if marker.tree else None,
        "directories": marker.tree.directory_count if marker.tree else 0,
        "owner": marker.owner.user,
        "host": marker.owner.host,
        "run": written.run,
        "at": written.at,
    }


def rows(target: Path, above: int | None = None) -> list[dict[str, Json]]:
    """Returns the data sets of a target, by name; one with a damaged marker has the state `unreadable`.

    Args:
        target: The target.
        above: Its descriptor, to be used instead of its path.

    Raises:
        StriderError: The target cannot be read.
    """
    found: list[dict[str, Json]] = []
    for name in names_in(target, above):
        try:
            marker = find(target, name, above)
        except StriderError as error:
            found.append({"name": name, "state": "unreadable", "reason": error.message})
            continue
        if marker is not None:
            found.append(row(marker))
    return found


def found_before(cases: Sequence[PlannedCase], target: Path) -> dict[str, Json]:
    """Returns the data sets of some cases that are in the target, as rows by name."""
    markers = {name: find(target, name) for name in names_of(cases)}
    return {name: row(marker) for name, marker in markers.items() if marker is not None}


def state_now(target: Path, name: str, generation: int) -> str:
    """Returns the present state of a data set that a run left, in words.

    Args:
        target: The directory that had it.
        name: Its name.
        generation: The generation that the run left; 0 if it left none.
    """
    try:
        marker = find(target, name)
    except StriderError as error:
        return f"unreadable ({error.message})"
    if marker is None:
        return f"not in {target}"
    if marker.state != "complete":
        return f"in state {marker.state} in {target}"
    if marker.generation != generation:
        run = (marker.written or marker.made).run
        return f"in {target} with other data: generation {marker.generation}, written by run {run}"
    return f"in {target}, complete"


def left_by(run: Path) -> list[tuple[str, Path]]:
    """Returns name and target of the data sets that a run wrote last, and that are still there.

    Args:
        run: The run directory; of a damaged one, none are known.
    """
    try:
        info = json_of(read_regular(run / "run.json", MOST_DOCUMENT_BYTES))
        target = Path(info["directory"])
        cases = json_of(read_regular(run / "plan.json", MOST_DOCUMENT_BYTES))["cases"]
        names = dict.fromkeys(str(case["dataset"]) for case in cases if case.get("dataset"))
        return [(name, target) for name in names if is_name(name) and _writer(target, name) == info["run"]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []


def _writer(target: Path, name: str) -> str:
    """Returns the run that wrote a data set last; empty if it is not there or unreadable."""
    try:
        marker = find(target, name)
    except StriderError:
        return ""
    return (marker.written or marker.made).run if marker else ""
