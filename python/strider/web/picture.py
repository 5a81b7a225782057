"""Which rank owns which bytes: the extents of a case as the engine gives them, in a form to be drawn."""

from collections.abc import Iterable
from dataclasses import dataclass

from strider.engine import Engine, Json
from strider.errors import StriderError
from strider.suite import Plan

COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00")
"""Of the ranks, in turn; distinguishable with colour blindness (Okabe and Ito 2008)."""
MOST_RANKS = 8
MOST_REQUESTS = 1000
MOST_EXTENTS = 4000
"""Requests drawn of a rank: the first ones."""
MOST_ITEMS = 6
"""Paths of one rank in a picture of metadata."""


@dataclass(frozen=True)
class Extent:
    """A contiguous piece of a request in the file, in bytes."""

    request: int
    offset: int
    length: int


def read_extents(lines: Iterable[str]) -> tuple[str, list[Extent]]:
    """The comment that names the file, and the extents, of what `strider-engine extents` prints."""
    head, _, *rows = lines
    found = []
    for row in rows:
        request, _, offset, _, length = map(int, row.split(","))
        found.append(Extent(request, offset, length))
    return head.strip(), found


def picture(engine: Engine, plan: Plan, case: int, operation: str | None) -> dict[str, Json]:
    """What to draw of a case.

    Args:
        engine: The engine.
        plan: The plan.
        case: Number of the case, from 1.
        operation: One of the case's; the first one if None.

    Returns:
        Of data: `ranks`, each with its `file`, that file's `size` and `extents` as lists of request, offset
        and length; `whole` is false where a rank has more. Of metadata: `items`, paths by rank.

    Raises:
        StriderError: There is no such case or operation.
    """
    if not 1 <= case <= len(plan.cases):
        raise StriderError(f"the plan has no case {case}")
    planned = plan.cases[case - 1]
    chosen = operation or planned.operations[0]
    if chosen not in planned.operations:
        raise StriderError(f"case {case} has no operation {chosen}")
    # Of the whole plan, only the one case matters; it is asked about once for each rank.
    one = plan.model_copy(update={"cases": [planned.model_copy(update={"case": 1})]}).to_json()
    shown = range(min(planned.clients, MOST_RANKS))
    head = {"case": case, "operation": chosen, "clients": planned.clients, "colours": COLOURS}
    if planned.tree:
        items = [list(engine.items(one, 1, rank, chosen, MOST_ITEMS + 1))[1:] for rank in shown]
        return {**head, "items": [_paths(lines) for lines in items]}
    return {**head, "ranks": [_rank(engine, one, rank, chosen) for rank in shown]}


def _rank(engine: Engine, plan: str, rank: int, operation: str) -> dict[str, Json]:
    head, extents = read_extents(engine.extents(plan, 1, rank, operation, MOST_REQUESTS + 1))
    # `# case 1 rank 2 operation write file case1.0 size 134217728`
    words = head.split()
    file, size = words[words.index("file") + 1], int(words[-1])
    shown = list(dict.fromkeys(one.request for one in extents))
    beyond = set(shown[MOST_REQUESTS:])
    kept = [one for one in extents if one.request not in beyond][:MOST_EXTENTS]
    return {
        "file": file.rpartition(".")[2],
        "size": size,
        "whole": len(kept) == len(extents),
        "extents": [[one.request, one.offset, one.length] for one in kept],
    }


def _paths(lines: list[str]) -> dict[str, Json]:
    paths = [line.strip().partition(",")[2] for line in lines]
    return {"paths": paths[:MOST_ITEMS], "whole": len(paths) <= MOST_ITEMS}
