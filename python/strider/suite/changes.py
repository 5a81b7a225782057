"""Changes made on the command line: `--set case.transfer=1MiB,4MiB`, `--target DIR`, `-n 2,4`."""

import tomllib
from dataclasses import dataclass, field

from strider.engine import Json
from strider.suite import zips
from strider.suite.document import Document
from strider.suite.mistakes import Mistakes, Place, unknown
from strider.suite.vocabulary import SHAPE_KEYS, SUITE_PARAMETERS, Selection, Vocabulary, Workload
from strider.text import shortened


@dataclass(frozen=True)
class Changes:
    """Changes that the command line makes in a suite.

    Attributes:
        settings: Texts of `--set`: `suite.KEY=VALUE` or `case.KEY=VALUE`; commas separate several values.
        target: Directory of `--target`, or None.
        clients: Numbers of clients of `-n`, or None.
        nodes: Nodes of the run of `--nodes`, or None.
        per_node: Ranks on each of them of `--per-node`, or None.
        simulated_ranks: Ranks of `--simulate`, or None: the clients of cases whose nodes give no number.
    """

    settings: list[str] = field(default_factory=list)
    target: str | None = None
    clients: str | None = None
    nodes: int | None = None
    per_node: int | None = None
    simulated_ranks: int | None = None


@dataclass(frozen=True)
class _Setting:
    option: str
    table: str
    key: tuple[str, ...]
    value: Json
    cases: frozenset[int] | None = None
    """Indices of the cases that it changes; None: all to which it applies."""

    def is_for(self, index: int) -> bool:
        """Returns whether it changes a case."""
        return self.cases is None or index in self.cases


def apply(document: Document, vocabulary: Vocabulary, changes: Changes, mistakes: Mistakes) -> None:
    """Applies the changes to the document, in all matching cases."""
    settings = [_read(text, mistakes) for text in changes.settings]
    if changes.target is not None:
        settings.append(_Setting(f"--target {changes.target}", "suite", ("target",), changes.target))
    if changes.clients is not None:
        settings.append(_Setting(f"-n {changes.clients}", "case", ("clients",), _value(changes.clients)))
    # The other keys depend on the interface and the pattern or tree, so these come first.
    first = {("interface",), *((key,) for key in SHAPE_KEYS)}
    known = [setting for setting in settings if setting is not None]
    known += _of_nodes(document, changes, known) or _of_simulated_ranks(document, changes, known)
    zipped = {
        index: _change_zip(document, index, table, known, mistakes) for index, table in document.cases()
    }
    for setting in sorted(known, key=lambda s: s.key not in first):
        if setting.table == "suite":
            _set_in_suite(document, vocabulary, setting, mistakes)
        else:
            _set_in_cases(document, vocabulary, setting, zipped, mistakes)


def _of_nodes(document: Document, changes: Changes, typed: list[_Setting]) -> list[_Setting]:
    """Returns what `--nodes` and `--per-node` together give to cases without clients on the command line.

    A case that names no nodes has as many clients as the run has ranks. A case that names only its nodes, or
    only its ranks on each, has the other number. All other cases have their own.
    """
    given = {setting.key[0] for setting in typed if setting.table == "case"}
    if changes.nodes is None or changes.per_node is None or "clients" in given:
        return []
    values = {
        "clients": changes.nodes * changes.per_node,
        "nodes": changes.nodes,
        "per_node": changes.per_node,
    }
    option = f"--nodes {changes.nodes} --per-node {changes.per_node}"
    cases: dict[str, list[int]] = {key: [] for key in values}
    for index, table in document.cases():
        if key := _open_key(document.data.get("suite"), table, given):
            cases[key].append(index)
    return [
        _Setting(option, "case", (key,), values[key], frozenset(own)) for key, own in cases.items() if own
    ]


def _of_simulated_ranks(document: Document, changes: Changes, typed: list[_Setting]) -> list[_Setting]:
    """Returns what `--simulate` gives to cases without clients on the command line: as many as it has ranks.

    A case with both nodes and ranks on each keeps its own number, which they determine.
    """
    given = {setting.key[0] for setting in typed if setting.table == "case"}
    if changes.simulated_ranks is None or "clients" in given:
        return []
    own = frozenset(
        index
        for index, table in document.cases()
        if not {"nodes", "per_node"} <= _named(document.data.get("suite"), table, given)
    )
    option = f"--simulate {changes.simulated_ranks}"
    return [_Setting(option, "case", ("clients",), changes.simulated_ranks, own)] if own else []


def _named(suite: Json, table: dict[str, Json], given: set[str]) -> set[str]:
    """Returns which of the keys of clients and nodes a case has."""
    defaults = suite if isinstance(suite, dict) else {}
    return {
        key
        for key in ("clients", "nodes", "per_node")
        if key in given or key in zips.lists_of(table) or table.get(key, defaults.get(key, 0)) != 0
    }


def _open_key(suite: Json, table: dict[str, Json], given: set[str]) -> str:
    """Returns the key that the nodes of the run give to a case; empty if the case has its own numbers."""
    named = _named(suite, table, given)
    placed = named - {"clients"}
    if not placed:
        return "clients"
    if len(placed) == 2 or "clients" in named:
        return ""
    return "per_node" if "nodes" in placed else "nodes"


def _change_zip(
    document: Document, index: int, table: dict[str, Json], settings: list[_Setting], mistakes: Mistakes
) -> set[str]:
    """Changes the `zip` of a case, all of its keys together; returns the keys that were given."""
    lists = zips.lists_of(table)
    own = [setting for setting in settings if setting.table == "case" and setting.is_for(index)]
    given = {".".join(setting.key): setting for setting in own if ".".join(setting.key) in lists}
    if not given:
        return set()
    try:
        new = zips.changed(lists, {name: setting.value for name, setting in given.items()})
    except ValueError as error:
        last = list(given.values())[-1]
        mistakes.add(Place(0, last.option), str(error))
        return set(given)
    for name, values in new.items():
        *outer, key = name.split(".")
        inner = table["zip"][outer[0]] if outer else table["zip"]
        inner[key] = values
    for setting in given.values():
        document.changed[("case", index, "zip", *setting.key)] = setting.option
    return set(given)


def selection(table: dict[str, Json], vocabulary: Vocabulary) -> Selection:
    """Returns the interfaces and patterns or trees of a case, also those in its `zip`."""
    named = [key for key in SHAPE_KEYS if _names(table, key)]
    workload = vocabulary.workload(named[0] if named else "pattern")
    interfaces, shapes = _names(table, "interface"), _names(table, workload.key)
    known_interfaces = [name for name in interfaces if name in vocabulary.interfaces]
    known_shapes = [name for name in shapes if name in workload.shapes]
    unknown_names = len(known_interfaces) < len(interfaces) or len(known_shapes) < len(shapes)
    doubtful = unknown_names or not interfaces or len(named) != 1
    return Selection(workload, known_interfaces, known_shapes, doubtful)


def _names(table: dict[str, Json], key: str) -> list[str]:
    """Names that a case gives for `interface`, `pattern` or `tree`, as typed."""
    zipped = table.get("zip")
    value = table.get(key, zipped.get(key, []) if isinstance(zipped, dict) else [])
    return [str(name) for name in (value if isinstance(value, list) else [value])]


def _read(text: str, mistakes: Mistakes) -> _Setting | None:
    """Splits a `--set` argument."""
    name, equals, value = text.partition("=")
    table, *key = [part.strip() for part in name.split(".")]
    option = f"--set {shortened(text)}"
    place = Place(0, option)
    if not equals or not value.strip():
        mistakes.add(place, "a value is missing: write for example --set case.transfer=1MiB,4MiB")
    elif table not in ("suite", "case") or not key or not all(key):
        mistakes.add(place, f'the key must start with "suite." or "case.": did you mean case.{name.strip()}?')
    else:
        return _Setting(option, table, tuple(key), _value(value))
    return None


def _value(text: str) -> Json:
    """Parses a TOML value with optional quotes around strings and brackets around lists."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # also a number of thousands of digits
        parts = [part.strip() for part in text.split(",")]
        return parts[0] if len(parts) == 1 else [_value(part) for part in parts]


def _set_in_suite(document: Document, vocabulary: Vocabulary, setting: _Setting, mistakes: Mistakes) -> None:
    known = [*SUITE_PARAMETERS, *vocabulary.common_keys()]
    if setting.key[0] not in known:
        mistakes.add(Place(0, setting.option), unknown("key", setting.key[0], known))
        return
    table = document.data.setdefault("suite", {})
    if isinstance(table, dict):
        _put(document, table, ("suite",), setting)


def _set_in_cases(
    document: Document,
    vocabulary: Vocabulary,
    setting: _Setting,
    zipped: dict[int, set[str]],
    mistakes: Mistakes,
) -> None:
    problem = _unknown_case_key(vocabulary, setting.key)
    if problem:
        mistakes.add(Place(0, setting.option), problem)
        return
    applied = 0
    for index, table in document.cases():
        if not setting.is_for(index):
            continue
        if ".".join(setting.key) in zipped[index]:
            _drop_orphans(table, vocabulary, setting.key[0])
            applied += 1
        elif _applies(setting.key, setting.value, selection(table, vocabulary), vocabulary):
            _put(document, table, ("case", index), setting)
            _drop_orphans(table, vocabulary, setting.key[0])
            applied += 1
    if not applied and document.cases():
        key = ".".join(setting.key)
        word = _owner(setting.key[0], vocabulary).key
        mistakes.add(
            Place(0, setting.option),
            f'"{key}" does not apply to any interface or {word} in the suite\'s cases',
        )


def _owner(name: str, vocabulary: Vocabulary) -> Workload:
    """Returns the kind of case of a key: data, unless it belongs only to metadata."""
    in_data = name in vocabulary.data.common or vocabulary.data.shapes_with(name) or name == "pattern"
    in_metadata = name in vocabulary.metadata.common or vocabulary.metadata.shapes_with(name)
    return vocabulary.metadata if name == "tree" or (in_metadata and not in_data) else vocabulary.data


def _unknown_case_key(vocabulary: Vocabulary, key: tuple[str, ...]) -> str | None:
    name = key[0]
    if name in vocabulary.interfaces:
        options = [p.name for p in vocabulary.interfaces[name].parameters]
        if len(key) == 1:
            return f"name an option of {name}: {', '.join(options)}"
        return None if key[1] in options else unknown(f"option of {name}", key[1], options)
    known = [key for key in vocabulary.case_keys() if key not in vocabulary.interfaces and key != "zip"]
    return None if name in known else unknown("key", name, [*known, *vocabulary.interfaces])


def _applies(key: tuple[str, ...], value: Json, used: Selection, vocabulary: Vocabulary) -> bool:
    name = key[0]
    if name in vocabulary.interfaces:
        return name in used.interfaces
    if name in SHAPE_KEYS:
        return name == used.workload.key or not used.shapes
    if name == "operations":
        return _fits(value, used.workload, vocabulary)
    if name in used.workload.common or name in ("name", "interface"):
        return True
    return any(used.workload.shape_parameter(shape, name) for shape in used.shapes)


def _fits(operations: Json, workload: Workload, vocabulary: Vocabulary) -> bool:
    """Whether some operations are of a kind of case; an unknown operation is, so that it is named there."""
    typed = operations if isinstance(operations, list) else [operations]
    names = [name for part in typed for name in (part if isinstance(part, list) else [part])]
    kinds = [kind for kind in vocabulary.workloads if any(name in kind.operations for name in names)]
    return workload in kinds or not kinds


def _put(document: Document, table: dict[str, Json], path: tuple[str | int, ...], setting: _Setting) -> None:
    for part in setting.key[:-1]:
        inner = table.get(part)
        table[part] = table = inner if isinstance(inner, dict) else {}
    table[setting.key[-1]] = setting.value
    document.changed[(*path, *setting.key)] = setting.option


def _remove_from_zip(table: dict[str, Json], key: tuple[str, ...]) -> None:
    """Removes a key, or all options of an interface, from a `zip`."""
    zipped = table.get("zip")
    if not isinstance(zipped, dict):
        return
    name = ".".join(key)
    inner = zipped.get(key[0])
    if len(key) > 1 and isinstance(inner, dict):
        inner.pop(key[1], None)
    gone = [other for other in zipped if other == name or other.startswith(f"{name}.") or zipped[other] == {}]
    for other in gone:
        del zipped[other]
    if not zipped:
        del table["zip"]


def _drop_orphans(table: dict[str, Json], vocabulary: Vocabulary, changed: str) -> None:
    """Removes keys of other interfaces, patterns or trees when the command line selects one."""
    used = selection(table, vocabulary)
    zipped = table.get("zip")
    names = [name.partition(".")[0] for name in [*table, *(zipped if isinstance(zipped, dict) else ())]]
    if changed == "interface" and used.interfaces:
        orphans = [name for name in names if name in vocabulary.interfaces and name not in used.interfaces]
    elif changed == used.workload.key and used.shapes:
        of_shapes = [name for name in names if used.workload.shapes_with(name)]
        orphans = [name for name in of_shapes if not _applies((name,), None, used, vocabulary)]
    else:
        return
    for name in orphans:
        table.pop(name, None)
        _remove_from_zip(table, (name,))
