"""How fast each rank or node was beside the median rank of its phase; from the `rank` events of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from strider.statistics.stragglers import SHORT_S
from strider.store.model import Run
from strider.store.tables import query

Unit = Literal["rank", "node"]

_RELATIVE = """
WITH rates AS (
    SELECT r."case", r.repetition, r.operation, r.rank, r.node,
        greatest(r.bytes, r.requests) / nullif(r.end_s - r.start_s, 0) AS rate, s.elapsed_s
    FROM ranks AS r JOIN samples AS s ON s.run = r.run AND s."case" = r."case"
        AND s.repetition = r.repetition AND s.operation = r.operation
    WHERE r.requests > 0 AND s.measured AND s.valid AND NOT s.warmup
), relative AS (
    SELECT *, count(*) OVER phase AS ranks, CASE WHEN count(*) OVER phase = 2
        THEN rate / (sum(rate) OVER phase - rate)
        ELSE rate / -quantile_disc(-rate, 0.5) OVER phase END AS relative
    FROM rates WHERE elapsed_s >= {short}
    WINDOW phase AS (PARTITION BY "case", repetition, operation)
), units AS (
    SELECT "case", operation, repetition, {unit} AS unit, node, median(relative) AS relative,
        min(rank) AS rank
    FROM relative WHERE ranks > 1 GROUP BY ALL
), typical AS (
    SELECT "case", operation, unit, node, rank, median(relative) AS relative
    FROM units GROUP BY "case", operation, unit, node, rank
)
SELECT "case", operation, (unit // {width}) * {width} AS place, min(relative) AS relative,
    arg_min(rank, row(relative, rank)) AS slowest_rank, arg_min(node, row(relative, rank)) AS slowest_node
FROM typical GROUP BY "case", operation, place ORDER BY "case", place
"""


@dataclass(frozen=True)
class RelativeRate:
    """A rank, a node, or the slowest of some neighbours, in an operation of a case.

    Attributes:
        place: Number of the rank or node, of the first of neighbours.
        relative: Its rate ÷ that of the median rank of the same phase, of two ranks ÷ that of the other; the
            median over the repetitions.
        slowest_rank: The rank, of several the slowest, of equally slow ones the first; of a node its first.
        slowest_node: Number of its node.
    """

    case: int
    operation: str
    place: int
    relative: float
    slowest_rank: int
    slowest_node: int


def relative_rates(run: Run, unit: Unit, width: int = 1) -> list[RelativeRate]:
    """The rates of all ranks, or of nodes by their median rank, beside the median.

    Args:
        run: The run.
        unit: The distinguished units.
        width: Number of neighbouring units of which only the slowest is reported.

    Returns:
        By case, operation and place; nothing of phases of less than a tenth of a second, which are ruled by
        when the ranks were scheduled, nor of operations that a case has several times.

    Raises:
        StriderError: The run's events are damaged.
    """
    rows = query([run.directory], _RELATIVE.format(unit=unit, width=width, short=SHORT_S))
    planned = {number: case.operations for number, case in run.cases.items()}
    found = [RelativeRate(**row) for row in rows if planned.get(row["case"], []).count(row["operation"]) == 1]
    return sorted(found, key=lambda one: (one.case, planned[one.case].index(one.operation), one.place))
