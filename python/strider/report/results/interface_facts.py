"""What interfaces said of their files: names and texts of the first client, in a case's first repetition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from strider.statistics import OperationSummary
from strider.store.model import Run


@dataclass(frozen=True)
class InterfaceFacts:
    """The facts of a run; they may be those of a warm-up, which no summary has.

    Attributes:
        found: By case and operation.
    """

    found: Mapping[tuple[int, str], Mapping[str, str]]

    @classmethod
    def of(cls, run: Run) -> InterfaceFacts:
        """The first facts of each operation of each case of a run."""
        found: dict[tuple[int, str], Mapping[str, str]] = {}
        for sample in run.samples:
            if sample.facts:
                found.setdefault((sample.case, sample.operation), sample.facts)
        return cls(found)

    def of_operation(self, summary: OperationSummary) -> Mapping[str, str]:
        """The facts of an operation; none where the interface said nothing."""
        return self.found.get(summary.key, {})

    def count(self, summary: OperationSummary, name: str) -> int | None:
        """A fact that is a whole number; None where there is none of that name."""
        text = self.of_operation(summary).get(name, "")
        return int(text) if text.isdigit() else None
