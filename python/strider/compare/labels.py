"""Differences between the rows of a comparison, and their common parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strider.compare.work import Item
from strider.report.labels.facets import Facets, joined
from strider.report.words.numbers import NOTHING
from strider.units import format_bytes

#: The label that a key of a suite is shown in, if it has one of its own.
_LABEL_OF_KEY = {"interface": "interface", "transfer": "transfer", "clients": "clients"}


@dataclass(frozen=True)
class Labels:
    """Labels of the operations of some cases, also of several runs.

    Attributes:
        constants: Name and value of the parameters that all of them share.
        hidden: The label of the compared key, which would mislead; empty if there is none.
    """

    facets: Facets
    numbers: Mapping[int, int]
    constants: Sequence[tuple[str, str]]
    hidden: str

    @classmethod
    def of(cls, found: Sequence[Item], without: str = "") -> Labels:
        """Finds out what varies.

        Args:
            found: Operations of cases; numbers of cases of several runs may collide.
            without: A key of a suite that is not shown, because it is compared.
        """
        cases = {id(item.case): item.case for item in found}
        numbers = {key: number for number, key in enumerate(cases, start=1)}
        own = [case.model_copy(update={"number": numbers[key]}) for key, case in cases.items()]
        of_data = [case for case in own if not case.is_metadata]
        of_metadata = [case for case in own if case.is_metadata]
        facets = joined(Facets.of(of_data), Facets.of(of_metadata))
        constants = [] if of_data and of_metadata else facets.constants
        shown = [(name, value) for name, value in constants if name != without]
        return cls(facets, numbers, shown, _LABEL_OF_KEY.get(without, ""))

    def of_item(self, item: Item) -> dict[str, str]:
        """The labels of one operation."""
        number, case = self.numbers[id(item.case)], item.case
        labels = {
            "pattern": self.facets.group[number],
            "operation": item.operation,
            "interface": self.facets.series[number],
            "transfer": NOTHING if case.transfer_bytes is None else format_bytes(case.transfer_bytes),
            "clients": str(case.clients),
        }
        return {name: text for name, text in labels.items() if name != self.hidden}
