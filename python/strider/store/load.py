"""A run directory read back into types."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from strider.errors import DamagedRunError, StriderError
from strider.store.case import Case
from strider.store.checked_events import EVENT_TYPES, checked, invalid
from strider.store.described import Description, by_name, older_description
from strider.store.events import FILE_CHECK, read_events, read_last_event, require_version, typed_events
from strider.store.model import (
    CeilingReport,
    Cut,
    End,
    ErrorRow,
    Plan,
    Run,
    RunInfo,
    Sample,
    Start,
)
from strider.text import printable_json
from strider.text_file import MOST_DOCUMENT_BYTES, json_of, read_regular

PLAN_VERSION = 1
RUN_VERSION = 1
DESCRIPTION_VERSION = 1

#: Facts of a case from the engine's check.
_CHECKED = ("request_bytes", "own_client")
_Model = TypeVar("_Model", bound=BaseModel)


def load(run_dir: Path) -> Run:
    """Reads a run directory, also one of a run that was killed or is active.

    Args:
        run_dir: The run's directory, with `run.json`, `plan.json` and, once the engine started,
            `events.jsonl`.

    Raises:
        StriderError: It is no run directory, is damaged, or has a version that this Strider does not know.
    """
    info, plan = load_info(run_dir), load_plan(run_dir)
    description = load_description(run_dir)
    _require_values(run_dir / "plan.json", plan.cases, description)
    ignored: list[int] = []
    kinds = (Start, Sample, CeilingReport, ErrorRow, Cut, End)
    events = _read_typed_events(run_dir / "events.jsonl", kinds, ignored.append)
    errors = [event for event in events if isinstance(event, ErrorRow)]
    return Run(
        directory=run_dir,
        info=info,
        plan=plan,
        start=next((event for event in events if isinstance(event, Start)), None),
        starts=[event for event in events if isinstance(event, Start)],
        cases=described_cases(plan, info, description),
        samples=_judged(_samples(events), errors),
        errors=errors,
        ceilings=_ceilings(events),
        cuts=[event for event in events if isinstance(event, Cut)],
        end=next((event for event in reversed(events) if isinstance(event, End)), None),
        ignored_events=sum(ignored),
    )


def _ceilings(events: Sequence[BaseModel]) -> list[CeilingReport]:
    """Ceilings with the start of the run in which they were measured."""
    found = _with_start(events, CeilingReport)
    return [report.model_copy(update={"start": start}) for start, report in found]


def _samples(events: Sequence[BaseModel]) -> list[Sample]:
    """Samples with the start of the run in which they were measured."""
    found = _with_start(events, Sample)
    return [
        sample if start == sample.start else sample.model_copy(update={"start": start})
        for start, sample in found
    ]


def _with_start(events: Sequence[BaseModel], kind: type[_Model]) -> Iterator[tuple[int, _Model]]:
    """The events of a kind, each with the start of the run in which they happened, from 1."""
    starts = 0
    for event in events:
        starts += isinstance(event, Start)
        if isinstance(event, kind):
            yield max(1, starts), event


def _require_values(path: Path, cases: Sequence[Case], description: Description) -> None:
    """Refuses parameters with values that their kind does not have."""
    of_owner = cache(description.of)
    of_cases = {False: by_name(description.case), True: by_name(description.tree_case)}
    for case in cases:
        shapes: Literal["trees", "patterns"] = "trees" if case.is_metadata else "patterns"
        parts = (
            (of_owner("interfaces", case.interface_name), case.interface),
            (of_owner(shapes, case.shape_name), case.shape),
            (of_cases[case.is_metadata], case.model_extra or {}),
        )
        for parameters, values in parts:
            for name, value in values.items():
                parameter = parameters.get(name)
                if parameter is not None and not parameter.takes(value):
                    what = (
                        f"case {case.number} with an invalid {name}: it is no value of kind {parameter.kind}"
                    )
                    raise DamagedRunError(f"{path}: {what}: the file is damaged")


def described_cases(plan: Plan, info: RunInfo, description: Description) -> dict[int, Case]:
    """The cases of a plan by number, with facts of the engine's check and its description."""
    checked = {case.case: case for case in info.check.cases or []}
    return {
        case.number: case.model_copy(
            update={name: getattr(checked.get(case.number), name, None) for name in _CHECKED}
            | {"description": description}
        )
        for case in plan.cases
    }


def planned_cases(plan: str, checked: Sequence[dict[str, Any]], description: str) -> list[Case]:
    """Returns the cases of a plan that has not run.

    Args:
        plan: The plan as JSON.
        checked: The facts of each case from the engine's check.
        description: The engine's description as JSON.
    """
    of_case = {case["case"]: case for case in checked}
    described = Description.model_validate_json(description)
    return [
        case.model_copy(
            update={name: of_case.get(case.number, {}).get(name) for name in _CHECKED}
            | {"description": described}
        )
        for case in Plan.model_validate_json(plan).cases
    ]


def _judged(samples: Sequence[Sample], errors: Sequence[ErrorRow]) -> list[Sample]:
    """Samples, void where the check of the whole files at the end of their repetition failed.

    Files without the written data make the phases void that wrote and read them. `strider.store.sql`
    says the same in SQL.
    """
    bad: set[tuple[int | None, int | None]] = {
        (check.case, check.repetition)
        for check in samples
        if check.operation == FILE_CHECK and not check.valid
    }
    bad |= {(error.case, error.repetition) for error in errors if error.operation == FILE_CHECK}
    return [
        sample.model_copy(update={"valid": False}) if (sample.case, sample.repetition) in bad else sample
        for sample in samples
    ]


def load_info(run_dir: Path) -> RunInfo:
    """The `run.json` of a run directory, every value of the type that it should have.

    Raises:
        StriderError: It is missing, damaged or of an unknown version.
    """
    return _read_document(run_dir / "run.json", "strider-run", RUN_VERSION, RunInfo)


def load_plan(run_dir: Path) -> Plan:
    """The `plan.json` of a run directory; see `load_info`."""
    return _read_document(run_dir / "plan.json", "strider-plan", PLAN_VERSION, Plan)


def load_description(run_dir: Path) -> Description:
    """The `description.json` of a run directory, else that of the engines whose runs have none."""
    file = run_dir / "description.json"
    if not file.exists():
        return older_description()
    return _read_document(file, "strider-description", DESCRIPTION_VERSION, Description)


def load_end(run_dir: Path) -> End | None:
    """The last event of a run; None if that is another one, as in an active run.

    Raises:
        StriderError: It is damaged.
    """
    events = run_dir / "events.jsonl"
    last = read_last_event(events)
    end = None if last is None else checked(events, None, last)
    return end if isinstance(end, End) else None


def load_events(run_dir: Path, model: type[_Model]) -> list[_Model]:
    """The events of one kind of a run; apart from `load` come those that are the bulk of a large run.

    Args:
        run_dir: The run's directory.
        model: The kind: `RankRow` for what each client did in each phase; `NodeCounters` for what each node
            counted around it; `ClockRow` for how the nodes' clocks differed from rank 0's, none where all
            ranks had one; `Timeline` for the work of each rank or node in each interval of it;
            `RequestValues` for the values that the requests of each rank read; `DataSetEvent` for the data
            written to data sets.

    Raises:
        StriderError: The events are damaged, or have a version that this Strider does not know.
    """
    events = _read_typed_events(run_dir / "events.jsonl", (model,))
    return [event for event in events if isinstance(event, model)]


def check_whole(run_dir: Path) -> None:
    """Refuses a run directory in which something is damaged, to the last line of its events.

    Raises:
        StriderError: As by `load`; a damaged line of any kind counts.
    """
    load(run_dir)
    events = run_dir / "events.jsonl"
    if events.exists():
        deque(read_events(events), maxlen=0)


def check_versions(run_dir: Path) -> None:
    """Refuses a run directory of another format or version; of the events only the beginning is read.

    Raises:
        StriderError: As by `load`.
    """
    load_info(run_dir)
    load_plan(run_dir)
    events = run_dir / "events.jsonl"
    if events.exists():
        next(read_events(events), None)


def _read_typed_events(
    path: Path, wanted: Sequence[type[BaseModel]], ignored: Callable[[int], None] | None = None
) -> list[BaseModel]:
    """The events of the wanted types; others, also those of a later Strider, are passed over."""
    if not path.exists():
        return []
    unwanted = [kind for kind, model in EVENT_TYPES.items() if model not in wanted]
    kinds = tuple(wanted)
    return [event for _, event in typed_events(path, unwanted, ignored) if isinstance(event, kinds)]


def _read_document(path: Path, format_name: str, version: int, model: type[_Model]) -> _Model:
    document = read_json(path)
    if document.get("format") != format_name:
        raise DamagedRunError(
            f'{path}: not a Strider document ("format" should be "{format_name}"): '
            "the run directory is damaged"
        )
    require_version(path, format_name, document.get("version"), version)
    return _validate(path, model, document)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file, whose strings are printable.

    Raises:
        StriderError: The file is missing, unreadable or holds something else.
    """
    try:
        content = read_regular(path, MOST_DOCUMENT_BYTES)
    except FileNotFoundError:
        remedy = "name a run directory, or a run of the store (strider list shows them)"
        raise StriderError(f"{path.parent} is not a run directory: it has no {path.name}: {remedy}") from None
    except OSError as error:
        raise DamagedRunError(f"cannot read {path}: {error.strerror}") from error
    return parse_json(path, content, printable_json)


def parse_json(path: Path, content: bytes, edit: Callable[[str], str] = str) -> dict[str, Any]:
    """A JSON object from the content of a file.

    Args:
        path: The file, for messages.
        content: Its content.
        edit: Changes the text before it is parsed.

    Raises:
        StriderError: It holds something else; the file is named.
    """
    try:
        document = json_of(edit(content.decode("utf-8")))
    except ValueError as error:
        raise DamagedRunError(f"{path} is not valid JSON ({error}): the run directory is damaged") from error
    if not isinstance(document, dict):
        raise DamagedRunError(f"{path} does not hold a JSON object: the run directory is damaged")
    return document


def _validate(path: Path, model: type[_Model], document: dict[str, Any]) -> _Model:
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise invalid(f"{path}: document", error) from error
