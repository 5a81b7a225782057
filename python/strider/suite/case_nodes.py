"""The nodes that the cases of a plan need, and the refusal of a run that has fewer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strider.suite.load import Suite
from strider.suite.mistakes import Mistakes, Place
from strider.suite.placement import RankPlacement, groups_of
from strider.suite.plan import Plan, PlannedCase


@dataclass(frozen=True)
class CaseNodes:
    """The nodes that a case needs, together with the groups that run beside it.

    Attributes:
        case: The case.
        groups: The placements of earlier groups, and of the case at the end.
        nodes: Number of nodes.
        width: Ranks on the node with the most.
    """

    case: PlannedCase
    groups: Sequence[RankPlacement]
    nodes: int
    width: int


def case_nodes(plan: Plan) -> list[CaseNodes]:
    """Returns the needs of the cases that name nodes or ranks per node; none where nodes are simulated."""
    if plan.ranks_per_node:
        return []
    found = []
    for case in plan.cases:
        groups = groups_of(case)
        if any(one.width for one in groups):
            width = sum(one.width or one.clients for one in groups)
            found.append(CaseNodes(case, groups, max(one.fewest_nodes for one in groups), width))
    return found


def require_nodes(suite: Suite, there: int, whose: str, remedy: str) -> None:
    """Refuses a run whose nodes are too few for a case.

    Args:
        suite: The suite.
        there: Number of nodes of the run.
        whose: What says so, such as `--nodes 2`.
        remedy: How to get more; `{nodes}` stands for the number needed.

    Raises:
        SuiteError: A case needs more; a line for each value in the suite that asks for them.
    """

    def reason(need: CaseNodes) -> str | None:
        if need.nodes <= there:
            return None
        more = remedy.format(nodes=need.nodes)
        return f"needs {_counted(need.nodes, 'node')}, but the run has {there} ({whose}): {more}"

    _refuse(suite, "nodes", reason)


def require_width(suite: Suite, there: int) -> None:
    """Refuses a run with fewer ranks on each node than a case needs on one.

    Args:
        suite: The suite.
        there: Ranks on each node, of `--per-node`.

    Raises:
        SuiteError: A case needs more; a line for each value in the suite that asks for them.
    """

    def reason(need: CaseNodes) -> str | None:
        if need.width <= there:
            return None
        ranks = f"{_counted(need.width, 'rank')} on a node"
        return f"needs {ranks}, but --per-node {there} starts {there}: raise --per-node to {need.width}"

    _refuse(suite, "per_node", reason)


def _refuse(suite: Suite, key: str, reason: Callable[[CaseNodes], str | None]) -> None:
    """Refuses a run for what `reason` gives for a case, with the key at fault."""
    refusals = Refusals(suite)
    for need in case_nodes(suite.plan):
        if (said := reason(need)) is not None:
            refusals.add(need, key, said)
    refusals.raise_if_any()


class Refusals:
    """Reasons why a run cannot have a case, each with the key at fault and where it stands.

    Args:
        suite: The suite; without origins, as that of a resumed run, the case alone is named.
    """

    def __init__(self, suite: Suite) -> None:
        self._document = suite.document
        self._origins = {
            case.case: origin for case, origin in zip(suite.plan.cases, suite.origins, strict=False)
        }
        self._mistakes = Mistakes()
        self._said: set[tuple[Place, str]] = set()

    def add(self, need: CaseNodes, key: str, reason: str) -> None:
        """Adds a reason for a case; of several with the same value at the same place, the first.

        Args:
            need: The needs of the case.
            key: The key at fault, if the case has it.
            reason: The required nodes, the available ones, and a remedy.
        """
        case = need.case
        named = next((one for one in (key, "nodes", "per_node") if case.get(one)), "group")
        origin = self._origins.get(case.case)
        path = (origin.keys.get(named) or origin.case) if origin else None
        place = self._document.value(path) if path else Place(0, self._document.name)
        value = f"{named} = {case.get(named)}"
        if (place, value) not in self._said:
            self._said.add((place, value))
            self._mistakes.add(place, f"{value}: case {case.case} {reason}, or change {named}")

    def raise_if_any(self) -> None:
        """Raises `SuiteError` if there is a reason."""
        self._mistakes.raise_if_any()


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
