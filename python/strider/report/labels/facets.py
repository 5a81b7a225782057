"""Which parameters vary within a run, and the labels that distinguish cases by them.

A chart or table compares cases along four facets:

- *series*: the interface, with the mount on which it works (`posix on mount`), those of its parameters that
  vary (`posix`, `posix direct`), and, beside other interfaces, those that are not left to their default
  (`mpiio collective`);
- *group*: everything else that varies except the sizes below (`strided, per-rank, random order`). Options of
  interfaces that vary between named cases alone belong to the names (`case 2, vector, holes 10 unmapped`), so
  that a series is the same in all groups. A name with several interfaces has none: they would label the rows
  of the other interfaces, too;
- clients, with the nodes that follow from their number, and operation;
- the transfer size.

Parameters that do not vary but are no default are listed once, in `constants`: they affect the numbers.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from strider.report.labels.relevance import OF_OPERATION, is_default, is_needless, is_place
from strider.store.case import Case, Option
from strider.units import format_bytes, format_seconds

#: Values that say nothing without the name of their parameter.
_BARE = frozenset({"none", "auto", "default", "on", "off", "all", "any"})
#: Words around the values of the parameters that every case has.
_PHRASES = {
    "placement": "{}",
    "nodes": "nodes {}",
    "per_node": "{} per node",
    "start": "starts after {}",
    "order": "{} order",
    "sharing": "{}",
    "sync": "sync {}",
    "readback": "readback {}",
    "deadline_of": "deadline of {}",
    "verify": "verify {}",
    "cache": "{} cache",
    "dataset": "data set {}",
    "mount": "on mount",
    "mount_servers": "of {} servers",
    "arrivals": "{} arrivals",
    "arrival_rate": "{}/s",
    "rate_limit": "at most {}",
}
#: Options that limit how much is done in a second; 0 is no limit.
_PER_SECOND = frozenset({"rate_limit"})
_WRITES = frozenset({"write", "rewrite", "read-modify-write", "read-write"})


@dataclass(frozen=True)
class Facets:
    """Labels for the cases of one run; `of` makes them.

    Attributes:
        series: Label by case number: the interface and its parameters that distinguish it.
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
        # A parameter of cases of one name alone is no constant of the run, so it is shown with the name.
        chosen = _chosen(cases, _common)
        common: dict[int, list[str]] = {}
        for same in _by(cases, lambda case: case.name).values():
            common |= _varying_parts(same, _common_without_nodes(same), _chosen(same, _common) - chosen)
        names = {case.name for case in cases}
        # The one kind of tree of all cases is shown only if nothing else distinguishes them.
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


def format_option(option: Option) -> str:
    """An option's value for reading, with the unit of its kind."""
    return _in_unit(option) + ("/s" if option.name in _PER_SECOND else "")


def _in_unit(option: Option) -> str:
    value = option.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and option.kind == "bytes":
        return format_bytes(value)
    if isinstance(value, int | float) and option.kind == "seconds":
        # A set parameter is shown as it was set, not rounded.
        return f"{value:g} s" if value >= 0.1 else format_seconds(value)
    if isinstance(value, int) and option.kind == "sharing":
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


Options = dict[str, Option]


#: What every case has, but says how the interface reaches the files; with its value without a mount.
OF_MOUNT: dict[str, object] = {"mount": "none", "mount_servers": 0}
#: Options of the volume rather than of an interface, where several interfaces use one volume.
_OF_VOLUME = frozenset({"servers", "transport", "server_rate"})


def _interface(case: Case) -> Options:
    """The options of the interface that have an effect, and the mount on which it works, if any."""
    own = {name: one for name, one in case.interface_options.items() if not is_needless(case, name)}
    common = case.common_options
    return own | {
        name: common[name] for name, off in OF_MOUNT.items() if name in common and common[name].value != off
    }


def _series(cases: Sequence[Case], of_names: dict[str, frozenset[str]]) -> dict[int, str]:
    """By case number the interface, with what varies of it and does not belong to names.

    An option that a single interface always has is a constant; beside others it distinguishes the interface.
    """
    by_interface = _by(cases, lambda case: case.interface_name)
    mounted = any("mount" in _interface(case) for case in cases)
    series = {case.number: "" for case in cases}
    for same in by_interface.values():
        chosen = _chosen_of_interface(same) if len(by_interface) > 1 else frozenset()
        chosen -= _OF_VOLUME if mounted else frozenset()
        parts = _varying_parts(same, _interface_without(of_names), chosen)
        series |= {case.number: " ".join([case.interface_name, *parts[case.number]]) for case in same}
    if not cases or len(set(series.values())) > 1 or len(by_interface) > 1:
        return series
    return dict.fromkeys(series, _common_interface(cases))


def _common_interface(cases: Sequence[Case]) -> str:
    """A single interface with what all cases have of it that is no default."""
    chosen = _varying_parts(cases[:1], _interface, _chosen_of_interface(cases))[cases[0].number]
    return " ".join([cases[0].interface_name, *chosen])


def _chosen_of_interface(cases: Sequence[Case]) -> frozenset[str]:
    """Options of an interface that all cases have alike, and that say how it works rather than where."""
    places = {name for case in cases for name, one in _interface(case).items() if is_place(one)}
    return _chosen(cases, _interface) - places


def _interface_without(of_names: dict[str, frozenset[str]]) -> Callable[[Case], Options]:
    return lambda case: {
        name: one for name, one in _interface(case).items() if name not in of_names[case.interface_name]
    }


def _varying_by_name(cases: Sequence[Case]) -> dict[str, frozenset[str]]:
    """By interface, its options that vary, but not among cases of one name.

    None of an interface that shares a name with others: there the options would be said of these, too.
    """
    names_of = {case.name: set[str]() for case in cases}
    for case in cases:
        names_of[case.name].add(case.interface_name)
    return {
        str(interface): frozenset[str]()
        if any(len(names_of[case.name]) > 1 for case in same)
        else _varying(same, _interface).difference(
            *(_varying(own, _interface) for own in _by(same, lambda case: case.name).values())
        )
        for interface, same in _by(cases, lambda case: case.interface_name).items()
    }


def _options_of_names(cases: Sequence[Case], of_names: dict[str, frozenset[str]]) -> dict[str, str]:
    """By name, words for the options of its one interface that belong to it."""
    words: dict[str, str] = {}
    for name, (case, *_) in _by(cases, lambda case: case.name).items():
        kept = of_names[case.interface_name]
        parts = [_part(one) for option, one in _interface(case).items() if option in kept]
        words[str(name)] = " ".join(part for part in parts if part)
    return words


def _shape(case: Case) -> Options:
    return case.shape_options


def _common(case: Case) -> Options:
    """What every case has, without clients and without what matters to none of its operations."""
    return {
        name: one
        for name, one in case.common_options.items()
        if name not in ("clients", "group", *OF_MOUNT)  # a case of a group has its name
        and OF_OPERATION.get(name, case.operations[0]) in case.operations
    }


def _common_without_nodes(cases: Sequence[Case]) -> Callable[[Case], Options]:
    """What every case has, without nodes and ranks per node that follow from the number of clients.

    They have columns of their own; as a facet they would cut each line of a chart into single points.
    """
    hidden: set[str] = set()
    for name in ("nodes", "per_node"):
        seen: defaultdict[tuple[int, str], set[str]] = defaultdict(set)
        for case in cases:
            own = {key: one.value for key, one in _common(case).items() if key not in hidden}
            value = own.pop(name, None)
            seen[case.clients, json.dumps(own, sort_keys=True)].add(repr(value))
        if all(len(values) == 1 for values in seen.values()):
            hidden.add(name)
    return lambda case: {name: one for name, one in _common(case).items() if name not in hidden}


def _pattern_without_sizes_that_follow(cases: Sequence[Case]) -> Callable[[Case], Options]:
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
            seen[case.transfer_bytes, case.clients, others[case.number]].add(repr(value))
        return all(len(values) == 1 for values in seen.values())

    others = {
        case.number: json.dumps({name: one.value for name, one in _common(case).items()}, sort_keys=True)
        for case in cases
    }
    names = {name for case in cases for name in case.shape}
    hidden = {"transfer"} | {name for name in names if follows(name)}
    return lambda case: {name: one for name, one in case.shape_options.items() if name not in hidden}


def _chosen(cases: Sequence[Case], parameters: Callable[[Case], Options]) -> frozenset[str]:
    """Names of the parameters that have one value in all cases, which is not their default."""
    own = [(case, parameters(case)) for case in cases]
    names = dict.fromkeys(name for _, values in own for name in values)
    having = {name: [one for one in own if name in one[1]] for name in names}
    return frozenset(
        name
        for name, found in having.items()
        if (len(found) == len(own) or name in OF_OPERATION)
        and all(values[name].value == found[0][1][name].value for _, values in found)
        and not any(is_default(case, values[name]) for case, values in found)
    )


def _varying_parts(
    cases: Sequence[Case],
    parameters: Callable[[Case], Options],
    further: frozenset[str] = frozenset(),
) -> dict[int, list[str]]:
    """By case number, words for those parameters that differ between the cases, and for some further ones."""
    kept = _varying(cases, parameters) | further
    values = {case.number: parameters(case) for case in cases}
    names = [name for name in dict.fromkeys(n for own in values.values() for n in own) if name in kept]
    return {
        number: [part for name in names if name in own and (part := _part(own[name]))]
        for number, own in values.items()
    }


def _varying(cases: Sequence[Case], parameters: Callable[[Case], Options]) -> frozenset[str]:
    """Names of the parameters in which cases differ.

    What only an operation needs, or some other option, makes cases without it no different.
    """
    values = [parameters(case) for case in cases]
    names = {name for own in values for name in own}

    def differ(name: str) -> bool:
        needed = name in OF_OPERATION or any(is_needless(case, name) for case in cases)
        having = [own for own in values if name in own] if needed else values
        found = [own[name].value if name in own else None for own in having]
        return len(set(map(_identity, found))) > 1

    return frozenset(filter(differ, names))


def _identity(value: object) -> Hashable:
    """What two values share only if they are the same value of the same type."""
    return (type(value), value) if isinstance(value, str | int | float) else json.dumps(value, sort_keys=True)


def _part(option: Option) -> str:
    """Words for an option in a label; none if it is off, empty or the default."""
    name, value = option.name, option.value
    if value is None or value is False or value in ("", {}, []) or (name in _PER_SECOND and value == 0):
        return ""
    if value is True:
        return name
    text = format_option(option)
    if isinstance(value, dict):
        return text
    if name in _PHRASES:
        return _PHRASES[name].format(text)
    return text if isinstance(value, str) and value not in _BARE else f"{name} {text}"


def _constants(cases: Sequence[Case], series: dict[int, str]) -> list[tuple[str, str]]:
    """The parameters of all cases: the most requested ones first, then every option that is no default."""
    asked: dict[str, Callable[[Case], str]] = {
        "interface": lambda case: series[case.number],
        "pattern": lambda case: str(case.pattern.get("name", "")),
        "tree": lambda case: str(case.tree.get("name", "")),
        "transfer": lambda case: "" if case.transfer_bytes is None else format_bytes(case.transfer_bytes),
        "block": lambda case: "" if case.is_metadata else _asked(case.shape_options, "block"),
        "clients": lambda case: str(case.clients),
        "sharing": lambda case: _asked(case.common_options, "sharing"),
        "order": lambda case: case.order,
        "sync": _sync,
    }
    found = {name: {get(case) for case in cases} for name, get in asked.items()}
    first = [(name, min(values)) for name, values in found.items() if len(values) == 1 and values != {""}]
    # An option that a single interface has in all its series is shown here alone.
    if len(found["interface"]) > 1 and len({case.interface_name for case in cases}) == 1:
        shared = _common_interface(cases)
        first = [("interface", shared), *first] if shared != cases[0].interface_name else first
    return [*first, *_chosen_options(cases, frozenset(asked))]


def _asked(options: Options, name: str) -> str:
    """The value of an option; empty where a case has none."""
    return format_option(options[name]) if name in options and options[name].value is not None else ""


def _sync(case: Case) -> str:
    """When written data is made persistent: a rate of writing means nothing without it."""
    return _asked(case.common_options, "sync") if _WRITES & set(case.operations) else ""


def _chosen_options(cases: Sequence[Case], said: frozenset[str]) -> list[tuple[str, str]]:
    """The options of patterns or trees and of cases that are the same throughout and no defaults.

    With several patterns, an option goes with the name of its pattern.
    """
    patterns = _by(cases, lambda case: case.shape_name)
    options = [
        (name if len(patterns) == 1 else f"{pattern} {name}", one)
        for pattern, same in patterns.items()
        for name, one in same[0].shape_options.items()
        if name in _chosen(same, _shape) and (name not in said or len(patterns) > 1)
    ]
    shared = _chosen(cases, _common) - said
    common = {name: one for case in reversed(cases) for name, one in _common(case).items()}
    options += [(name, one) for name, one in common.items() if name in shared]
    return [(label.replace("_", " "), format_option(one)) for label, one in options]
