"""Groups of ranks: their cases alone, and at the same time as those of other groups (docs/suites.md)."""

import itertools
import math
import re
from collections.abc import Sequence

from strider.engine import Json
from strider.suite.document import Document
from strider.suite.expand import MOST_CASES, Origin
from strider.suite.mistakes import Mistakes, Place
from strider.suite.plan import PlannedCase
from strider.suite.values import show
from strider.suite.vocabulary import SUITE_NAME, Vocabulary

_FIXED = ("placement", "nodes", "per_node")
"""Parameters that the cases of a group have alike, so that it has the same ranks in all of them."""
_ROUNDS = ("repetitions", "warmup")
"""Parameters that the cases of all groups have alike, so that they have equally many turns."""

_Cases = list[tuple[PlannedCase, Origin]]


def grouped(
    cases: Sequence[tuple[PlannedCase, Origin]],
    vocabulary: Vocabulary,
    document: Document,
    mistakes: Mistakes,
) -> _Cases:
    """Adds the turns of groups: each case of a group alone, then all combinations of one case of each group.

    Args:
        cases: The cases and where they stand.
        vocabulary: The parameters.
        document: The suite file.
        mistakes: Where groups that cannot run at the same time are noted.
    """
    groups: dict[str, _Cases] = {}
    for case, origin in cases:
        if name := str(case.get("group") or ""):
            groups.setdefault(name, []).append((case, origin))
    if not groups:
        return list(cases)
    found = len(mistakes.found)
    others = [pair for pair in cases if not pair[0].get("group")]
    _check(groups, len(others), document, mistakes)
    if len(mistakes.found) > found:
        return list(cases)
    return _numbered([*others, *_alone(groups), *_together(groups, vocabulary)], len(others))


def _check(groups: dict[str, _Cases], others_count: int, document: Document, mistakes: Mistakes) -> None:
    """Adds a mistake for each key by which groups cannot run at the same time."""

    def place(origin: Origin, key: str) -> Place:
        path = origin.keys.get(key)
        return document.value(path) if path else document.key(origin.case)

    first_group, *other_groups = groups
    first, origin = groups[first_group][0]
    if not other_groups:
        mistakes.add(
            place(origin, "group"),
            f'group: "{first_group}" is the only group: add a [[case]] with another group, or remove the key',
        )
    for name, cases in groups.items():
        if not re.fullmatch(SUITE_NAME, name):
            remedy = "use 1 to 64 letters, digits, dots, hyphens and underscores"
            mistakes.add(place(cases[0][1], "group"), f"group: {show(name)} is no name: {remedy}")
        for case, origin in cases:
            for key in _FIXED:
                if case.get(key) != cases[0][0].get(key):
                    message = f"{key}: the cases of group {name} must be on the same nodes: use one value"
                    mistakes.add(place(origin, key), message)
            for key in _ROUNDS:
                if _value(case, key) != _value(first, key):
                    message = f"{key}: all groups must have equally many repetitions: use one value"
                    mistakes.add(place(origin, key), message)
    sizes = [len(cases) for cases in groups.values()]
    count = math.prod(sizes) * len(groups) + sum(sizes) + others_count
    if count > MOST_CASES:
        message = (
            f"group: with all combinations of the groups there are {count} cases, the limit is "
            f"{MOST_CASES}: shorten the lists"
        )
        mistakes.add(place(origin, "group"), message)


def _value(case: PlannedCase, key: str) -> Json:
    return case.repetitions.model_dump() if key == "repetitions" else case.get(key)


def _alone(groups: dict[str, _Cases]) -> _Cases:
    """The cases of the groups one after the other, on the ranks that they have beside other groups."""
    return [
        (_with(_at_once(case), f"{_name(case)} alone", number=0, earlier=earlier), origin)
        for earlier, cases in zip(_earlier(groups), groups.values(), strict=True)
        for case, origin in cases
    ]


def _together(groups: dict[str, _Cases], vocabulary: Vocabulary) -> _Cases:
    """All combinations of one case of each group, with the number of their turn."""
    words = [_words(cases, vocabulary) for cases in groups.values()]
    sizes = [len(cases) for cases in groups.values()]
    starts = [sum(sizes[:position]) for position in range(len(sizes))]
    found: _Cases = []
    for number, picks in enumerate(itertools.product(*map(range, sizes)), start=1):
        for position, (cases, earlier) in enumerate(zip(groups.values(), _earlier(groups), strict=True)):
            case, origin = cases[picks[position]]
            beside = [words[other][pick] for other, pick in enumerate(picks) if other != position]
            name = f"{_name(case)} beside {' and '.join(beside)}"
            alone = starts[position] + picks[position] + 1
            found.append((_with(case, name, number=number, earlier=earlier, alone=alone), origin))
    return found


def _earlier(groups: dict[str, _Cases]) -> list[list[dict[str, Json]]]:
    """For each group, the ranks of those before it: as many as their widest case has."""
    ranks = [
        {
            "clients": max(case.clients for case, _ in cases),
            **{key: cases[0][0].get(key) for key in _FIXED},
        }
        for cases in groups.values()
    ]
    return [ranks[:position] for position in range(len(ranks))]


def _name(case: PlannedCase) -> str:
    return case.name or str(case.get("group"))


def _words(cases: _Cases, vocabulary: Vocabulary) -> list[str]:
    """What distinguishes each case of a group for its neighbours: its name, and the values that vary."""
    own = [{**_flat(case, vocabulary), "": _name(case)} for case, _ in cases]
    keys = dict.fromkeys(key for one in own for key in one)
    varying = [key for key in keys if any(one.get(key) != own[0].get(key) for one in own)]
    return [
        ", ".join([_name(case), *(f"{key} {values[key]}" for key in varying if key and key in values)])
        for (case, _), values in zip(cases, own, strict=True)
    ]


def _flat(case: PlannedCase, vocabulary: Vocabulary) -> dict[str, str]:
    """The values of a case as a suite would have them, by key."""
    common = {key: case.get(key) for workload in vocabulary.workloads for key in workload.common}
    interface = str(case.interface["name"])
    own = {f"{interface}.{key}": value for key, value in case.interface.items() if key != "name"}
    shape = {
        ("tree" if case.tree else "pattern") if key == "name" else key: value
        for key, value in case.shape.items()
    }
    operations = " ".join(case.operations)
    values = {
        **common,
        "interface": interface,
        **own,
        "clients": case.clients,
        **shape,
        "operations": operations,
    }
    return {key: str(show(value)).strip('"') for key, value in values.items() if value is not None}


def _at_once(case: PlannedCase) -> PlannedCase:
    """The case without the delay after the start of other groups."""
    return case.model_copy(update={"start": 0.0})


def _with(case: PlannedCase, name: str, **turn: Json) -> PlannedCase:
    return case.model_copy(update={"name": name, "turn": turn})


def _numbered(cases: _Cases, before: int) -> _Cases:
    """The cases with new numbers; `before`: how many there are in no group."""
    found: _Cases = []
    for number, (case, origin) in enumerate(cases, start=1):
        updates: dict[str, Json] = {"case": number}
        turn = case.get("turn")
        if isinstance(turn, dict) and turn["number"]:
            updates["turn"] = {**turn, "alone": turn["alone"] + before}
        found.append((case.model_copy(update=updates), origin))
    return found
