"""Adds to the cases of a plan what their data sets hold, and refuses those that cannot be used."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from strider.datasets.folder import find
from strider.datasets.marker import NAME_RULE, Marker, is_name
from strider.datasets.trees import BEGINNING, LOOKING, KeptTree
from strider.engine import Json
from strider.errors import StriderError
from strider.suite import PlannedCase, Suite
from strider.suite.mistakes import Mistakes, Place
from strider.text import shortened

KEY, MANIFEST = "dataset", "manifest"
_KEPT = "kept"
"""Key of the manifest of files that stay under a user's names, which are no data set of the target."""
_WRITING = ("write", "rewrite")
_TREES = "tree."
"""Beginning of the names of trees."""


def bind(suite: Suite, target: Path | None = None) -> Suite:
    """Returns the suite with the manifest of its data set in each case that has one.

    Args:
        suite: The suite.
        target: The directory with the data sets; None for the suite's target.

    Raises:
        SuiteError: A data set does not exist, is in use, or was left by a process that was killed; the
            message has the line of the suite.
    """
    names = require_names(suite)
    if not names:
        return suite
    place = target or Path(suite.plan.target).expanduser().absolute()
    mistakes = Mistakes()
    manifests = {name: _manifest(suite, name, place, mistakes) for name in names}
    mistakes.raise_if_any()
    cases, made = [], set[str]()
    for case in suite.plan.cases:
        name = str(case.get(KEY, ""))
        if not name or is_of_user(case):
            cases.append(case)
            continue
        manifest = {**manifests[name], **({"made_before": True} if name in made else {})}
        if _makes(case):
            made.add(name)
        cases.append(case.model_copy(update={MANIFEST: manifest}))
    return replace(suite, plan=suite.plan.model_copy(update={"cases": cases}))


def changes_since(cases: Sequence[PlannedCase], target: Path) -> list[str]:
    """Returns why the cases of an earlier plan cannot continue with their data sets; empty if they can.

    They can if they only read, and each set is the one of the plan, with the same content.

    Args:
        cases: The cases, with the manifests of their sets.
        target: The directory with the data sets.
    """
    found = []
    for name in names_of(cases):
        users = [case for case in cases if case.get(KEY) == name]
        if is_of_user(users[0]):
            found.append(f"case {users[0].case} uses files that stay: repeat the command")
            continue
        writer = next((case for case in users if writes(case)), None)
        if writer is not None:
            found.append(f"case {writer.case} writes the data set {name}, which a cut may leave half written")
            continue
        reason = _change(users[0].get(MANIFEST) or {}, target, name)
        found += [f"the data set {name} {reason}"] if reason else []
    return found


def _change(planned: dict[str, Json], target: Path, name: str) -> str:
    """Returns the differences between a data set and the plan; empty if there are none."""
    try:
        marker = find(target, name)
    except StriderError as error:
        return f"cannot be read: {error.message}"
    if marker is None:
        return f"is not in {target} any more"
    if planned.get("whole"):
        return "was being verified: repeat strider data verify"
    objection = _objection(marker)
    if objection:
        return objection
    now = marker.manifest()
    if now.get("id") != planned.get("id"):
        return f"is another one than that of the run: made by run {marker.made.run} at {marker.made.at}"
    if any(now[key] != planned.get(key) for key in now):
        written = marker.written or marker.made
        return (
            f"has changed: generation {planned.get('generation')} then, {marker.generation} now, written by "
            f"run {written.run} at {written.at}"
        )
    return ""


def names_of(cases: Sequence[PlannedCase]) -> list[str]:
    """Returns the names of the data sets of some cases, each once."""
    return list(dict.fromkeys(name for case in cases if (name := str(case.get(KEY, "")))))


def require_names(suite: Suite) -> list[str]:
    """Returns the names of the data sets of a suite, without files of a user; they become names of folders.

    Raises:
        SuiteError: One is no name.
    """
    mistakes = Mistakes()
    names = names_of([case for case in suite.plan.cases if not is_of_user(case)])
    for name in names:
        if not is_name(name):
            first = next(each for each, case in enumerate(suite.plan.cases) if case.get(KEY) == name)
            mistakes.add(_place(suite, first), f'dataset: "{shortened(name)}" is not a name: {NAME_RULE}')
    mistakes.raise_if_any()
    return names


def is_of_user(case: PlannedCase) -> bool:
    """Returns whether the files of a case are a user's, under the user's names (`strider.kept`)."""
    return _KEPT in (case.get(MANIFEST) or {})


def writes(case: PlannedCase) -> int:
    """Returns the number of phases of a case that write its files, at most."""
    in_repetition = sum(_changes(case, operation) for operation in case.operations)
    return in_repetition * (int(case.get("warmup", 0)) + case.repetitions.max)


def _changes(case: PlannedCase, operation: str) -> bool:
    return operation not in LOOKING if case.tree else operation in _WRITING


def _makes(case: PlannedCase) -> bool:
    first = case.operations[0]
    return first in BEGINNING if case.tree else first == "write"


def _manifest(suite: Suite, name: str, target: Path, mistakes: Mistakes) -> dict[str, Json]:
    """Returns the plan's description of a data set; notes why it cannot be used."""
    users = [each for each, case in enumerate(suite.plan.cases) if case.get(KEY) == name]
    first = _place(suite, users[0])
    for user in users:
        _check_shape(suite, users[0], user, name, mistakes)
    if (
        suite.plan.cases[users[0]].tree
        and suite.plan.interleave != "none"
        and _is_changed_between(suite, users)
    ):
        mistakes.add(
            first,
            f'dataset: cases change the tree of "{name}" for others, but the cases alternate in random '
            'order: add interleave = "none" to [suite]',
        )
    found = find(target, name)
    if found is not None:
        for user in users:
            _check_fit(suite, user, found, mistakes)
        objection = _objection(found)
        if objection:
            mistakes.add(first, f'dataset: "{name}" {objection}')
        return found.manifest()
    is_tree = bool(suite.plan.cases[users[0]].tree)
    if not _makes(suite.plan.cases[users[0]]):
        mistakes.add(
            first,
            f'dataset: {target} has no data set "{name}": make it with strider data make {name} --target '
            f'{target}, or begin the operations of this case with "{"create" if is_tree else "write"}"',
        )
    elif not is_tree and len(users) > 1 and suite.plan.interleave != "none":
        mistakes.add(
            first,
            f'dataset: "{name}" is made by the first of {len(users)} cases, but the cases alternate in '
            'random order: add interleave = "none" to [suite]',
        )
    own = {"id": secrets.token_hex(16), "seed": secrets.randbits(63)}
    return {**own, "prefix": _TREES} if is_tree else own


def _is_changed_between(suite: Suite, users: Sequence[int]) -> bool:
    cases = [suite.plan.cases[user] for user in users]
    return len(cases) > 1 and any(writes(case) for case in cases)


def _check_shape(suite: Suite, maker: int, user: int, name: str, mistakes: Mistakes) -> None:
    """Notes where cases of one plan do not fit the first one, whose set it is."""
    first, case = suite.plan.cases[maker], suite.plan.cases[user]
    if bool(first.tree) != bool(case.tree):
        mistakes.add(
            _place(suite, user),
            f'dataset: "{name}" is used by cases with a pattern and by cases with a tree: give each '
            "its own set",
        )
    elif case.tree:
        kept = KeptTree.of_case(first.tree, first.clients, first.get("sharing"), first.get("order"))
        _note_misfit(suite, user, kept, name, mistakes)


def _check_fit(suite: Suite, user: int, found: Marker, mistakes: Mistakes) -> None:
    case = suite.plan.cases[user]
    if bool(found.tree) != bool(case.tree):
        holds, has = ("trees", "a pattern") if found.tree else ("files", "a tree")
        mistakes.add(
            _place(suite, user),
            f'dataset: "{found.name}" holds {holds}, and the case has {has}: use another set',
        )
    elif found.tree:
        _note_misfit(suite, user, found.tree, found.name, mistakes)


def _note_misfit(suite: Suite, user: int, kept: KeptTree, name: str, mistakes: Mistakes) -> None:
    case = suite.plan.cases[user]
    misfit = kept.misfit(case.tree, case.clients, case.get("sharing"))
    if misfit:
        mistakes.add(
            _place(suite, user),
            f'dataset: "{name}" does not fit: {misfit}: use the values of the set, or another set',
        )


def _objection(marker: Marker) -> str:
    """Returns why a run cannot use a data set, and the remedy; empty if it can."""
    active = marker.writer.active() if marker.writer else ""
    if marker.state != "complete" and active:
        return f"is in use: it is in state {marker.state} {active}: wait for its end"
    if marker.state == "making":
        return (
            f"was never completed: {_by(marker)} ended while it made the set: strider data remove "
            f"{marker.name}, and make it again"
        )
    if marker.state == "removing":
        return f"is half removed: complete it with strider data remove {marker.name}"
    return ""


def _by(marker: Marker) -> str:
    return marker.writer.run if marker.writer else marker.made.run


def _place(suite: Suite, position: int) -> Place:
    origin = suite.origins[position]
    path = origin.keys.get(KEY)
    return suite.document.value(path) if path else suite.document.key(origin.case)
