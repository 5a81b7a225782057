"""Expands axes into cases.

Cases follow the order of the suite: the first key varies slowest, the last one fastest. Values that do not
apply to a case's interface and pattern do not multiply it.
"""

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

from strider.engine import Json, Parameter
from strider.suite.axes import Axis, CaseTable, Choice, Step
from strider.suite.mistakes import Mistakes, Place
from strider.suite.plan import PlannedCase, Repetitions
from strider.suite.positions import Path
from strider.suite.values import DEFAULT_REPETITIONS, convert
from strider.suite.vocabulary import SHAPE_KEYS, Vocabulary, Workload

MOST_CASES = 10_000

_Names = tuple[Workload, str, str]
"""The names of a case: its kind, its interface, its pattern or tree."""


@dataclass(frozen=True)
class Origin:
    """The origin of a case of the plan.

    Attributes:
        case: Its `[[case]]`.
        keys: Where the value of each key that was given stands.
    """

    case: Path
    keys: dict[str, Path]


def expand(
    tables: list[tuple[CaseTable, Place]], vocabulary: Vocabulary, seed: int, mistakes: Mistakes
) -> list[tuple[PlannedCase, Origin]]:
    """All cases, numbered from 1, those that are equal only once.

    Args:
        tables: The `[[case]]` tables and where they stand.
        vocabulary: The parameters.
        seed: The suite's seed, default of the cases' own.
        mistakes: Where a table that gives too many cases is noted.
    """
    cases: dict[str, tuple[PlannedCase, Origin]] = {}
    if not _bounded(tables, mistakes):
        return []
    for table, _ in tables:
        for values in _combinations(table.axes, vocabulary):
            case = _planned(len(cases) + 1, table.name, values, vocabulary, seed)
            identity = json.dumps(case.model_dump(exclude={"case"}), sort_keys=True)
            cases.setdefault(
                identity, (case, Origin(table.path, {key: choice.path for key, choice in values.items()}))
            )
    return list(cases.values())


def _bounded(tables: list[tuple[CaseTable, Place]], mistakes: Mistakes) -> bool:
    """Returns whether the tables together give at most `MOST_CASES`, counted before expansion."""
    counts = [math.prod(len(axis.steps) for axis in table.axes) for table, _ in tables]
    for count, (_, place) in zip(counts, tables, strict=True):
        if count > MOST_CASES:
            mistakes.add(
                place, f"the lists multiply to {count} cases, the limit is {MOST_CASES}: shorten the lists"
            )
    if max(counts, default=0) <= MOST_CASES < sum(counts):
        message = f"the suite has {sum(counts)} cases, the limit is {MOST_CASES}: split it"
        mistakes.add(tables[-1][1], message)
    return sum(counts) <= MOST_CASES


def _combinations(axes: list[Axis], vocabulary: Vocabulary) -> Iterator[Step]:
    """All combinations of the axes' steps in the order of their indices, without keys that do not apply."""
    choosing = [index for index, axis in enumerate(axes) if axis.keys & {"interface", *SHAPE_KEYS}]
    found: dict[tuple[int, ...], Step] = {}
    for picks in itertools.product(*(range(len(axes[index].steps)) for index in choosing)):
        picked = dict(zip(choosing, picks, strict=True))
        chosen = {
            key: choice for index, pick in picked.items() for key, choice in axes[index].steps[pick].items()
        }
        if "interface" not in chosen or not chosen.keys() & set(SHAPE_KEYS):
            continue
        names = _names(chosen, vocabulary)
        indexed = [
            [(picked[index], _applicable(axis.steps[picked[index]], names, vocabulary))]
            if index in picked
            else list(_applicable_steps(axis, names, vocabulary))
            for index, axis in enumerate(axes)
        ]
        for combination in itertools.product(*indexed):
            indices = tuple(index for index, _ in combination)
            found[indices] = {key: choice for _, step in combination for key, choice in step.items()}
    for indices in sorted(found):
        yield found[indices]


def _names(chosen: Step, vocabulary: Vocabulary) -> _Names:
    key = next(key for key in SHAPE_KEYS if key in chosen)
    return vocabulary.workload(key), str(chosen["interface"].value), str(chosen[key].value)


def _applicable_steps(axis: Axis, names: _Names, vocabulary: Vocabulary) -> Iterator[tuple[int, Step]]:
    """The steps of an axis, reduced to the keys that apply; of equal ones the first, with its index."""
    seen: set[str] = set()
    for index, step in enumerate(axis.steps):
        kept = _applicable(step, names, vocabulary)
        values = json.dumps({key: choice.value for key, choice in kept.items()})
        if values not in seen:
            seen.add(values)
            yield index, kept


def _applicable(step: Step, names: _Names, vocabulary: Vocabulary) -> Step:
    return {
        key: choice
        for key, choice in step.items()
        if key in ("interface", *SHAPE_KEYS) or vocabulary.parameter(key, *names) is not None
    }


def _planned(number: int, name: str, values: Step, vocabulary: Vocabulary, seed: int) -> PlannedCase:
    """A case with every parameter that has a value, given or default, in the order of the description."""
    workload, interface_name, shape_name = _names(values, vocabulary)
    interface, shape = vocabulary.interfaces[interface_name], workload.shapes[shape_name]
    common = _filled(list(workload.common.values()), values, "")
    if "seed" in workload.common and "seed" not in values:
        common["seed"] = seed
    repetitions = common.pop("repetitions", None)
    first = {key: common.pop(key) for key in ("clients", "operations")}
    if "clients" not in values:
        first["clients"] = _clients(common, first["clients"])
    return PlannedCase.model_validate(
        {
            "case": number,
            "name": name,
            **first,
            "interface": {
                "name": interface.name,
                **_filled(interface.parameters, values, f"{interface.name}."),
            },
            workload.key: {"name": shape.name, **_filled(shape.parameters, values, "")},
            "repetitions": repetitions or Repetitions(min=DEFAULT_REPETITIONS, max=DEFAULT_REPETITIONS),
            **common,
        }
    )


def _clients(common: dict[str, Json], otherwise: Json) -> Json:
    """The number of clients that nodes and ranks per node give; `otherwise` without both."""
    nodes, per_node = common.get("nodes"), common.get("per_node")
    if isinstance(nodes, int) and isinstance(per_node, int) and nodes * per_node > 0:
        return nodes * per_node
    return otherwise


def _default(parameter: Parameter) -> Json:
    """A default in the form of the plan: seconds as 0.0 and not 0, repetitions spelled out."""
    return (
        convert(parameter, parameter.default)
        if parameter.kind in ("seconds", "repetitions")
        else parameter.default
    )


def _filled(parameters: list[Parameter], values: dict[str, Choice], prefix: str) -> dict[str, Json]:
    """Values by parameter name; those that the engine derives are absent."""
    filled: dict[str, Json] = {}
    for parameter in parameters:
        choice = values.get(prefix + parameter.name)
        value = choice.value if choice else _default(parameter)
        if value is not None:
            filled[parameter.name] = value
    return filled
