"""What defines the work of a case, and which cases of two sides do the same."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from strider.report.labels.facets import OF_MOUNT, format_option
from strider.store.case import Case, Option, turns_of

#: Parameters that say how often and when something is measured, not what.
_NOT_WORK = frozenset({"warmup", "settle", "verify"})
BESIDE = "beside"
"""Key of the work of other groups that was done at the same time."""
_ABSENT: tuple[object, ...] = (None, False, 0, "", [], {})
#: Two cases with more differences than this are not reported as counterparts.
_MOST_DIFFERENCES = 3


@dataclass(frozen=True)
class Item:
    """One operation of one case of one side.

    Attributes:
        work: Its definition by the keys of a suite: `transfer`, `posix.direct`, `order`, …; a value that is
            off, empty or 0 is left out, as runs from before a key existed lack it.
    """

    case: Case
    operation: str
    work: Mapping[str, object]

    @property
    def key(self) -> str:
        """What defines it, as a comparable text."""
        return json.dumps(self.work, sort_keys=True)


@dataclass(frozen=True)
class Match:
    """Operations of two sides that belong together, or one that is alone.

    Attributes:
        differences: Why the two cannot be compared after all; else empty.
    """

    base: Item | None
    other: Item | None
    differences: str = ""

    @property
    def item(self) -> Item:
        """The base's operation, else the other's."""
        found = self.base or self.other
        if found is None:
            raise ValueError("a match without any side")
        return found


def options(case: Case) -> dict[str, Option]:
    """All options of a case by the keys of a suite; those of an interface are `posix.direct`, `mpiio.…`."""
    kind = "tree" if case.is_metadata else "pattern"
    name = case.interface_name
    return {
        "interface": Option("common", "interface", name),
        **{f"{name}.{key}": one for key, one in case.interface_options.items()},
        kind: Option("common", kind, case.shape_name),
        **case.shape_options,
        **case.common_options,
    }


def items(cases: Sequence[Case], without: Callable[[str], bool] = lambda _: False) -> list[Item]:
    """Every operation of some cases with what defines its work.

    Args:
        cases: Of one run.
        without: Keys that are left out, because they are compared.
    """
    own = {case.number: _work(case, without) for case in cases}
    members = turns_of(cases)
    found = []
    for case in cases:
        kept = own[case.number]
        if case.measured_together:
            neighbours = [one for one in members[case.turn["number"]] if one != case.number]
            kept = {**kept, BESIDE: json.dumps([own[one] for one in neighbours], sort_keys=True)}
        for position, operation in enumerate(case.operations):
            if operation not in case.operations[:position]:
                # Earlier operations decide which data exists, and which data is in memory.
                found.append(Item(case, operation, {**kept, "operations": case.operations[: position + 1]}))
    return found


def _work(case: Case, without: Callable[[str], bool]) -> dict[str, object]:
    """What defines the work of a case but its operations, by the keys of a suite."""
    return {
        key: one.value
        for key, one in options(case).items()
        if key not in _NOT_WORK and not _is_absent(key, one.value) and not without(key)
    }


def _is_absent(key: str, value: object) -> bool:
    """Whether a value is what cases from before the key existed did."""
    return value in _ABSENT or (key in OF_MOUNT and value == OF_MOUNT[key])


def match(base: Sequence[Item], other: Sequence[Item]) -> list[Match]:
    """Brings together what does the same work, in the order of the base; then what only the other side has.

    Items without a counterpart are put beside the most similar one of the other side, so that it can be said
    what differs; where none is similar, they are alone.
    """
    waiting: defaultdict[str, list[Item]] = defaultdict(list)
    for item in other:
        waiting[item.key].append(item)
    found = [Match(item, _take(waiting[item.key], item) if waiting[item.key] else None) for item in base]
    rest = [item for items_of_key in waiting.values() for item in items_of_key]
    by_kind: defaultdict[tuple[object, ...], list[Item]] = defaultdict(list)
    for item in rest:
        by_kind[_kind(item)].append(item)
    result = [one if one.other else _similar(one, by_kind) for one in found]
    left = {id(item) for same in by_kind.values() for item in same}
    return [*result, *(Match(None, item) for item in other if id(item) in left)]


def _take(candidates: list[Item], item: Item) -> Item:
    """Of several cases with the same work, the one with the same name, else the first."""
    same = [one for one in candidates if one.case.name == item.case.name]
    chosen = (same or candidates)[0]
    candidates.remove(chosen)
    return chosen


def _kind(item: Item) -> tuple[object, ...]:
    return item.work.get("interface"), item.case.shape_name, item.operation


def _similar(lonely: Match, by_kind: Mapping[tuple[object, ...], list[Item]]) -> Match:
    """The most similar item of the same interface, pattern and operation, with what differs, if any."""
    item = lonely.base
    candidates = by_kind.get(_kind(item)) if item else None
    if item is None or not candidates:
        return lonely
    nearest = min(candidates, key=lambda one: len(_differing(item.work, one.work)))
    keys = _differing(item.work, nearest.work)
    if len(keys) > _MOST_DIFFERENCES:
        return lonely
    candidates.remove(nearest)
    return Match(item, nearest, difference_text(keys, item, nearest))


def _differing(base: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    return [key for key in dict.fromkeys([*base, *other]) if base.get(key) != other.get(key)]


def difference_text(keys: Sequence[str], base: Item, other: Item) -> str:
    """What differs, in words: `block 64 MiB and 128 MiB, order forward and random`."""
    return ", ".join(f"{key} {_value_text(key, base)} and {_value_text(key, other)}" for key in keys)


def _value_text(key: str, item: Item) -> str:
    value = item.work.get(key)
    if key == BESIDE:
        return f'"{item.case.name}"'
    if isinstance(value, list) and value and isinstance(value[0], str):
        return ", ".join(map(str, value))
    return "off" if value is None else format_option(options(item.case)[key])
