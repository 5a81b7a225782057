"""Content of data sets before and after the cases of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from strider.store.case import KEPT, Case
from strider.store.load import load_events
from strider.store.model import DataSetEvent, Run
from strider.units import format_bytes

KEY = "dataset"
Action = Literal["made", "updated", "read", "not reached"]


@dataclass(frozen=True)
class Content:
    """The content of a data set at one time.

    Attributes:
        generation: Number of the generation; 0 if there is no set.
        files: Number of files.
        bytes: Their bytes.
        is_whole: Whether the phase that wrote it was complete.
    """

    generation: int
    files: int = 0
    bytes: int = 0
    is_whole: bool = True

    @property
    def in_words(self) -> str:
        """`generation 2: 4 MiB in 4 files`, or `no set`."""
        if not self.generation:
            return "no set"
        if not self.is_whole:
            return f"generation {self.generation}, incomplete"
        if not self.files:
            return f"generation {self.generation}: no files"
        files = "1 file" if self.files == 1 else f"{self.files} files"
        return f"generation {self.generation}: {format_bytes(self.bytes)} in {files}"


@dataclass(frozen=True)
class Step:
    """A case that uses a data set.

    Attributes:
        case: The case.
        name: Name of the set.
        action: Action of the case.
        found: Content before the case.
        left: Content after the case.
        first_s: When it first used the set, seconds since the start of the run; infinite if it never did.
    """

    case: Case
    name: str
    action: Action
    found: Content
    left: Content
    first_s: float

    @property
    def position(self) -> tuple[float, int]:
        """Sorts steps in the order of execution, and those that were not reached as in the plan."""
        return self.first_s, self.case.number


@dataclass(frozen=True)
class SetOfRun:
    """A data set in a run, or files that stay under names of the user.

    Attributes:
        name: Its name; of a user's files, the beginning of their names.
        path: Its folder; of a user's files, the beginning of their paths.
        steps: The cases that use it, in the order of execution.
        run: The run that had written it before this run; empty for a set that this run made.
        at: When, in UTC.
        is_kept: Whether they are files of the user.
    """

    name: str
    path: str
    steps: Sequence[Step]
    run: str = ""
    at: str = ""
    is_kept: bool = False

    @property
    def title(self) -> str:
        """Its name in a sentence."""
        return f"Kept files {self.name}" if self.is_kept else f"Data set {self.name}"

    @property
    def found(self) -> Content:
        """Its content before the run."""
        return self.steps[0].found

    @property
    def left(self) -> Content:
        """Its content after the run."""
        return self.steps[-1].left

    @property
    def action(self) -> Action:
        """The action of the run: the first of made, updated and read that holds."""
        done = {step.action for step in self.steps}
        actions: tuple[Action, ...] = ("made", "updated", "read")
        return next((one for one in actions if one in done), "not reached")


def sets_of(run: Run) -> list[SetOfRun]:
    """Returns the data sets of a run in the order of their first use."""
    users = {number: _place(run, case) for number, case in run.cases.items() if _name(case)}
    if not users:
        return []
    events = load_events(run.directory, DataSetEvent)
    first_s = _first_uses(run, events)
    order = sorted(users, key=lambda number: (first_s[number], number))
    groups: dict[str, list[int]] = {}
    for number in order:
        groups.setdefault(users[number], []).append(number)
    return [_set(run, path, numbers, events, first_s) for path, numbers in groups.items()]


def is_program(run: Run) -> bool:
    """Returns whether the cases of a run work one after the other on data sets."""
    return run.plan.interleave == "none" and sum(bool(_name(case)) for case in run.cases.values()) > 1


def _name(case: Case) -> str:
    """Returns the name of a case's set; empty if it has none, or files of the user that go after the case."""
    name = str((case.model_extra or {}).get(KEY) or "")
    return "" if name.startswith(KEPT) and _kept(case).get("keeps") != "always" else name


def _kept(case: Case) -> dict[str, Any]:
    """Returns the plan's information on files under names of the user."""
    found: dict[str, Any] = ((case.model_extra or {}).get("manifest") or {}).get("kept") or {}
    return found


def _first_uses(run: Run, events: Sequence[DataSetEvent]) -> dict[int, float]:
    """Returns when each case first used its set, seconds since the start of the run; infinite if never."""
    found = dict.fromkeys(run.cases, math.inf)
    uses = [(sample.case, sample.start_s) for sample in run.samples]
    for case, time_s in [*uses, *((event.case, event.time_s) for event in events)]:
        found[case] = min(found.get(case, math.inf), time_s)
    return found


def _place(run: Run, case: Case) -> str:
    """Returns the folder of a case's set; a run with several targets may have several of one name."""
    target, name = (case.model_extra or {}).get("target") or run.info.directory, _name(case)
    return (
        f"{target}/{_kept(case).get('base', '')}"
        if name.startswith(KEPT)
        else f"{target}/strider-data-{name}"
    )


def _set(
    run: Run,
    path: str,
    numbers: Sequence[int],
    events: Sequence[DataSetEvent],
    first_s: Mapping[int, float],
) -> SetOfRun:
    own = [event for event in events if event.case in numbers]
    before = _planned(run.cases[numbers[0]])
    steps = [_step(run.cases[number], own, before, first_s[number]) for number in numbers]
    name = _name(run.cases[numbers[0]])
    known = run.info.data_sets.get(name)
    is_kept = name.startswith(KEPT)
    shown = str(_kept(run.cases[numbers[0]]).get("base", "")) if is_kept else name
    return SetOfRun(shown, path, steps, known.run if known else "", known.at if known else "", is_kept)


def _step(case: Case, events: Sequence[DataSetEvent], before: Content, first_s: float) -> Step:
    """Returns the action of a case.

    Args:
        case: The case.
        events: Those of its set, in the order of the file.
        before: The content before the run.
        first_s: When the case first used the set.
    """
    earlier = [event for event in events if event.time_s < first_s]
    found = _content(earlier, before)
    left = _content([*earlier, *(event for event in events if event.case == case.number)], before)
    action: Action = _action(found, left) if math.isfinite(first_s) else "not reached"
    return Step(case, _name(case), action, found, left, first_s)


def _action(found: Content, left: Content) -> Action:
    if left == found:
        return "read"
    return "updated" if found.generation else "made"


def _planned(case: Case) -> Content:
    """Returns the content before the run, from the manifest in the plan."""
    manifest: dict[str, Any] = (case.model_extra or {}).get("manifest") or {}
    files = manifest.get("files") or []
    if tree := manifest.get("tree"):
        files = [[case.clients * int(tree.get("files") or 0), int(tree.get("file_bytes") or 0)]]
    generation = int(manifest.get("generation") or 0)
    is_whole = not manifest.get("incomplete")
    return Content(generation, _count(files), _bytes(files), is_whole) if generation else Content(0)


def _content(events: Sequence[DataSetEvent], before: Content) -> Content:
    """Returns the content after some events of a set, in the order of the file."""
    if not events:
        return before
    last = events[-1]
    return Content(last.generation, _count(last.files), _bytes(last.files), last.state == "written")


def _count(files: Sequence[Sequence[int]]) -> int:
    return sum(int(count) for count, _ in files)


def _bytes(files: Sequence[Sequence[int]]) -> int:
    return sum(int(count) * int(size) for count, size in files)
