"""IOR's command lines give IOR's offsets.

Expected values are computed here from the formulas of the manual, and not with the importer's means: transfer
j of task r in segment i is at i·N·b + r·b + j·t of a shared file, at i·b + j·t of a task's own file; a task
reads as if it were the one Q nodes further (-C).
"""

import itertools
import shlex
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from strider.engine import Engine
from strider.importers import Imported
from strider.importers.ior import Surroundings, read_command
from strider.suite import CheckedPlan

K, M = 1 << 10, 1 << 20
PlanOf = Callable[[Imported], CheckedPlan]
Transfers = list[tuple[int, int]]
"""Offset and length of each transfer, in issue order."""


@dataclass(frozen=True)
class Line:
    """A command line, and its transfers by the manual.

    Attributes:
        arguments: IOR's arguments.
        tasks: Tasks that MPI starts.
        t: Transfer size.
        b: Block size.
        s: Segments.
        own: Whether each task has a file of its own.
        shift: Tasks by which reading is shifted.
        n: Tasks that take part.
        per_node: Tasks on a node.
        operations: Operations to look at.
    """

    arguments: str
    tasks: int
    t: int = 256 * K
    b: int = M
    s: int = 1
    own: bool = False
    shift: int = 0
    n: int = 0
    per_node: int | None = None
    operations: tuple[str, ...] = ("write", "read")

    def transfers(self, task: int, operation: str) -> Transfers:
        n = self.n or self.tasks
        r = (task + self.shift) % n if operation == "read" else task
        return [
            ((i * self.b if self.own else i * n * self.b + r * self.b) + j * self.t, self.t)
            for i in range(self.s)
            for j in range(self.b // self.t)
        ]

    def file(self, task: int, operation: str) -> int:
        n = self.n or self.tasks
        return ((task + self.shift) % n if operation == "read" else task) if self.own else 0


LINES = [
    Line("", 1),
    Line("-w -r", 4),
    Line("-a POSIX -b 1m -t 64k -s 4 -o /tmp/f", 4, t=64 * K, s=4),
    Line("-a MPIIO -c -b 4m -t 1m -s 2", 3, t=M, b=4 * M, s=2),
    Line("-F -b 512k -t 128k -s 3", 2, t=128 * K, b=512 * K, s=3, own=True),
    Line("-t 47008 -b 47008 -s 25 -w", 4, t=47008, b=47008, s=25, operations=("write",)),
    Line("-C -b 256k -t 64k", 4, t=64 * K, b=256 * K, shift=2, per_node=2),
    Line("-C -Q 2 -b 256k", 3, b=256 * K, shift=2, per_node=1),
    Line("-C -F -b 256k -s 2", 4, b=256 * K, s=2, own=True, shift=1, per_node=1),
    Line("-C", 4, shift=0),
    Line(
        "-O transferSize=64k,blockSize=256k,segmentCount=3,filePerProc=1",
        2,
        t=64 * K,
        b=256 * K,
        s=3,
        own=True,
    ),
    Line("-O TRANSFERSIZE=1M -b2m", 2, t=M, b=2 * M),
    Line("-N 2 -b 1M -s 2", 4, s=2, n=2),
    Line("-wrFe -b2m -t=128k", 3, t=128 * K, b=2 * M, own=True),
    Line("-C -Q 2 -O numTasksOnNode0=2 -s 2", 6, s=2, shift=4),
    Line("-C -Q 1 -O numNodes=3", 6, shift=2),
    Line("-w -E -k -b 8 -t 8 -s 100", 2, t=8, b=8, s=100, operations=("rewrite",)),
    Line("-D 30 -i 3 -e -b 1g -t 256m", 2, t=256 * M, b=1024 * M),
]


def transfers_of(engine: Engine, plan: CheckedPlan, task: int, operation: str) -> tuple[int, Transfers]:
    """Number of the file, and the transfers of a task."""
    first, _, *rows = engine.extents(plan.suite.plan.to_json(), 1, task, operation)
    words = first.split()
    cells = [row.split(",") for row in rows]
    return int(words[words.index("file") + 1].rpartition(".")[2]), [(int(c[2]), int(c[4])) for c in cells]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.arguments or "defaults")
def test_each_task_moves_what_the_manual_says_in_the_order_it_says(
    line: Line, engine: Engine, plan_of: PlanOf
) -> None:
    plan = plan_of(read_command(shlex.split(line.arguments), Surroundings(line.tasks, line.per_node)))
    assert plan.suite.plan.cases[0].clients == (line.n or line.tasks)
    for operation in line.operations:
        for task in range(line.n or line.tasks):
            file, moved = transfers_of(engine, plan, task, operation)
            assert moved == line.transfers(task, operation), (operation, task)
            assert file == line.file(task, operation)


def test_random_offsets_in_own_files_are_those_of_the_blocks_in_another_order(
    engine: Engine, plan_of: PlanOf
) -> None:
    line = Line("-z -F -b 1m -t 32k -s 2", 2, t=32 * K, s=2, own=True)
    plan = plan_of(read_command(shlex.split(line.arguments), Surroundings(2)))
    for task in range(2):
        _, moved = transfers_of(engine, plan, task, "write")
        assert sorted(moved) == line.transfers(task, "write")
        assert moved != line.transfers(task, "write")


def test_random_offsets_in_a_shared_file_deal_each_transfer_to_one_task(
    engine: Engine, plan_of: PlanOf
) -> None:
    plan = plan_of(read_command(shlex.split("-z -b 1m -t 64k -s 3"), Surroundings(4)))
    own = [transfers_of(engine, plan, task, "write")[1] for task in range(4)]
    whole = [(k * 64 * K, 64 * K) for k in range(4 * 3 * M // (64 * K))]
    assert sorted(itertools.chain(*own)) == whole
    blocks = Line("", 4, t=64 * K, s=3)
    assert sorted(own[0]) != sorted(blocks.transfers(0, "write")), "not the task's own blocks, but any"


def test_the_seed_of_random_offsets_decides_their_order(engine: Engine, plan_of: PlanOf) -> None:
    def order(seed: int) -> Transfers:
        words = shlex.split(f"-z -F -b 1m -t 16k --random-offset-seed={seed}")
        return transfers_of(engine, plan_of(read_command(words, Surroundings(1))), 0, "write")[1]

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_random_tasks_read_each_task_once(engine: Engine, plan_of: PlanOf) -> None:
    line = Line("-Z -X 7 -b 256k -t 64k", 5, t=64 * K, b=256 * K)
    plan = plan_of(read_command(shlex.split(line.arguments), Surroundings(5)))
    read = [transfers_of(engine, plan, task, "read")[1] for task in range(5)]
    written = [line.transfers(task, "write") for task in range(5)]
    assert sorted(read) == sorted(written)
    assert read != written
