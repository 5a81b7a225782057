"""Which parameters vary within a run, and the labels that tell cases apart by them.

A chart or table compares cases along four facets:

- *series*: the interface, with those of its parameters that vary (`posix`, `posix direct`), and, beside other
  interfaces, those that are not left to their default (`mpiio collective`);
- *group*: everything else that varies except the sizes below (`strided, per-rank, random order`). Options of
  interfaces that vary between named cases alone belong to the names (`case 2, vector, holes 10 unmapped`), so
  that a series is the same in all groups;
- clients and operation;
- the transfer size.

What does not vary but is no default is said once, in `constants`: it may decide the numbers all the same.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from strider.report.defaults import OF_OPERATION, PLACES, is_default, is_needless
from strider.store.model import Case, Parameters
from strider.units import format_bytes, format_seconds

_BYTES = frozenset(
    {
        "transfer",
        "block",
        "size",
        "align",
        "element",
        "piece",
        "file_gap",
        "memory_gap",
        "stride",
        "file_size",
        "strip",
        "server_rate",
        "threshold",
        "cache_bytes",
    }
)
_SECONDS = frozenset({"deadline", "settle", "think"})
#: Values that say nothing without the name of their parameter.
_BARE = frozenset({"none", "auto", "default", "on", "off", "all", "any"})
#: Words around the values of the parameters that every case has.
_PHRASES = {
    "order": "{} order",
    "sharing": "{}",
    "sync": "sync {}",
    "readback": "readback {}",
    "verify": "verify {}",
    "cache": "{} cache",
    "arrivals": "{} arrivals",
    "arrival_rate": "{}/s",
    "rate_limit": "at most {}",
}
_WRITES = frozenset({"write", "rewrite", "read-modify-write"})


@dataclass(frozen=True)
class Facets:
    """Labels for the cases of one run; `of` makes them.

    Attributes:
        series: Label by case number: the interface and its parameters that tell it apart.
        group: Label by case number: pattern or tree, and what else varies between cases.
        series_order: All series in the order of the plan; it decides colours and marks.
        constants: Name and value of what all cases have in common, for a caption.
    """

    series: dict[int, str]
    group: dict[int, str]
    series_order: list[str]
    constants: list[tuple[str, str]]

    @classmethod
    def of(cls, cases: Sequence[Case]) -> Facets:
        """Finds out what varies among some cases of one run."""
        of_names = _varying_by_name(cases)
        series = _series(cases, of_names)
        options = _options_of_names(cases, of_names)
        patterns: dict[int, list[str]] = {}
        for same in _by(cases, lambda case: (case.name, case.shape_name)).values():
            parts = _varying_parts(same, _pattern_without_sizes_that_follow(same))
            patterns |= {case.number: [case.shape_name, *parts[case.number]] for case in same}
        # What is chosen for cases of one name alone is no constant of the run, so it is said with the name.
        chosen = _chosen(cases, _common)
        common: dict[int, list[str]] = {}
        for same in _by(cases, lambda case: case.name).values():
            common |= _varying_parts(same, _common, _chosen(same, _common) - chosen)
        names = {case.name for case in cases}
        # The one kind of tree that all have is said where it is needed to say anything.
        one_tree = all(case.is_metadata for case in cases) and len({case.shape_name for case in cases}) == 1
        group = {}
        for case in cases:
            shape = patterns[case.number]
            around = [case.name] if len(names) > 1 and case.name else []
            if one_tree and (shape[1:] or around or common[case.number] or options[case.name]):
                shape = shape[1:]
            parts_of_label = [*around, " ".join(shape), *common[case.number], options[case.name]]
            group[case.number] = ", ".join(part for part in parts_of_label if part)
        return cls(series, group, list(dict.fromkeys(series.values())), _constants(cases, series))


def joined(data: Facets, metadata: Facets) -> Facets:
    """Labels of all cases of a run, of which those of data and those of metadata vary apart."""
    return Facets(
        data.series | metadata.series,
        data.group | metadata.group,
        list(dict.fromkeys([*data.series_order, *metadata.series_order])),
        [*data.constants, *metadata.constants],
    )


def format_value(name: str, value: object) -> str:
    """A parameter's value for reading, with its unit where the name tells it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name in _BYTES:
        return format_bytes(value)
    if isinstance(value, int | float) and name in _SECONDS:
        # What was set is said as it was set, not rounded.
        return f"{value:g} s" if value >= 0.1 else format_seconds(value)
    if name == "sharing" and isinstance(value, int):
        return f"{value} files"
    if isinstance(value, dict):
        return " ".join(f"{key}={_plain(inner)}" for key, inner in value.items())
    return value if isinstance(value, str) else json.dumps(value)


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _by(cases: Sequence[Case], key: Callable[[Case], Hashable]) -> dict[Hashable, list[Case]]:
    groups: defaultdict[Hashable, list[Case]] = defaultdict(list)
    for case in cases:
        groups[key(case)].append(case)
    return dict(groups)


def _interface(case: Case) -> Parameters:
    """The options of the interface that have an effect."""
    return {name: value for name, value in case.interface.items() if not is_needless(case, name)}


def _series(cases: Sequence[Case], of_names: dict[str, frozenset[str]]) -> dict[int, str]:
    """By case number the interface, with what varies of it and does not belong to names.

    What a single interface has throughout is in the constants; beside others it tells the interface apart.
    """
    by_interface = _by(cases, lambda case: case.interface_name)
    series = {case.number: "" for case in cases}
    for same in by_interface.values():
        chosen = _chosen_of_interface(same) if len(by_interface) > 1 else frozenset()
        parts = _varying_parts(same, _interface_without(of_names), chosen)
        series |= {case.number: " ".join([case.interface_name, *parts[case.number]]) for case in same}
    if len(set(series.values())) > 1 or len(by_interface) > 1:
        return series
    return {number: _common_interface(cases) for number in series}


def _common_interface(cases: Sequence[Case]) -> str:
    """A single interface with what all cases have of it that is no default."""
    chosen = _varying_parts(cases[:1], _interface, _chosen_of_interface(cases))[cases[0].number]
    return " ".join([cases[0].interface_name, *chosen])


def _chosen_of_interface(cases: Sequence[Case]) -> frozenset[str]:
    """Options of an interface that all cases have alike, and that say how it works rather than where."""
    return _chosen(cases, _interface) - PLACES


def _interface_without(of_names: dict[str, frozenset[str]]) -> Callable[[Case], Parameters]:
    return lambda case: {
        name: value for name, value in _interface(case).items() if name not in of_names[case.interface_name]
    }


def _varying_by_name(cases: Sequence[Case]) -> dict[str, frozenset[str]]:
    """By interface, its options that vary, but not among cases of one name."""
    return {
        str(interface): _varying(same, _interface).difference(
            *(_varying(own, _interface) for own in _by(same, lambda case: case.name).values())
        )
        for interface, same in _by(cases, lambda case: case.interface_name).items()
    }


def _options_of_names(cases: Sequence[Case], of_names: dict[str, frozenset[str]]) -> dict[str, str]:
    """By name, words for the options of interfaces that belong to it, each after its interface if several."""
    words: dict[str, str] = {}
    for name, own in _by(cases, lambda case: case.name).items():
        firsts = {case.interface_name: case for case in reversed(own)}
        found = []
        for interface, case in reversed(firsts.items()):
            options = _interface(case)
            parts = [_part(option, options[option]) for option in options if option in of_names[interface]]
            told = " ".join(part for part in parts if part)
            if told:
                found.append(told if len(firsts) == 1 else f"{interface} {told}")
        words[str(name)] = ", ".join(found)
    return words


def _common(case: Case) -> Parameters:
    """What every case has, without clients and without what matters to none of its operations."""
    return {
        name: _rate_limit(case, value) if name == "rate_limit" else value
        for name, value in case.common_parameters().items()
        if name != "clients" and OF_OPERATION.get(name, case.operations[0]) in case.operations
    }


def _rate_limit(case: Case, value: object) -> object:
    """A limit in its unit: bytes of data, or operations of metadata."""
    if not isinstance(value, int):
        return value
    if value == 0:
        return ""  # none
    return f"{value}/s" if case.is_metadata else f"{format_bytes(value)}/s"


def _pattern_without_sizes_that_follow(cases: Sequence[Case]) -> Callable[[Case], Parameters]:
    """Parameters of a pattern or tree, without `transfer` and sizes that follow from it and the clients.

    A block that grows with the transfer size or shrinks with the number of clients is no facet of its own: it
    would cut each line of a chart into single points.
    """

    def follows(name: str) -> bool:
        seen: defaultdict[tuple[int | None, int, str], set[str]] = defaultdict(set)
        for case in cases:
            value = case.shape.get(name)
            if isinstance(value, bool) or not isinstance(value, int | list | None):
                return False
            others = json.dumps(_common(case), sort_keys=True)
            seen[case.transfer_bytes, case.clients, others].add(repr(value))
        return all(len(values) == 1 for values in seen.values())

    names = {name for case in cases for name in case.shape}
    hidden = {"name", "transfer"} | {name for name in names if follows(name)}
    return lambda case: {name: value for name, value in case.shape.items() if name not in hidden}


def _chosen(cases: Sequence[Case], parameters: Callable[[Case], Parameters]) -> frozenset[str]:
    """Names of the parameters that have one value in all cases, which is not their default."""
    own = [(case, parameters(case)) for case in cases]
    names = dict.fromkeys(name for _, values in own for name in values if name != "name")
    having = {name: [one for one in own if name in one[1]] for name in names}
    return frozenset(
        name
        for name, found in having.items()
        if (len(found) == len(own) or name in OF_OPERATION)
        and all(values[name] == found[0][1][name] for _, values in found)
        and not any(is_default(case, name, found[0][1][name]) for case, _ in found)
    )


def _varying_parts(
    cases: Sequence[Case],
    parameters: Callable[[Case], Parameters],
    further: frozenset[str] = frozenset(),
) -> dict[int, list[str]]:
    """By case number, words for those parameters that differ between the cases, and for some further ones."""
    told = _varying(cases, parameters) | further
    values = {case.number: parameters(case) for case in cases}
    names = [name for name in dict.fromkeys(n for own in values.values() for n in own) if name in told]
    return {
        number: [part for name in names if (part := _part(name, own.get(name)))]
        for number, own in values.items()
    }


def _varying(cases: Sequence[Case], parameters: Callable[[Case], Parameters]) -> frozenset[str]:
    """Names of the parameters in which cases differ.

    What only an operation needs, or some other option, makes cases without it no different.
    """
    values = [parameters(case) for case in cases]
    names = {name for own in values for name in own} - {"name"}

    def differ(name: str) -> bool:
        needed = name in OF_OPERATION or any(is_needless(case, name) for case in cases)
        having = [own for own in values if name in own] if needed else values
        return len({json.dumps(own.get(name), sort_keys=True) for own in having}) > 1

    return frozenset(filter(differ, names))


def _part(name: str, value: object) -> str:
    """Words for a parameter's value in a label; none for what is off, empty or left to its default."""
    if value is None or value is False or value in ("", {}, []):
        return ""
    if value is True:
        return name
    text = format_value(name, value)
    if isinstance(value, dict):
        return text
    if name in _PHRASES:
        return _PHRASES[name].format(text)
    return text if isinstance(value, str) and value not in _BARE else f"{name} {text}"


def _constants(cases: Sequence[Case], series: dict[int, str]) -> list[tuple[str, str]]:
    """What all cases share: what a reader asks for first, then every option that is no default."""
    asked: dict[str, Callable[[Case], object]] = {
        "interface": lambda case: series[case.number],
        "pattern": lambda case: case.pattern.get("name"),
        "tree": lambda case: case.tree.get("name"),
        "transfer": lambda case: case.transfer_bytes,
        "block": lambda case: case.pattern.get("block"),
        "clients": lambda case: case.clients,
        "sharing": lambda case: case.sharing,
        "order": lambda case: case.order,
        "sync": _sync,
    }
    found = {name: {json.dumps(get(case)) for case in cases} for name, get in asked.items()}
    first = [
        (name, format_value(name, json.loads(next(iter(values)))))
        for name, values in found.items()
        if len(values) == 1 and values != {"null"}
    ]
    # What a single interface has in all its series is said here alone.
    if len(found["interface"]) > 1 and len({case.interface_name for case in cases}) == 1:
        shared = _common_interface(cases)
        first = [("interface", shared), *first] if shared != cases[0].interface_name else first
    return [*first, *_chosen_options(cases, frozenset(asked))]


def _sync(case: Case) -> object:
    """When written data is made persistent: a rate of writing means nothing without it."""
    return case.common_parameters().get("sync") if _WRITES & set(case.operations) else None


def _chosen_options(cases: Sequence[Case], said: frozenset[str]) -> list[tuple[str, str]]:
    """The options of patterns or trees and of cases that are the same throughout and no defaults.

    With several patterns, an option goes with the name of its pattern.
    """
    patterns = _by(cases, lambda case: case.shape_name)
    options = [
        (name if len(patterns) == 1 else f"{pattern} {name}", name, same[0].shape[name])
        for pattern, same in patterns.items()
        for name in same[0].shape
        if name in _chosen(same, lambda case: case.shape) and (name not in said or len(patterns) > 1)
    ]
    shared = _chosen(cases, _common) - said
    common = {name: value for case in reversed(cases) for name, value in _common(case).items()}
    options += [(name, name, value) for name, value in common.items() if name in shared]
    return [(label.replace("_", " "), format_value(name, value)) for label, name, value in options]
