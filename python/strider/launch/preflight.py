"""Checks before a run: target, free space and inodes, memory. Each finding has a remedy."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from strider.datasets import keeping
from strider.engine import CheckedCase, Description
from strider.errors import StriderError
from strider.launch import rundir
from strider.launch.inputs import RunInputs
from strider.launch.job_limits import Memory, memory
from strider.launch.launchers import Launcher
from strider.launch.launchers.allocation import allocation
from strider.launch.machine import Space, space_of
from strider.launch.nodes import Room, require_nodes
from strider.listio import MOUNT
from strider.metadata import MAKING
from strider.suite import CheckedPlan, PlannedCase, turns
from strider.text import shortened
from strider.units import MIB, format_bytes_rounded, format_seconds, grouped

SPARE_BYTES = 16 * MIB
"""Space reserved beside the test files, for directories and the file system itself."""
SPARE_FILES = 16
_FILLING = MAKING | {"write"}
"""First operations of cases that prepare nothing, as a preparation has no deadline."""
RANK_FILES = 64
"""Descriptors of a rank, for MPI and the program."""
RANK_FILE_BYTES = 16 * MIB
"""Size of the shared memory of MPI, which counts as a file."""
RANK_BYTES = 64 * MIB
"""Memory of a rank in bytes in addition to its buffer, for MPI and the program."""

_BY_MPI = ("mpiio", "hdf5", "pnetcdf")
"""Interfaces that open files by `MPI_File_open`."""
_Needing = tuple[PlannedCase, CheckedCase]
"""A case and its requirements."""


@dataclass(frozen=True)
class Finding:
    """The result of a check.

    Attributes:
        severity: `error` prevents the run, `note` is a warning about its results.
        message: The problem.
        remedy: How to resolve it.
    """

    severity: Literal["error", "note"]
    message: str
    remedy: str


def check_target(target: str) -> Path:
    """Returns the absolute path of the target directory.

    Raises:
        StriderError: It does not exist, is not a directory, or is not writable.
    """
    try:
        path = Path(target).expanduser().absolute()
    except RuntimeError as error:
        raise StriderError(f"target {shortened(target)}: unknown user: write the full path") from error
    try:
        path.lstat()
    except FileNotFoundError as error:
        raise StriderError(f"{path} does not exist: create it with mkdir -p {path}") from error
    except OSError as error:
        # A path that is too long, or contains a component that is not a directory.
        raise StriderError(
            f"target {shortened(str(path))}: {error.strerror}: name the directory to measure"
        ) from error
    if not path.is_dir():
        raise StriderError(f"{path} is not a directory: name the directory to measure")
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        raise StriderError(f"{path} is mounted read-only: choose another directory")
    if not os.access(path, os.W_OK | os.X_OK):
        raise StriderError(
            f"no permission to write to {path} (user id {os.geteuid()}): choose a directory that you can "
            "write to"
        )
    return path


def preflight(plan: CheckedPlan, description: Description, target: Path, launcher: Launcher) -> list[Finding]:
    """Returns errors and warnings about running a plan on a target."""
    ram, space = memory(), space_of(target)
    storing = {
        interface.name for interface in description.interfaces if interface.capabilities.get("storage", True)
    }
    on_storage = [(case, needs) for case, needs in plan.cases if case.interface["name"] in storing]
    new = [pair for pair in _making_files(plan) if pair[0].interface["name"] in storing]
    ending = [pair for pair in new if _ends_by_deadline(pair[0])]
    bounded = _at_once([pair for pair in new if not _ends_by_deadline(pair[0])])
    return [
        *_interfaces(plan, description),
        *_colons(plan, target),
        *_mounts(plan, launcher),
        *_space(bounded, space, target),
        *_space_until_deadline(ending, space, target),
        *_files(bounded, space, target),
        *_memory(plan, ram, launcher),
        *_cache(on_storage, ram),
    ]


def node_needs(
    plan: CheckedPlan, launcher: Launcher, description: Description, store: Path | None = None
) -> Room:
    """Returns the requirements of a run on each node.

    Args:
        plan: The plan: the space of its largest case, memory of the ranks, interfaces and lists.
        launcher: The launcher.
        description: The engine's patterns and their parameters.
        store: A file in the store, which the first rank needs.
    """
    bounded = _at_once([pair for pair in _making_files(plan) if not _ends_by_deadline(pair[0])])
    space_bytes = max((needs.space_bytes for _, needs in bounded), default=0)
    largest = max((needs.space_bytes // max(1, _inodes(needs)) for _, needs in bounded), default=0)
    total = plan.suite.plan.ranks
    there = allocation()
    nodes = min(there.nodes, total) if there and launcher.is_srun else total
    ranks = launcher.places.mapping(total).per_node or -(-total // nodes)
    buffers = max(
        sum(needs.memory_bytes * min(case.clients, ranks) for case, needs in turn)
        for turn in turns(plan.cases)
    )
    return Room(
        ranks=total,
        space_bytes=space_bytes + SPARE_BYTES if space_bytes else 0,
        memory_bytes=buffers + ranks * RANK_BYTES,
        interfaces=sorted({str(case.interface["name"]) for case, _ in plan.cases}),
        files=_lists(plan, description),
        store=str(store or ""),
        open_files=RANK_FILES,
        file_bytes=max(RANK_FILE_BYTES, largest),
    )


def ask_nodes(inputs: RunInputs, target: Path, own: Path, note: Callable[[str], None]) -> None:
    """Checks the requirements of a run on its nodes, the store included.

    Raises:
        StriderError: A node cannot take part.
    """
    launcher, engine = inputs.launcher, inputs.engine
    if launcher.reach == "this host":
        return
    with rundir.mark_of(inputs.store) as mark:
        needs = node_needs(inputs.checked, launcher, engine.description, mark)
        require_nodes(launcher, engine, target, own, needs, note)


def _lists(plan: CheckedPlan, description: Description) -> list[str]:
    """Returns the files that patterns of a plan are read from."""
    keys = {
        pattern.name: [parameter.name for parameter in pattern.parameters if parameter.kind == "file"]
        for pattern in description.patterns
    }
    found = {
        str(case.pattern[key])
        for case, _ in plan.cases
        for key in keys.get(str(case.pattern.get("name", "")), [])
        if case.pattern.get(key)
    }
    return sorted(found)


def _making_files(plan: CheckedPlan) -> list[_Needing]:
    """Returns the cases that do not work on files that are there before the run."""
    existing = keeping(plan)
    return [pair for pair in plan.cases if not existing.get(pair[0].case)]


def raise_errors(findings: list[Finding]) -> None:
    """Raises the errors among the findings as one.

    Raises:
        StriderError: There is at least one.
    """
    errors = [f"{finding.message}: {finding.remedy}" for finding in findings if finding.severity == "error"]
    if errors:
        raise StriderError("\n".join(errors))


def _interfaces(plan: CheckedPlan, description: Description) -> Iterator[Finding]:
    used = {case.interface["name"] for case, _ in plan.cases}
    for interface in description.interfaces:
        if interface.name in used and not interface.available:
            message = f"interface {interface.name} does not work here: {interface.unavailable_reason}"
            yield Finding("error", message, f"remove {interface.name} from the suite, or see strider doctor")


def _colons(plan: CheckedPlan, target: Path) -> Iterator[Finding]:
    """Returns an error if an MPI library would take the beginning of a path for the name of a file system."""
    for case, _ in plan.cases:
        name, file = case.interface["name"], str((case.get("manifest") or {}).get("prefix", ""))
        path = f"{target}/{file}"
        if name in _BY_MPI and not case.interface.get("prefix") and ":" in path:
            message = (
                f"case {case.case}: {shortened(path)} contains a colon, and MPI libraries take what precedes "
                "it for the name of a file system"
            )
            prefix = 'set mpiio.prefix = "ufs:", or ' if name == "mpiio" else ""
            yield Finding("error", message, f"{prefix}use a path without a colon")
            return


def _mounts(plan: CheckedPlan, launcher: Launcher) -> Iterator[Finding]:
    """Returns an error if ranks may be on hosts that lack the mounts of the run."""
    mounted = next((case for case, _ in plan.cases if case.get("mount") == MOUNT), None)
    if mounted is not None and launcher.reach != "this host":
        message = (
            f"case {mounted.case} needs a mount, which exists on this host only, but {launcher.name} can "
            "start ranks on others"
        )
        remedy = (
            "mount the volume on each host with strider listio mount VOLUME DIR, and choose DIR as target "
            'with mount = "none"'
        )
        yield Finding("error", message, remedy)


def _space(cases: list[_Needing], space: Space, target: Path) -> Iterator[Finding]:
    # Each repetition removes its files, so the files of only one turn exist at a time.
    for case, needs in _too_large(cases, space):
        message = (
            f"{target} has {format_bytes_rounded(space.free_bytes)} free, but case {case.case} needs "
            f"{format_bytes_rounded(needs.space_bytes)} plus {format_bytes_rounded(SPARE_BYTES)} reserve"
        )
        yield Finding(
            "error", message, "free space, choose another directory, or reduce the bytes of the case"
        )


def _space_until_deadline(cases: list[_Needing], space: Space, target: Path) -> Iterator[Finding]:
    """Notes the largest case that fills the storage if it writes fast enough."""
    for case, needs in _too_large(cases, space):
        deadline_s = float(case.get("deadline"))
        message = (
            f"{target} has {format_bytes_rounded(space.free_bytes)} free, and case {case.case} writes up to "
            f"{format_bytes_rounded(needs.space_bytes)} until its deadline of {format_seconds(deadline_s)}: "
            f"at more than {format_bytes_rounded(space.free_bytes / deadline_s)}/s it fills the storage and "
            "fails"
        )
        yield Finding("note", message, "reduce the bytes or the deadline of the case")


def _too_large(cases: list[_Needing], space: Space) -> list[_Needing]:
    """Returns the largest case if it does not fit into the free space."""
    largest = sorted(cases, key=lambda pair: -pair[1].space_bytes)[:1]
    return [pair for pair in largest if pair[1].space_bytes + SPARE_BYTES > space.free_bytes]


def _at_once(cases: list[_Needing]) -> list[_Needing]:
    """Returns the cases, those of one turn as one: the first of them, with the files of all."""
    return [(turn[0][0], _sum([needs for _, needs in turn])) for turn in turns(cases)]


def _sum(needs: list[CheckedCase]) -> CheckedCase:
    if len(needs) == 1:
        return needs[0]
    keys = ("files", "inodes", "space_bytes")
    return needs[0].model_copy(update={key: sum(getattr(one, key) for one in needs) for key in keys})


def _ends_by_deadline(case: PlannedCase) -> bool:
    """Whether only a deadline says how much a case writes: it begins with writing, and reserves nothing."""
    reserves = bool(case.interface.get("preallocate"))
    return bool(case.get("deadline")) and case.operations[0] in _FILLING and not reserves


def _files(cases: list[_Needing], space: Space, target: Path) -> Iterator[Finding]:
    case, needs = max(cases, key=lambda pair: _inodes(pair[1]), default=(None, None))
    if case is None or needs is None or space.free_files is None:
        return
    wanted = _inodes(needs) + SPARE_FILES
    if wanted <= space.free_files:
        return
    free, needed = grouped(space.free_files), f"{grouped(_inodes(needs))} plus {SPARE_FILES} reserve"
    if case.tree:
        message = (
            f"{target} has {free} free inodes (files and directories), but case {case.case} needs {needed}"
        )
        remedy = "reduce items, depth, fanout or clients, remove files there, or choose another directory"
    else:
        message = f"{target} has {free} free inodes, but case {case.case} needs {needed} files"
        remedy = "remove files there, or choose another directory"
    yield Finding("error", message, remedy)


def _inodes(needs: CheckedCase) -> int:
    """Returns the number of files at a time; for metadata, including directories."""
    return max(needs.inodes, needs.files)


def _memory(plan: CheckedPlan, ram: Memory, launcher: Launcher) -> Iterator[Finding]:
    case, needs = max(plan.cases, key=lambda pair: pair[1].memory_bytes * pair[0].clients)
    buffers = needs.memory_bytes * case.clients
    ranks = plan.suite.plan.ranks
    if not ram.available_bytes or buffers + ranks * RANK_BYTES <= ram.available_bytes:
        return
    message = (
        f"{format_bytes_rounded(ram.available_bytes)} of memory are available here, but {ranks} ranks "
        f"need {format_bytes_rounded(buffers + ranks * RANK_BYTES)} (case {case.case}: buffers of "
        f"{format_bytes_rounded(needs.memory_bytes)} for each of {case.clients} clients)"
    )
    if launcher.reach == "this host":
        yield Finding("error", message, "reduce transfer or clients")
    else:
        yield Finding("note", message, "check that the memory of each node is sufficient for its ranks")


def _cache(cases: list[_Needing], ram: Memory) -> Iterator[Finding]:
    """Returns a note if files are smaller than memory, so that reads may not reach storage."""
    cached = [
        (case, needs.space_bytes)
        for case, needs in cases
        if not case.tree
        and needs.space_bytes < ram.total_bytes
        and not case.interface.get("direct")
        and case.get("cache") != "cold"
        and any("read" in operation for operation in case.operations)
    ]
    if cached:
        most = max(space_bytes for _, space_bytes in cached)
        message = (
            f"files of at most {format_bytes_rounded(most)} fit into memory "
            f"({format_bytes_rounded(ram.total_bytes)}), so the cache may serve reads instead of storage"
        )
        yield Finding("note", message, _past_the_cache([case for case, _ in cached]))


def _past_the_cache(cases: Sequence[PlannedCase]) -> str:
    """Returns the settings that these interfaces accept; cold files and a runtime exclude each other."""
    names = dict.fromkeys(str(case.interface["name"]) for case in cases if "direct" in case.interface)
    ways = [
        *(['cache = "cold"'] if not any(case.get("runtime") for case in cases) else []),
        *(f"{name}.direct = true" for name in names),
    ]
    sets = f"set {' or '.join(ways)}, or " if ways else ""
    return f"to measure storage alone, {sets}use larger files"
