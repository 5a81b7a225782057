"""Checks the resources that a suite names against a policy.

On the command line the user may name any host and file; the engine checks their form. A suite submitted from
the web page may name only places that the owner of the server allows: files and directories below some
directories, and listed resources.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from strider.engine import NAMED_PLACES, Json, Parameter
from strider.errors import StriderError
from strider.own_files import only_owner_can_write
from strider.suite.load import Suite
from strider.suite.mistakes import Mistakes
from strider.suite.plan import PlannedCase
from strider.suite.vocabulary import Vocabulary
from strider.text import forbidden, shortened

LOCAL = ("file", "config", "directory")
"""Kinds of resources in the file systems of this machine."""
PLACES = ("port", *NAMED_PLACES)


@dataclass(frozen=True)
class Policy:
    """Policy for the resources that a suite may name.

    Attributes:
        directories: Directories that a suite may name with all below them, resolved.
        places: Values that a key may have beside its default, such as `("gfapi.server", "io1")`.
        vocabulary: Which keys name places.
    """

    directories: tuple[Path, ...]
    places: frozenset[tuple[str, str]]
    vocabulary: Vocabulary


@dataclass(frozen=True)
class Named:
    """A resource that a case names.

    Attributes:
        key: The key, such as `gfapi.server`, or `mpiio.hints.NAME` within a table of hints.
        origin: The key that stands in the suite.
        kind: Kind of the place.
        value: Its value as a text.
    """

    key: str
    origin: str
    kind: str
    value: str


def check(suite: Suite, policy: Policy) -> None:
    """Refuses a suite that names a place which its policy does not allow; nothing is opened.

    The target itself is not judged here: without one a suite may be looked at, but not run.

    Raises:
        SuiteError: It names some; the message names the line, the reason and the remedy.
    """
    mistakes = Mistakes()
    for case, origin in zip(suite.plan.cases, suite.origins, strict=True):
        for named in named_by(case, policy.vocabulary):
            reason = objection(named, policy)
            if reason:
                path = origin.keys.get(named.origin)
                place = suite.document.value(path) if path else suite.document.key(origin.case)
                mistakes.add(place, f'{named.key}: "{shortened(named.value)}" {reason}')
    mistakes.raise_if_any()


def named_by(case: PlannedCase, vocabulary: Vocabulary) -> Iterator[Named]:
    """The places that a case names; defaults are none."""
    interface = str(case.interface["name"])
    described = vocabulary.interfaces[interface].parameters
    yield from _named(described, case.interface, f"{interface}.")
    workload = vocabulary.metadata if case.tree else vocabulary.data
    yield from _named(workload.shapes[str(case.shape["name"])].parameters, case.shape, "")
    yield from _named(list(workload.common.values()), case.model_extra or {}, "")


def _named(parameters: list[Parameter], values: dict[str, Json], prefix: str) -> Iterator[Named]:
    for parameter in parameters:
        value = values.get(parameter.name, parameter.default)
        key = f"{prefix}{parameter.name}"
        if value is None or value == parameter.default:
            continue
        if parameter.kind in PLACES:
            yield Named(key, key, parameter.kind, str(value))
        elif parameter.kind == "map":
            yield from (
                Named(f"{key}.{name}", key, "directory", text)
                for name, text in value.items()
                if _is_path(name, text)
            )


def _is_path(name: str, text: str) -> bool:
    """Whether a hint names a file or a directory, such as ROMIO's e10_cache_path and nc_burst_buf_dirname."""
    return (
        "/" in text or text.startswith("~") or name.endswith(("path", "dir", "dirname", "file", "filename"))
    )


def objection(named: Named, policy: Policy) -> str:
    """Returns why a suite may not name a resource, and a remedy; empty if it may."""
    if (named.key, named.value) in policy.places:
        return ""
    remedy = f"start strider serve with --allow-place {named.key}={shortened(named.value)}"
    if named.kind not in LOCAL:
        return f"is not permitted on this page: remove {named.key}, or {remedy}"
    resolved = resolve(named.value)
    if resolved is None:
        return "cannot be resolved: name an existing path"
    if not any(resolved.is_relative_to(directory) for directory in policy.directories):
        names = ", ".join(map(str, policy.directories))
        return f"is outside the permitted directories: choose one in {names}, or {remedy}"
    if named.kind == "config" and not _is_trusted(resolved):
        return (
            "belongs to another user, who could redirect the run to another server: use your own file, "
            f"or {remedy}"
        )
    return ""


def resolve(path: str) -> Path | None:
    """Where a path leads, links and `..` followed; None where that is unknown."""
    if not path or forbidden(path) or path.startswith("~"):
        return None
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _is_trusted(file: Path) -> bool:
    """Whether a file is of this user or of root, and no other one can write to it."""
    try:
        status = file.stat()
    except OSError:
        return True  # the engine reports missing files
    return only_owner_can_write(status)


def listed(typed: list[str], vocabulary: Vocabulary) -> frozenset[tuple[str, str]]:
    """The places of `--allow-place KEY=VALUE`.

    Raises:
        StriderError: One is not of that form, or its key names no places.
    """
    keys = set(_keys(vocabulary))
    found = set()
    for text in typed:
        key, equals, value = text.partition("=")
        known = key in keys or key.rpartition(".")[0] in keys
        if not equals or not value or not known:
            raise StriderError(
                f"--allow-place {shortened(text)}: write KEY=VALUE with a key that names a place, such as "
                f"gfapi.server=io1: {', '.join(sorted(keys))}"
            )
        found.add((key, value))
    return frozenset(found)


def _keys(vocabulary: Vocabulary) -> Iterator[str]:
    """All keys that name places; those of hints without the hint's name."""
    for name, interface in vocabulary.interfaces.items():
        yield from (f"{name}.{one.name}" for one in interface.parameters if one.kind in (*PLACES, "map"))
    for workload in vocabulary.workloads:
        for shape in workload.shapes.values():
            yield from (one.name for one in shape.parameters if one.kind in PLACES)
        yield from (one.name for one in workload.common.values() if one.kind in PLACES)
