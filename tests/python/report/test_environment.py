"""The environment of a run: the processors of its nodes."""

from pathlib import Path

import pytest

from builders import CaseSpec
from comparison_builders import run_of
from strider.report.sections.environment import environment_rows
from strider.store.model import Node

KEYS = ("processors of each node", "NUMA nodes of each node", "processors that a rank may use")
BOUND = Node(name="n1", ranks=2, cpus=64, numa_nodes=2, affinity_cpus_min=1, affinity_cpus_max=1)
FREE = Node(name="n2", ranks=2, cpus=64, numa_nodes=2, affinity_cpus_min=64, affinity_cpus_max=64)
UNKNOWN = Node(name="n3", ranks=2)


@pytest.mark.parametrize(
    ("nodes", "values"),
    [
        ([BOUND], ("64", "2", "1")),
        ([BOUND, FREE], ("64", "2", "1 to 64")),
        ([BOUND, UNKNOWN], (None, None, None)),
    ],
    ids=["alike", "different", "not recorded"],
)
def test_processors_are_shown_where_all_nodes_have_them(
    nodes: list[Node], values: tuple[str | None, ...], tmp_path: Path
) -> None:
    run = run_of(tmp_path, [CaseSpec(operations=("write",))])
    assert run.start
    rows = environment_rows(run.model_copy(update={"start": run.start.model_copy(update={"nodes": nodes})}))
    assert tuple(dict(rows).get(key) for key in KEYS) == values
