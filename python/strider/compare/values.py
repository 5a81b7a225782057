"""The values of a key that are compared within a run, such as its interfaces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strider.compare.foreseen import DIFFERENT_WORK
from strider.compare.model import Row
from strider.compare.work import options
from strider.errors import StriderError
from strider.report.labels.facets import OF_MOUNT, Facets, format_option, joined
from strider.store.case import Case, Option
from strider.store.model import Run
from strider.units import format_bytes, in_bytes


@dataclass(frozen=True)
class By:
    """The compared values: a key of a suite, and the values as typed, the base first; none for all."""

    key: str
    wanted: Sequence[str]

    @classmethod
    def parse(cls, text: str) -> By:
        """Reads `interface`, `interface=posix,mpiio`, or `posix.direct=no,yes`.

        Raises:
            StriderError: There is no key, or just one value.
        """
        key, _, values = text.partition("=")
        wanted = [value.strip() for value in values.split(",")] if values.strip() else []
        if not key.strip() or len(wanted) == 1:
            raise StriderError(
                f'cannot compare by "{text}": write a key, for example interface, or a key with two or '
                "more values, the base first, for example interface=posix,mpiio"
            )
        return cls(key.strip(), wanted)

    def is_compared(self, key: str) -> bool:
        """Whether a key of a case is compared; with the interface go its parameters and its mount."""
        return key == self.key or (self.key == "interface" and ("." in key or key in OF_MOUNT))


@dataclass(frozen=True)
class Value:
    """One value of the key and the cases that have it."""

    label: str
    raw: object
    cases: Sequence[Case]


def several_of(run: Run) -> list[str]:
    """Returns the keys of the suite that have several values in a run."""
    return [key for key in _keys(run) if len(_all_values(run, key)) > 1]


def values_of(run: Run, by: By) -> list[Value]:
    """The values that are to be compared, the base first: as typed, else in the order of the plan.

    Raises:
        StriderError: The key has fewer than two values in this run, or not the named ones.
    """
    found = _all_values(run, by.key)
    if len(found) < 2:
        several = several_of(run)
        what = f"only one value, {found[0].label}" if found else "no value"
        remedy = f"keys with several values: {', '.join(several)}" if several else "no key has several values"
        raise StriderError(f'cannot compare by "{by.key}": it has {what} in run {run.id}; {remedy}')
    return [_wanted(text, by.key, found) for text in by.wanted] or found


def same_work_remedy(values: Sequence[Value], key: str, rows: Sequence[Row]) -> str:
    """Returns how to measure the same work with each value, where other keys vary with it; empty else.

    Args:
        values: The compared values.
        key: The key that has them.
        rows: Their rows.
    """
    pairs = [
        (options(row.base.case), options(row.other.case))
        for row in rows
        if row.base and row.other and row.reason.startswith(DIFFERENT_WORK)
    ]
    varied: dict[str, set[Any]] = {}
    for first, second in pairs:
        for name in first:
            both = [one[name].value for one in (first, second) if name in one]
            if name != key and len(both) == 2 and both[0] != both[1] and all(map(_is_number, both)):
                varied.setdefault(name, set()).update(both)
    if not varied:
        return ""
    kinds = pairs[0][0]
    each = ",".join(_typed(value.raw, kinds.get(key)) for value in values)
    fixed = [f"--set case.{name}={_typed(min(found), kinds[name])}" for name, found in varied.items()]
    return (
        f"{', '.join(varied)} differs as well. To compare by {key}, measure the same work with each value: "
        f"strider run SUITE --set case.{key}={each} {' '.join(fixed)}"
    )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _typed(value: object, option: Option | None) -> str:
    """Returns a value as typed after `--set`."""
    if option is not None and option.kind == "bytes" and isinstance(value, int):
        return format_bytes(value).replace(" ", "")
    return str(value)


def _keys(run: Run) -> list[str]:
    return list(dict.fromkeys(key for case in run.cases.values() for key in options(case)))


def _all_values(run: Run, key: str) -> list[Value]:
    cases = list(run.cases.values())
    series = _series(cases) if key == "interface" else {}
    by_label: defaultdict[str, list[Case]] = defaultdict(list)
    raw: dict[str, object] = {}
    for case in cases:
        own = options(case).get(key)
        if own is not None:
            label = series[case.number] if key == "interface" else format_option(own) or "none"
            by_label[label].append(case)
            raw[label] = own.value
    return [Value(label, raw[label], own_cases) for label, own_cases in by_label.items()]


def _series(cases: Sequence[Case]) -> dict[int, str]:
    """The interface of each case by number, with what varies of it."""
    return joined(
        Facets.of([case for case in cases if not case.is_metadata]),
        Facets.of([case for case in cases if case.is_metadata]),
    ).series


def _wanted(text: str, key: str, found: Sequence[Value]) -> Value:
    """The value that a text means: its label, its size, or what only one label begins with."""
    same = [value for value in found if value.label == text or _is_size(text, value.raw)]
    near = same or [value for value in found if value.label.split(" ")[0] == text]
    if len(near) == 1:
        return near[0]
    labels = ", ".join(value.label for value in near or found)
    problem = f'"{text}" matches several values of "{key}"' if near else f'"{key}" has no value "{text}"'
    raise StriderError(f"{problem}: choose one of {labels}")


def _is_size(text: str, raw: object) -> bool:
    return isinstance(raw, int) and not isinstance(raw, bool) and in_bytes(text) == raw
