"""Checks of a case as a whole: metadata operations of its interface, keys that exclude each other."""

from collections.abc import Iterator

from strider.suite.document import Document
from strider.suite.expand import Origin
from strider.suite.mistakes import Mistakes, Place, suggestion
from strider.suite.plan import PlannedCase
from strider.suite.vocabulary import Vocabulary

MIX = "mix"
"""The operation that draws others by the weights of the key of the same name."""


def check_metadata(
    cases: list[tuple[PlannedCase, Origin]], vocabulary: Vocabulary, document: Document, mistakes: Mistakes
) -> None:
    """Adds mistakes for unsupported metadata operations and for empty mixes."""
    for case, origin in cases:
        if not case.tree:
            continue
        for key, message in _objections(case, vocabulary):
            path = origin.keys.get(key)
            place: Place = document.value(path) if path else document.key(origin.case)
            mistakes.add(place, message)


def check_keys(cases: list[tuple[PlannedCase, Origin]], document: Document, mistakes: Mistakes) -> None:
    """Adds a mistake for each written key that has no meaning beside another one of its case."""
    for case, origin in cases:
        if case.get("runtime") and case.get("wear_out") and (path := origin.keys.get("wear_out")):
            mistakes.add(
                document.value(path),
                "wear_out: runtime gives every rank the same time, so no rank catches up: remove wear_out = "
                "true, or use deadline instead of runtime",
            )
        if case.get("per_node") and not case.get("nodes") and "clients" not in origin.keys:
            mistakes.add(
                document.value(origin.keys["per_node"]),
                "per_node: the number of clients is not known: add nodes (clients = nodes x per_node), or "
                "clients",
            )


def _objections(case: PlannedCase, vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """The key at fault and a message for everything that a case of metadata cannot do."""
    interface = str(case.interface["name"])
    offered = vocabulary.interfaces[interface].metadata
    if not offered:
        able = [name for name, other in vocabulary.interfaces.items() if other.metadata]
        remedy = f"choose one of {', '.join(able)}" if able else "no interface of this engine supports it"
        yield "interface", f"interface {interface} does not support operations on a tree: {remedy}"
        return
    mix = case.get(MIX) or {}
    drawn = mix if MIX in case.operations else {}
    for key, names in (("operations", case.operations), (MIX, drawn)):
        for name in names:
            if name not in offered:
                remedy = suggestion(name, offered)
                yield key, f'{key}: interface {interface} does not support "{name}" on a tree: {remedy}'
    if MIX in case.operations and not mix:
        example = "mix = { stat = 60, small-read = 25, create = 10, unlink = 5 }"
        yield "operations", f'operations: "{MIX}" needs weights: add for example {example}'
