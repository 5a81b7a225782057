"""Converts a `[[case]]` table to axes: the checked values of each key, to be crossed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from strider.engine import Json, Parameter
from strider.suite.changes import selection
from strider.suite.document import Document
from strider.suite.keys import missing, resolve
from strider.suite.mistakes import Mistakes, unknown
from strider.suite.operations import names_for
from strider.suite.positions import Path
from strider.suite.values import LISTS, OperationNames, convert, is_crossed, show
from strider.suite.vocabulary import SHAPE_KEYS, Selection, ShapeKey, Vocabulary, Workload


@dataclass(frozen=True)
class Choice:
    """One value of one key, with its position."""

    value: Json
    path: Path


Step = dict[str, Choice]
"""Keys whose values change together: one key, or several with `zip`."""


@dataclass(frozen=True)
class Axis:
    """The values of one key, or of the keys of a `zip`."""

    steps: tuple[Step, ...]

    @property
    def keys(self) -> set[str]:
        """Returns the keys that it sets."""
        return {key for step in self.steps for key in step}


@dataclass(frozen=True)
class CaseTable:
    """A parsed `[[case]]`.

    Attributes:
        path: Where it stands.
        name: Its name, empty if it has none.
        used: Interfaces and patterns or trees over all its values.
        axes: In the order in which they are written.
    """

    path: Path
    name: str
    used: Selection
    axes: list[Axis]


@dataclass(frozen=True)
class AxesReader:
    """Parses the tables of a document; adds errors to `mistakes`."""

    document: Document
    vocabulary: Vocabulary
    mistakes: Mistakes

    def read_defaults(
        self, table: dict[str, Json], workloads: Sequence[Workload]
    ) -> dict[ShapeKey, list[Axis]]:
        """Axes of the case keys in `[suite]`, which are defaults for all cases, by kind of case.

        In a suite with cases of both kinds, a value goes to those that can have it: an operation to the cases
        of its kind, for instance.

        Args:
            table: The `[suite]`.
            workloads: The kinds of cases that the suite has.
        """
        found: dict[ShapeKey, list[Axis]] = {workload.key: [] for workload in workloads}
        for key, typed in table.items():
            if _means_two_things(key, typed, workloads):
                self.mistakes.add(
                    self.document.key(("suite", key)),
                    f'"{key}" is a size in data cases and a number in metadata cases, and the suite has '
                    "both: set it in the cases",
                )
                continue
            # A value is a mistake only if it is wrong for all kinds.
            trial = replace(self, mistakes=Mistakes())
            axes = [(w, trial._default(key, typed, w, shared=len(workloads) > 1)) for w in workloads]
            if not any(axis for _, axis in axes):
                self.mistakes.found.update(trial.mistakes.found)
            for workload, axis in axes:
                found[workload.key] += [axis] if axis else []
        return found

    def _default(self, key: str, typed: Json, workload: Workload, shared: bool) -> Axis | None:
        parameter = workload.common.get(key)
        if parameter is None:
            return None
        names = names_for(workload, self.vocabulary, "any" if shared else "own")
        axis = self._axis(key, parameter, typed, ("suite", key), names)
        return _only_of(workload, axis) if axis else None

    def read_case(
        self, index: int, table: dict[str, Json], defaults: dict[ShapeKey, list[Axis]]
    ) -> CaseTable:
        """Axes of a case: the suite's defaults that it does not replace, then its own."""
        path: Path = ("case", index)
        used = selection(table, self.vocabulary)
        own: list[Axis] = []
        for key, value in table.items():
            own += self._axes_of_key(key, value, path, used)
        keys = [key for axis in own for key in axis.keys]
        for key in sorted({key for key in keys if keys.count(key) > 1}):
            self.mistakes.add(
                self.document.key((*path, *key.split("."))), f'"{key}" is also in zip: keep one'
            )
        self._check_shapes({*keys, *table}, path)
        inherited = [axis for axis in defaults[used.workload.key] if not axis.keys & set(keys)]
        given = {*keys, *table, *(key for axis in inherited for key in axis.keys)}
        for message in missing(given, used, self.vocabulary):
            self.mistakes.add(self.document.key(path), message)
        name = table.get("name", "")
        if not isinstance(name, str):
            self.mistakes.add(
                self.document.value((*path, "name")),
                f"name: {show(name)} is not a string: write it in quotes",
            )
        return CaseTable(path, str(name), used, [*inherited, *own])

    def _check_shapes(self, keys: set[str], path: Path) -> None:
        """A case has either a pattern or a tree."""
        if keys >= set(SHAPE_KEYS):
            self.mistakes.add(
                self.document.key((*path, "tree")),
                "a case has either a pattern (data) or a tree (metadata): write two cases",
            )

    def _axes_of_key(self, key: str, value: Json, case: Path, used: Selection) -> Iterator[Axis]:
        """The axes of one key of a case: several for the options of an interface, none for a mistake."""
        path: Path = (*case, key)
        if key == "name":
            return
        if key == "zip":
            axis = self._zip(value, path, used)
        elif key == "interface" or key in SHAPE_KEYS:
            axis = self._names_axis(key, value, path)
        elif key in self.vocabulary.interfaces:
            yield from self._option_axes(key, value, path, used)
            return
        else:
            parameter = self._parameter(key, path, used)
            axis = self._axis(key, parameter, value, path, self._names(used)) if parameter else None
        if axis:
            yield axis

    def _option_axes(self, interface: str, table: Json, path: Path, used: Selection) -> Iterator[Axis]:
        if not isinstance(table, dict):
            example = (
                f"for example {interface}.{self.vocabulary.interfaces[interface].parameters[0].name} = …"
            )
            self.mistakes.add(
                self.document.value(path), f'"{interface}" must be a table of options: write {example}'
            )
            return
        for name, value in table.items():
            parameter = self._parameter(f"{interface}.{name}", (*path, name), used)
            axis = self._axis(f"{interface}.{name}", parameter, value, (*path, name)) if parameter else None
            if axis:
                yield axis

    def _names(self, used: Selection) -> OperationNames:
        """The operations that a case may name."""
        return names_for(used.workload, self.vocabulary, "any" if used.doubtful else "own")

    def _axis(
        self, key: str, parameter: Parameter, typed: Json, path: Path, names: OperationNames | None = None
    ) -> Axis | None:
        """The axis of one key with all its values converted; None where one of them is wrong."""
        crossed = is_crossed(parameter, typed)
        if parameter.kind == "repetitions" and crossed:
            self.mistakes.add(self.document.value(path), f"{key}: takes one value, not a list")
            return None
        if typed == []:
            self.mistakes.add(self.document.value(path), f'"{key}" is an empty list: give at least one value')
            return None
        values = (
            [((*path, index), element) for index, element in enumerate(typed)] if crossed else [(path, typed)]
        )
        choices = [self._choice(key, parameter, element, place, names) for place, element in values]
        good = [choice for choice in choices if choice]
        return Axis(tuple({key: choice} for choice in good)) if len(good) == len(choices) else None

    def _choice(
        self, key: str, parameter: Parameter, typed: Json, path: Path, names: OperationNames | None
    ) -> Choice | None:
        try:
            return Choice(convert(parameter, typed, names), path)
        except ValueError as error:
            self.mistakes.add(self.document.value(path), f"{key}: {error}")
            return None

    def _names_axis(self, key: str, typed: Json, path: Path) -> Axis | None:
        """The axis of `interface`, `pattern` or `tree`."""
        names = {"interface": list(self.vocabulary.interfaces)}
        names |= {workload.key: list(workload.shapes) for workload in self.vocabulary.workloads}
        known = names[key]
        if typed == []:
            self.mistakes.add(self.document.value(path), f'"{key}" is an empty list: give at least one name')
        values = (
            [((*path, index), name) for index, name in enumerate(typed)]
            if isinstance(typed, list)
            else [(path, typed)]
        )
        good = [(place, name) for place, name in values if isinstance(name, str) and name in known]
        for place, name in values:
            if not isinstance(name, str):
                self.mistakes.add(
                    self.document.value(place), f"{key}: {show(name)} is not a name: write it in quotes"
                )
            elif name not in known:
                self.mistakes.add(self.document.value(place), unknown(key, name, known))
        return Axis(tuple({key: Choice(name, place)} for place, name in good)) if good else None

    def _zip(self, table: Json, path: Path, used: Selection) -> Axis | None:
        """The one axis of all keys in `zip`, which take their values side by side."""
        if not isinstance(table, dict) or not table:
            self.mistakes.add(
                self.document.key(path), "zip must be a table of lists: [case.zip] clients = [2, 4] …"
            )
            return None
        lists = list(self._zipped(table, path))
        for key, place, typed in lists:
            if not isinstance(typed, list):
                self.mistakes.add(self.document.value(place), f'zip: "{key}" must be a list')
                return None
        lengths = {key: len(typed) for key, _, typed in lists}
        if len(set(lengths.values())) > 1:
            detail = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            self.mistakes.add(self.document.key(path), f"the lists in zip must be equally long: {detail}")
            return None
        axes = [axis for key, place, typed in lists for axis in self._zipped_axis(key, typed, place, used)]
        if len(axes) < len(lists):
            return None
        return Axis(
            tuple(
                {k: c for step in steps for k, c in step.items()}
                for steps in zip(*(a.steps for a in axes), strict=True)
            )
        )

    def _zipped(self, table: dict[str, Json], path: Path) -> Iterator[tuple[str, Path, Json]]:
        """Keys of a `zip` table in the form `posix.direct`, with their places and values."""
        for key, value in table.items():
            if key in self.vocabulary.interfaces and isinstance(value, dict):
                for option, inner in value.items():
                    yield f"{key}.{option}", (*path, key, option), inner
            else:
                yield key, (*path, key), value

    def _zipped_axis(self, key: str, typed: Json, path: Path, used: Selection) -> Iterator[Axis]:
        """The axis of one key of a `zip`, with a step for each element of its list; none for a mistake."""
        if key == "interface" or key in SHAPE_KEYS:
            axis = self._names_axis(key, typed, path)
        else:
            parameter = self._parameter(key, path, used)
            if parameter and parameter.kind in LISTS and not is_crossed(parameter, typed):
                self.mistakes.add(
                    self.document.value(path),
                    f'zip: a value of "{key}" is itself a list: write a list of lists, one list '
                    "for each step",
                )
                return
            axis = self._axis(key, parameter, typed, path, self._names(used)) if parameter else None
        if axis and len(axis.steps) == len(typed):
            yield axis

    def _parameter(self, key: str, path: Path, used: Selection) -> Parameter | None:
        """Returns the parameter of a key in a case; None and a mistake if it is invalid."""
        try:
            return resolve(key, used, self.vocabulary)
        except ValueError as error:
            self.mistakes.add(self.document.key(path), str(error))
            return None


def _means_two_things(key: str, typed: Json, workloads: Sequence[Workload]) -> bool:
    """Returns whether a number without unit is bytes for some cases and a count for others."""
    kinds = {parameter.kind for w in workloads if (parameter := w.common.get(key))}
    given = typed if isinstance(typed, list) else [typed]
    return kinds == {"bytes", "count"} and any(isinstance(value, int) and value for value in given)


def _only_of(workload: Workload, axis: Axis) -> Axis | None:
    """An axis of defaults with the operations of one kind of case alone; None where none is left."""
    if "operations" not in axis.keys:
        return axis
    steps = []
    for step in axis.steps:
        names = [name for name in step["operations"].value if name in workload.operations]
        if names:
            steps.append({"operations": Choice(names, step["operations"].path)})
    return Axis(tuple(steps)) if steps else None
