"""Placement: on which nodes the ranks of a case are, by the events of real runs on simulated nodes."""

import json
from collections import Counter
from pathlib import Path

import pytest

from harness import EngineRun, Json, case, plan, run_engine, tree_case
from strider.engine import Engine
from strider.suite import Changes
from strider.suite.case_ranks import ranks_by_case
from strider.suite.document import parse
from strider.suite.load import build

NODES, PER_NODE = 4, 2
RANKS = NODES * PER_NODE


def small(**keys: Json) -> Json:
    return case("segmented", pattern_transfer=4096, pattern_block=16384, operations=["write", "read"], **keys)


def run(engine: Engine, work: Path, cases: list[Json], *options: str) -> EngineRun:
    """Runs cases with 8 ranks, of which each two are a node."""
    return run_engine(engine, plan(cases, ranks=RANKS, ranks_per_node=PER_NODE), work, options=options)


def nodes_of(done: EngineRun, number: int, operation: str = "write") -> list[int]:
    """The node of each rank of a case, in the order of the case's ranks."""
    rows = done.of("rank", case=number, operation=operation)
    assert [row["rank"] for row in rows] == list(range(len(rows)))
    return [row["node"] for row in rows]


def test_clients_are_seated_as_the_table_of_the_manual_says(engine: Engine, tmp_path: Path) -> None:
    manual = (Path(__file__).parents[2] / "docs" / "suites.md").read_text(encoding="utf-8")
    table = manual.split("| clients | `pack` | `spread` |\n|---|---|---|\n")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    said = [[int(clients), *([int(n) for n in one.split()] for one in nodes)] for clients, *nodes in rows]
    assert [row[0] for row in said] == [1, 2, 4, 8]
    cases = [
        small(clients=clients, placement=placement)
        for clients, _, _ in said
        for placement in ("pack", "spread")
    ]
    done = run(engine, tmp_path, cases)
    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    for index, (_, *expected) in enumerate(said):
        for offset, counts in enumerate(expected):
            number = 2 * index + offset + 1
            found = Counter(nodes_of(done, number))
            assert [found[node] for node in range(NODES)] == counts
            sample = done.sample(case=number, operation="write")
            used = [count for count in counts if count]
            keys = ("clients", "nodes", "ranks_per_node_min", "ranks_per_node_max")
            assert [sample[key] for key in keys] == [sum(used), len(used), min(used), max(used)]


def test_spread_takes_the_nodes_in_turn_and_pack_one_after_the_other(engine: Engine, tmp_path: Path) -> None:
    done = run(
        engine,
        tmp_path,
        [
            small(clients=6, placement="spread"),
            small(clients=6, placement="pack"),
            small(clients=6, nodes=3, per_node=2, placement="spread"),
            small(clients=3, per_node=1),
            small(clients=5, nodes=3),
        ],
    )
    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    assert [nodes_of(done, number) for number in range(1, 6)] == [
        [0, 1, 2, 3, 0, 1],
        [0, 0, 1, 1, 2, 2],
        [0, 1, 2, 0, 1, 2],
        [0, 1, 2],
        [0, 0, 1, 1, 2],
    ]


CASE = 'interface = "posix"\npattern = "segmented"\ntransfer = "4KiB"\nblock = "16KiB"\n'
SEVERAL = """
[suite]
name = "s"
target = "{target}"
ranks_per_node = 3
repetitions = 1
operations = "write"
[[case]]
{case}clients = 14
[[case]]
{case}clients = [5, 7]
placement = ["pack", "spread"]
[[case]]
{case}clients = 5
per_node = [1, 2]
placement = ["pack", "spread"]
[[case]]
{case}clients = [5, 8]
nodes = 3
placement = ["pack", "spread"]
"""
GROUPS = """
[suite]
name = "s"
target = "{target}"
ranks_per_node = 3
repetitions = 1
operations = "write"
[[case]]
{case}group = "a"
clients = 3
placement = "spread"
per_node = 2
[[case]]
{case}group = "b"
clients = [3, 5]
"""


@pytest.mark.parametrize("text", [SEVERAL, GROUPS])
def test_strider_plan_shows_the_seats_that_the_engine_takes(
    engine: Engine, tmp_path: Path, text: str
) -> None:
    planned = build(
        parse(text.format(target=tmp_path, case=CASE), "s.toml"), engine.description, Changes()
    ).plan
    done = run_engine(engine, json.loads(planned.to_json()), tmp_path)
    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    for shown in ranks_by_case(planned):
        node_of = {rank: node.name for node in shown.nodes or () for rank in node.ranks}
        assert [f"n{node}" for node in nodes_of(done, shown.case)] == [
            node_of[rank] for rank in sorted(node_of)
        ]


@pytest.mark.parametrize("placement", ["pack", "spread"])
def test_files_of_nodes_are_written_and_read_back_elsewhere_with_the_right_bytes(
    engine: Engine, tmp_path: Path, placement: str
) -> None:
    shift = 2 if placement == "pack" else 1
    one = small(
        clients=6, placement=placement, sharing="per-node", readback="shift", shift=shift, verify="full"
    )
    tree = tree_case(
        ["create", "small-read", "unlink"],
        tree_items=5,
        tree_file_size=100,
        clients=6,
        placement=placement,
        sharing="per-node",
        readback="shift",
        shift=shift,
        verify="full",
    )
    done = run(engine, tmp_path, [one, tree], "--timeline", "node")
    assert done.returncode == 0, f"{done.stderr}\n{done.of('error')}"
    used = 3 if placement == "pack" else 4
    for operation in ("write", "read"):
        sample = done.sample(case=1, operation=operation)
        assert (sample["files"], sample["nodes"], sample["valid"]) == (used, used, True)
        timelines = done.of("timeline", case=1, operation=operation)
        assert [timeline["node"] for timeline in timelines] == list(range(used))
        assert sum(sum(timeline["bytes"]) for timeline in timelines) == sample["bytes"]
    assert done.sample(case=1, operation="read")["verify"]["checked_bytes"] == 6 * 16384
    assert done.sample(case=2, operation="small-read")["valid"]


def test_a_case_that_needs_more_nodes_than_the_run_has_fails_alone(engine: Engine, tmp_path: Path) -> None:
    # Without ranks_per_node the plan does not know the nodes: this machine is one.
    cases = [small(clients=2, nodes=2), small(clients=2), small(clients=4, per_node=1)]
    done = run_engine(engine, plan(cases, ranks=4), tmp_path)
    assert [(error["case"], error["kind"], error["message"]) for error in done.of("error")] == [
        (1, "plan", "the case needs 2 nodes, but the run has 1"),
        (3, "plan", "the case has 4 clients, but its nodes (1 with at most 1 ranks each) have 1"),
    ]
    assert {sample["case"] for sample in done.of("sample")} == {2}
    first = [event["event"] for event in done.events]
    assert first.index("error") < first.index("case"), "they are named before anything is measured"
    assert done.of("end")[0]["status"] == "complete"
    assert done.returncode != 0


# proves limits: placements
def test_ceilings_are_measured_on_the_nodes_of_each_placement(engine: Engine, tmp_path: Path) -> None:
    cases = [small(clients=2), small(clients=2, placement="spread"), small(clients=2, nodes=2)]
    done = run(engine, tmp_path, cases, "--ceilings", "all")
    found = [
        (event["clients"], event["nodes"], event["ranks_per_node_max"])
        for event in done.of("ceilings", moment="start")
        if event["clients"]
    ]
    assert sorted(found) == [(2, 1, 2), (2, 2, 1)]
