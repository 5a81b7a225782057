"""Nodes that read what other nodes wrote, in cases with `readback = "shift"`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from strider.store.case import Case
from strider.store.model import Run
from strider.store.tables import query

_NODES = """
SELECT "case", rank, min(node) AS node FROM ranks
WHERE operation = 'write' AND "case" IN ({cases}) GROUP BY "case", rank ORDER BY "case", rank
"""


@dataclass(frozen=True)
class ReadElsewhere:
    """The nodes of a case that read, and those that wrote the data.

    Attributes:
        case: The case.
        writers: By number of a reading node, in their order, the numbers of the nodes that wrote.
    """

    case: Case
    writers: dict[int, tuple[int, ...]]


def read_elsewhere(run: Run) -> list[ReadElsewhere]:
    """Returns the cases in which a node reads what another one wrote.

    Only of cases that write the data themselves, and whose events have a row for each rank.
    """
    chosen = {case.number: case for case in run.cases.values() if _reads_back(case)}
    if not chosen or not run.start or len(run.start.nodes) < 2:
        return []
    nodes: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for row in query([run.directory], _NODES.format(cases=", ".join(map(str, chosen)))):
        nodes[row["case"]][row["rank"]] = row["node"]
    found = [ReadElsewhere(chosen[number], _writers(chosen[number], own)) for number, own in nodes.items()]
    return [one for one in found if any(set(writers) - {node} for node, writers in one.writers.items())]


def _reads_back(case: Case) -> bool:
    own = case.common_parameters
    reads = {"read", "reread"} & set(case.operations)
    return own.get("readback") == "shift" and case.operations[0] == "write" and bool(reads)


def _writers(case: Case, nodes: dict[int, int]) -> dict[int, tuple[int, ...]]:
    """Returns the nodes that wrote; empty if a rank has no row."""
    if len(nodes) != case.clients:
        return {}
    shift = int(case.common_parameters.get("shift") or 1)
    found: defaultdict[int, set[int]] = defaultdict(set)
    for rank, node in nodes.items():
        found[node].add(nodes[(rank + shift) % case.clients])
    return {node: tuple(sorted(found[node])) for node in sorted(found)}
