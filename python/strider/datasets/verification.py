"""Verifies a data set: its files by name and size, and the plan by which the engine reads every byte."""

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from strider.datasets.binding import MANIFEST
from strider.datasets.folder import opened
from strider.datasets.marker import Marker
from strider.datasets.trees import KeptTree
from strider.datasets.walk import problems_of
from strider.engine import Json
from strider.errors import StriderError
from strider.suite import Suite
from strider.suite.vocabulary import Vocabulary, Workload
from strider.text import shortened
from strider.units import MIB, format_bytes


@dataclass(frozen=True)
class Findings:
    """Findings in the folder of a data set.

    Attributes:
        marker: The marker.
        problems: The problems, a line each.
        groups: Files that can be read, as first number, count and bytes of each; of trees none.
    """

    marker: Marker
    problems: list[str]
    groups: list[tuple[int, int, int]]

    @property
    def is_readable(self) -> bool:
        """Whether there are files with data that can be compared."""
        if self.marker.tree:
            population = self.marker.tree.population
            return self.marker.state == "complete" and bool(
                population.written_bytes and self.marker.total_bytes
            )
        return self.marker.state in ("complete", "updating") and bool(self.groups)

    @property
    def needs_reading(self) -> bool:
        """Whether names and sizes alone do not show that the set is right."""
        return self.is_readable or self.marker.tree is None


def examine(target: Path, name: str) -> Findings:
    """Compares the folder of a data set with its marker.

    Raises:
        StriderError: There is no such set, its marker is damaged, or a process is changing it.
    """
    with opened(target, name) as folder:
        marker = folder.read()
        entries = folder.entries()
        differences = problems_of(folder, marker, marker.tree) if marker.tree else []
    active = marker.writer.active() if marker.writer and marker.writer.is_here else ""
    if active:
        raise StriderError(f"{folder.path} is in state {marker.state} {active}: wait for its end")
    problems = [*_state(marker)]
    if marker.tree:
        foreign = [
            f"{folder.path / name}: not a tree of the data set" for name in entries if not marker.has(name)
        ]
        is_certain = marker.state == "complete"
        return Findings(marker, [*problems, *(differences if is_certain else []), *foreign], [])
    groups: list[tuple[int, int, int]] = []
    for number, (file, size) in enumerate(marker.sizes().items()):
        found = entries.pop(file, None)
        path = folder.path / file
        if found is None:
            problems.append(f"{path}: missing ({format_bytes(size)})")
            continue
        if not stat.S_ISREG(found.st_mode):
            problems.append(f"{path}: not a regular file")
            continue
        is_right = bool(marker.file_format) or found.st_size == size
        if not is_right:
            problems.append(f"{path}: {found.st_size} bytes, {size} were written")
        groups.append((number, 1 if is_right else 0, size))
    problems += [f"{folder.path / file}: not a file of the data set" for file in entries]
    return Findings(marker, problems, _joined(groups))


def _state(marker: Marker) -> list[str]:
    by = marker.writer.run if marker.writer else "a process"
    match marker.state:
        case "making":
            return [f"{marker.name} was never completed: {by} ended while it made the set"]
        case "updating":
            return [
                f"{marker.name}: {by} ended while it replaced generation {marker.generation}: the files may "
                f"hold data of generations {marker.generation} to {marker.last_generation}"
            ]
        case "removing":
            return [f"{marker.name} is half removed: complete it with strider data remove {marker.name}"]
    return []


def _joined(files: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Joins neighbours of one size; a file of a wrong size (count 0) stays alone, as its read may fail."""
    groups: list[tuple[int, int, int]] = []
    for number, count, size in files:
        if count and groups and groups[-1][1] and groups[-1][2] == size and sum(groups[-1][:2]) == number:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1, size)
        else:
            groups.append((number, count, size))
    return [(first, max(count, 1), size) for first, count, size in groups]


@dataclass(frozen=True)
class Reading:
    """A case that reads some files of a set.

    Attributes:
        first: Number of the first file.
        files: Number of files.
        bytes: Bytes of each file.
        clients: Number of clients.
    """

    first: int
    files: int
    bytes: int
    clients: int

    def table(self, name: str, interface: str) -> dict[str, Json]:
        """Returns the `[[case]]`."""
        sharing: Json = {self.clients: "per-rank", 1: "shared"}.get(self.files, self.files)
        return {
            "name": f"files from {self.first}",
            "dataset": name,
            "interface": interface,
            "clients": self.clients,
            "sharing": sharing,
            "pattern": "sequential",
            "size": self.bytes,
            "transfer": min(self.bytes, 4 * MIB),
            **_READS,
        }


_READS: dict[str, Json] = {"operations": ["read"], "verify": "full", "repetitions": 1}


def readings(findings: Findings, clients: int) -> list[Reading]:
    """Returns the cases that together read every byte once.

    Args:
        findings: The files.
        clients: Number of clients.
    """
    found = []
    for first, count, size in findings.groups:
        if size == 0:
            continue
        at = first
        while at < first + count:
            files = min(clients, first + count - at)
            # Full rows of files have a client each; the clients share the files of the last row.
            found.append(Reading(at, files, size, clients))
            at += files
    return found


def suite_text(findings: Findings, target: Path, interface: str, clients: int, vocabulary: Vocabulary) -> str:
    """Returns a suite that reads every byte of a data set.

    Args:
        findings: The data set.
        target: Its directory.
        interface: The interface that reads.
        clients: Number of clients; a set of trees is read by those that made it.
        vocabulary: The keys of a suite. The marker may be another user's: of its words none but these become
            keys, and none replaces a key of this function.

    Raises:
        StriderError: The set was written only in part, and the number of clients is another; or the marker
            names a pattern, tree or parameter that does not exist.
    """
    import tomlkit
    from tomlkit.exceptions import ConvertError

    marker = findings.marker
    if marker.tree:
        cases = [_tree_case(marker, marker.tree, interface, vocabulary)]
    elif marker.is_dense:
        cases = [one.table(marker.name, interface) for one in readings(findings, clients)]
    else:
        cases = [_as_written(marker, interface, clients, vocabulary)]
    head = {"name": f"verify-{marker.name}", "target": str(target), "interleave": "none"}
    try:
        return tomlkit.dumps({"suite": head, "case": cases})
    except ConvertError as error:
        raise _damaged(marker, "a value of its case is none of a suite") from error


def _tree_case(marker: Marker, tree: KeptTree, interface: str, vocabulary: Vocabulary) -> dict[str, Json]:
    """Returns a case that reads all files of the trees of a set, by the ranks that made them."""
    shape = tree.shape.model_dump(exclude={"name"})
    order: dict[str, Json] = {key: marker.case[key] for key in ("order", "seed") if key in marker.case}
    return {
        **_known(shape, tree.shape.name, vocabulary.metadata, marker),
        **order,
        "file_size": tree.population.file_bytes,
        "sharing": tree.sharing,
        "dataset": marker.name,
        "interface": interface,
        "clients": tree.clients,
        "tree": tree.shape.name,
        **_READS,
        "operations": ["small-read"],
    }


def _as_written(marker: Marker, interface: str, clients: int, vocabulary: Vocabulary) -> dict[str, Json]:
    """Returns a case with the pattern of the writer."""
    case = marker.case
    if case.get("clients") != clients:
        raise StriderError(
            f"not every byte of data set {marker.name} was written, so only the pattern and clients of its "
            f"writer can read it: add -n {shortened(str(case.get('clients')))}"
        )
    try:
        pattern = dict(case["pattern"])
        name = str(pattern.pop("name"))
        own = {key: case[key] for key in ("sharing", "order", "seed")}
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(marker, "its case has no pattern, sharing, order or seed") from error
    return {
        **_known(pattern, name, vocabulary.data, marker),
        **own,
        "dataset": marker.name,
        "interface": interface,
        "clients": clients,
        "pattern": name,
        **_READS,
    }


def _known(values: Mapping[str, Json], shape: str, workload: Workload, marker: Marker) -> dict[str, Json]:
    """Returns the parameters of a pattern or tree.

    Raises:
        StriderError: There is no such pattern or tree, or it has no such parameter.
    """
    if shape not in workload.shapes:
        raise _damaged(marker, f'there is no {workload.key} "{shortened(shape)}"')
    for key in values:
        if workload.shape_parameter(shape, key) is None:
            raise _damaged(marker, f'{workload.key} {shape} has no parameter "{shortened(key)}"')
    return dict(values)


def _damaged(marker: Marker, why: str) -> StriderError:
    return StriderError(
        f"data set {marker.name} cannot be read: {why}: its marker is damaged, or of a newer Strider"
    )


def reading_whole_files(suite: Suite, findings: Findings, clients: int) -> Suite:
    """Returns the suite of `suite_text` with the files that each case reads from end to end."""
    if findings.marker.tree or not findings.marker.is_dense:
        return suite
    cases = []
    for case, one in zip(suite.plan.cases, readings(findings, clients), strict=True):
        # An update that did not end may have left data of any generation up to the last one.
        manifest: dict[str, Json] = {
            **(case.get(MANIFEST) or {}),
            "first_file": one.first,
            "whole": True,
            "incomplete": False,
            "generation": findings.marker.last_generation,
        }
        cases.append(case.model_copy(update={MANIFEST: manifest}))
    return replace(suite, plan=suite.plan.model_copy(update={"cases": cases}))
