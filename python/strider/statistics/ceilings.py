"""What parts of the machine reached by themselves, looked up for a case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strider.store.model import Ceiling, CeilingReport, Run

#: Names of ceilings of clients together; the last one is of requests, the others of MiB.
MEMORY_COPY, GENERATION, VERIFICATION = "memory_copy", "data_generation", "verification"
NULL_REQUESTS = "null_requests"


@dataclass(frozen=True)
class Ceilings:
    """The ceilings of a run.

    Where one was measured at the start and at the end, the higher figure is taken: a rate that is reported
    near a ceiling then is near both.

    Attributes:
        by_clients: By number of clients and of their nodes (0: not recorded), and by name.
        by_node: By node and name.
        reports: As they were measured.
    """

    by_clients: Mapping[tuple[int, int], Mapping[str, Ceiling]]
    by_node: Mapping[int, Mapping[str, Ceiling]]
    reports: Sequence[CeilingReport]

    @classmethod
    def of(cls, run: Run) -> Ceilings:
        """Those of a run; empty ones where none were measured."""
        clients = {_place(report) for report in run.ceilings if report.clients is not None}
        nodes = {report.node for report in run.ceilings if report.node is not None}
        return cls(
            {
                place: _highest(one for one in run.ceilings if _place(one) == place)
                for place in sorted(clients)
            },
            {node: _highest(one for one in run.ceilings if one.node == node) for node in sorted(nodes)},
            run.ceilings,
        )

    def of_clients(self, name: str, clients: int, nodes: int | None = None) -> float | None:
        """What so many clients reached together; of a number that was not measured, the next larger one.

        Args:
            name: Name of the ceiling.
            clients: Number of clients.
            nodes: Number of their nodes; None, or one that was not measured: the number that reached most.
        """
        counts = sorted({count for count, _ in self.by_clients})
        nearest = next((count for count in counts if count >= clients), counts[-1] if counts else None)
        own = self.by_clients.get((nearest, nodes or 0)) if nearest is not None else None
        sets = [own] if own else [found for (count, _), found in self.by_clients.items() if count == nearest]
        values = [found[name].value for found in sets if name in found]
        return max((value for value in values if value is not None), default=None)

    def of_nodes(self, name: str, nodes: int) -> float | None:
        """The sum over the first nodes; None unless it is known of all of them."""
        found = [own.get(name) for _, own in sorted(self.by_node.items())[:nodes]]
        values = [one.value for one in found if one is not None and one.value is not None]
        return sum(values) if values and len(values) == len(found) else None


def _place(report: CeilingReport) -> tuple[int, int]:
    return report.clients or 0, report.nodes or 0


def _highest(reports: Iterable[CeilingReport]) -> dict[str, Ceiling]:
    found: dict[str, Ceiling] = {}
    for ceiling in (one for report in reports for one in report.ceilings):
        known = found.get(ceiling.name)
        if known is None or (ceiling.value or 0.0) > (known.value or 0.0):
            found[ceiling.name] = ceiling
    return found
