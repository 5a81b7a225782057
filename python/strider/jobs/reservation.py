"""What a job reserves: the nodes that its run uses with the same options, as `strider plan` shows them."""

from dataclasses import dataclass, replace

from strider.errors import StriderError
from strider.jobs.options import JobOptions
from strider.launch.fitting import fitted
from strider.launch.launchers import Places
from strider.suite import Suite
from strider.suite.case_nodes import case_nodes, require_nodes
from strider.suite.placement import groups_of

LAUNCHERS = {"slurm": "srun"}
"""Launcher of the ranks within an allocation; `mpiexec` where none is named."""
_ONE_MACHINE = "--executor local is this machine"
_SEVERAL_NODES = "choose a scheduler with --executor, or simulate nodes with --set suite.ranks_per_node=N"


@dataclass(frozen=True)
class Reservation:
    """Places of a job.

    Attributes:
        options: Options of the job, with its nodes and the places on each.
        ranks: Ranks of its run.
        busy: Most ranks that are busy at once.
    """

    options: JobOptions
    ranks: int
    busy: int

    @property
    def note(self) -> str:
        """A sentence on places that stay idle; empty if there are none."""
        nodes, each = self.options.nodes, self.options.per_node
        if self.busy >= nodes * each:
            return ""
        on_each = f"{nodes} {'node' if nodes == 1 else 'nodes'}, {each} on each"
        clients = "1 client" if self.busy == 1 else f"{self.busy} clients"
        return (
            f"the job reserves {nodes * each} places ({on_each}), and at most {clients} of the suite are "
            "busy at once: lower --nodes or --per-node, or raise -n"
        )


def launcher_of(executor: str, typed: str) -> str:
    """Returns the name of the launcher in a job."""
    return typed or LAUNCHERS.get(executor, "mpiexec")


def reserve(suite: Suite, options: JobOptions, places: Places, launcher: str = "") -> Reservation:
    """Returns what a job reserves for a run with these places.

    Args:
        suite: The suite, with the changes of the same places.
        options: What the user asks of the scheduler.
        places: Places of the run, as on the command line.
        launcher: Launcher as typed.

    Raises:
        StriderError: The run would refuse these places, or a process of this machine has several nodes.
    """
    needs = case_nodes(suite.plan)
    if options.executor == "local":
        if needs:
            require_nodes(suite, 1, _ONE_MACHINE, _SEVERAL_NODES)
        if (places.nodes or 1) > 1:
            raise StriderError(f"--nodes {places.nodes}: {_ONE_MACHINE}: {_SEVERAL_NODES}")
    if needs and not places.nodes and not places.hosts:
        nodes = max(need.nodes for need in needs)
        if places.per_node:
            nodes = max(nodes, -(-suite.plan.ranks // places.per_node))
        places = replace(places, nodes=nodes)
    suite, places = fitted(suite, launcher_of(options.executor, launcher), places, is_plan=True)
    ranks = suite.plan.ranks
    places.require_all_used(ranks)
    mapping = places.mapping(ranks)
    chosen = {
        "nodes": places.nodes or mapping.nodes or 1,
        "per_node": places.per_node or mapping.per_node or ranks,
    }
    busy = max(sum(group.clients for group in groups_of(case)) for case in suite.plan.cases)
    return Reservation(options.model_copy(update=chosen), ranks, busy)
