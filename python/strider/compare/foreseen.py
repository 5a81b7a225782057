"""What makes two sides incomparable and is known before anything is measured: their plans and targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from strider.compare.work import Item, Match, items, match
from strider.statistics.exceeding import is_in_memory, is_through_target
from strider.store.case import Case

#: Begins the reason of rows that have a similar operation on the other side.
DIFFERENT_WORK = "different work: "
VERIFIED_DIFFERENTLY = "verified differently: "


@dataclass(frozen=True)
class Planned:
    """A side before its first run.

    Attributes:
        label: `A` or `B`.
        cases: All cases of its plan.
        file_system: Type of the target's file system; empty where unknown.
    """

    label: str
    cases: Sequence[Case]
    file_system: str


@dataclass(frozen=True)
class Foreseen:
    """An operation of two sides and why it cannot be compared; empty if nothing is known against it."""

    item: Item
    reason: str


def foresee(base: Planned, other: Planned) -> list[Foreseen]:
    """Returns each operation of two sides with the reason why it cannot be compared, if there is one."""
    return [
        Foreseen(one.item, obstacle(one, (base.label, other.label), (base.file_system, other.file_system)))
        for one in match(items(base.cases), items(other.cases))
    ]


def obstacle(match: Match, labels: tuple[str, str], file_systems: tuple[str, str]) -> str:
    """Returns why two operations cannot be compared, from their work and their targets; empty if they can.

    Args:
        match: The operations.
        labels: Names of the sides, the base first.
        file_systems: Types of the file systems of their targets.
    """
    if match.base is None or match.other is None:
        return f"only in {labels[0] if match.base else labels[1]}"
    if match.differences:
        return f"{DIFFERENT_WORK}{match.differences}"
    pair = (match.base, match.other)
    verified = [item.case.common_parameters.get("verify") or "off" for item in pair]
    if verified[0] != verified[1]:
        return f"{VERIFIED_DIFFERENTLY}{verified[0]} and {verified[1]}"
    if not all(is_through_target(item.case) for item in pair):
        return ""
    kinds = [is_in_memory(kind) for kind in file_systems]
    if kinds[0] == kinds[1]:
        return ""
    memory, storage = labels if kinds[0] else (labels[1], labels[0])
    return f"{memory} in memory, {storage} on storage"
