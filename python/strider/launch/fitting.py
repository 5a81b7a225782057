"""Fits the places of a run to the nodes that its cases name: each node has ranks for the widest case."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from strider.launch.launchers import LAUNCHERS, Places
from strider.launch.launchers.allocation import allocation
from strider.launch.launchers.mpiexec import knows_hosts
from strider.suite import Plan, Suite
from strider.suite.case_nodes import CaseNodes, Refusals, case_nodes, require_nodes, require_width
from strider.suite.vocabulary import MOST_RANKS

ONE_HOST = (
    "name {nodes} hosts with --hosts or --hostfile, start inside an allocation, or simulate nodes with "
    "--set suite.ranks_per_node=N"
)
"""The remedy of a run on this host alone; `{nodes}` stands for the number needed."""


@dataclass(frozen=True)
class _There:
    """Nodes of a run.

    Attributes:
        nodes: Their number.
        whose: What says so.
        remedy: How to get more; `{nodes}` stands for the number needed.
    """

    nodes: int
    whose: str
    remedy: str


def fitted(suite: Suite, launcher: str, places: Places, *, is_plan: bool = False) -> tuple[Suite, Places]:
    """Returns a suite with the ranks of its run, and the places of these ranks.

    Without cases that name nodes, both are returned as they are. With such cases, the run uses all nodes of
    the command line, or as many as the cases need, and starts on each as many ranks as the widest case has.

    Args:
        suite: The suite.
        launcher: Name of the launcher.
        places: Where the ranks may be, as on the command line.
        is_plan: Whether nothing is to be started: then hosts may still be missing.

    Raises:
        SuiteError: A case needs more nodes, or more ranks on one, than the run has.
    """
    needs = case_nodes(suite.plan)
    if not needs:
        return suite, places
    require_room(suite, launcher, places, is_plan=is_plan)
    chosen = _chosen(needs, suite.plan, launcher, places)
    ranks = max(suite.plan.ranks, _room(chosen))
    if ranks > MOST_RANKS:
        return suite, chosen
    return replace(suite, plan=suite.plan.model_copy(update={"ranks": ranks})), chosen


def require_room(suite: Suite, launcher: str, places: Places, *, is_plan: bool = False) -> None:
    """Refuses places that are too few for a case; see `fitted`.

    Raises:
        SuiteError: There is such a case; the message has a line for each value that asks for too much.
    """
    there = _there(launcher, places, is_plan=is_plan)
    if there:
        require_nodes(suite, there.nodes, there.whose, there.remedy)
    if places.per_node:
        require_width(suite, places.per_node)
    elif any(host.slots for host in places.hosts):
        _require_slots(suite, places)


def _there(launcher: str, places: Places, *, is_plan: bool) -> _There | None:
    """Returns the nodes of a run; None if their number is not known."""
    if places.nodes:
        return _There(places.nodes, f"--nodes {places.nodes}", "raise --nodes to {nodes}")
    if places.hosts:
        count = len(places.hosts)
        whose = f"{count} hosts are named" if count > 1 else "1 host is named"
        return _There(count, whose, "name {nodes} hosts")
    if found := allocation():
        return _There(found.nodes, f"the allocation, {found.variable}", "get an allocation of {nodes} nodes")
    if launcher == "mpiexec" and not knows_hosts() and not is_plan:
        return _There(1, "mpiexec knows this host only", ONE_HOST)
    return None


def _chosen(needs: Sequence[CaseNodes], plan: Plan, launcher: str, places: Places) -> Places:
    """Returns the places with the number of nodes, and of ranks on each, where these are left open."""
    if any(host.slots for host in places.hosts) and not places.per_node:
        return places
    if not places.are_given and not _takes_nodes(launcher):
        return places
    fewest = max(need.nodes for need in needs)
    if places.per_node:
        fewest = max(fewest, -(-plan.ranks // places.per_node))
    nodes = places.nodes or len(places.hosts) or fewest
    width = max(need.width for need in needs)
    return replace(places, nodes=nodes, per_node=places.per_node or max(width, -(-plan.ranks // nodes)))


def _takes_nodes(launcher: str) -> bool:
    """Returns whether a launcher can be given numbers of nodes that no option names."""
    if launcher == "mpiexec":
        return knows_hosts()
    return launcher in LAUNCHERS or "{nodes}" in launcher or "{per_node}" in launcher


def _room(places: Places) -> int:
    """Returns the ranks of all places; 0 where the launcher chooses them."""
    if places.ranks is not None:
        return places.ranks
    return sum(host.slots or 1 for host in places.hosts[: places.nodes])


def _require_slots(suite: Suite, places: Places) -> None:
    """Refuses hosts whose slots are too few for a case that names nodes.

    Raises:
        SuiteError: There is such a case.
    """
    slots = [host.slots or 1 for host in places.hosts[: places.nodes]]
    refusals = Refusals(suite)
    for need in case_nodes(suite.plan):
        own = need.groups[-1]
        used = slots[: own.nodes or len(slots)]
        room = sum(min(count, own.per_node or count) for count in used)
        if len(need.groups) == 1 and room < own.clients:
            refusals.add(
                need,
                "per_node",
                f"has {own.clients} ranks, but the first {len(used)} hosts have slots for {room} of them: "
                "give the hosts more slots, or --per-node",
            )
    refusals.raise_if_any()
