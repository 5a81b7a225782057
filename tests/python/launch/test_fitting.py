"""Places of a run and the nodes that its cases name: fitting ones, rejected ones, and the messages."""

from pathlib import Path

import pytest

from strider.engine import Engine
from strider.errors import StriderError
from strider.launch.fitting import fitted
from strider.launch.launchers import Places, places_of
from strider.launch.launchers.allocation import Allocation, allocation
from strider.launch.launchers.mpiexec import HOST_VARIABLES
from strider.suite import Changes, Suite
from strider.suite.document import parse
from strider.suite.load import build

HEAD = '[suite]\nname = "s"\ntarget = "/data"\n'
CASE = '[[case]]\ninterface = "posix"\npattern = "segmented"\n'
AXES = "nodes = [1, 2, 4]\nper_node = [1, 4]"


@pytest.fixture(autouse=True)
def no_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a machine without a scheduler."""
    for variable in (*HOST_VARIABLES, "SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_NODEFILE"):
        monkeypatch.delenv(variable, raising=False)


def suite(engine: Engine, keys: str, places: Places | None = None, *settings: str) -> Suite:
    named = places or Places()
    changes = Changes(list(settings), nodes=named.nodes, per_node=named.per_node)
    return build(parse(HEAD + CASE + keys, "s.toml"), engine.description, changes)


def clients(of: Suite) -> list[int]:
    return [case.clients for case in of.plan.cases]


def test_nodes_of_the_run_leave_the_clients_of_cases_that_name_their_nodes(engine: Engine) -> None:
    places = places_of("a,b,c,d", nodes=4, per_node=8)
    read, chosen = fitted(suite(engine, AXES, places), "mpiexec", places)
    assert clients(read) == [1, 4, 2, 8, 4, 16]
    assert (read.plan.ranks, chosen) == (32, places), "the run has all ranks of the command line"
    chosen.require_all_used(read.plan.ranks)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", [8]),
        ("clients = [1, 2]", [8]),
        ("nodes = [1, 2, 4]", [2, 4, 8]),
        ("per_node = [1, 2]", [4, 8]),
        ("clients = 8\nnodes = [2, 4]", [8, 8]),
        ("[case.zip]\nnodes = [1, 4]\nper_node = [2, 1]", [2, 4]),
    ],
)
def test_nodes_and_ranks_on_each_give_a_case_what_it_leaves_open(
    engine: Engine, keys: str, expected: list[int]
) -> None:
    read = suite(engine, keys, places_of(nodes=4, per_node=2))
    assert clients(read) == expected


def test_nodes_of_the_command_line_count_as_those_of_a_case(engine: Engine) -> None:
    read = suite(engine, "", places_of(nodes=4, per_node=2), "case.nodes=1,2")
    assert clients(read) == [2, 4]


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (places_of("a,b"), "nodes = 4: case 5 needs 4 nodes, but the run has 2 (2 hosts are named): name 4"),
        (
            places_of(nodes=2),
            "nodes = 4: case 5 needs 4 nodes, but the run has 2 (--nodes 2): raise --nodes to 4",
        ),
        (places_of("a,b,c,d", nodes=2), "but the run has 2 (--nodes 2): raise --nodes to 4"),
        (Places(), "but the run has 1 (mpiexec knows this host only): name 4 hosts with --hosts"),
    ],
)
def test_a_case_with_more_nodes_than_the_run_is_named_with_both_numbers(
    engine: Engine, places: Places, message: str
) -> None:
    with pytest.raises(StriderError) as error:
        fitted(suite(engine, AXES), "mpiexec", places)
    assert message in str(error.value)
    assert str(error.value).startswith("s.toml:7: "), "with its line"


def test_a_plan_names_too_few_hosts_and_needs_none(engine: Engine) -> None:
    read = suite(engine, AXES)
    fitted(read, "mpiexec", Places(), is_plan=True)
    with pytest.raises(StriderError, match="case 5 needs 4 nodes"):
        fitted(read, "mpiexec", places_of("a,b"), is_plan=True)


def test_ranks_on_a_node_that_contradict_the_option_are_named_with_key_and_case(
    engine: Engine,
) -> None:
    places = places_of(nodes=4, per_node=2)
    with pytest.raises(StriderError) as error:
        fitted(suite(engine, AXES, places), "srun", places)
    assert str(error.value) == (
        "s.toml:8: per_node = 4: case 2 needs 4 ranks on a node, but --per-node 2 starts 2: raise "
        "--per-node to 4, or change per_node"
    )


def test_the_allocation_limits_the_nodes(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    with pytest.raises(
        StriderError, match=r"case 5 needs 4 nodes, but the run has 2 \(the allocation, SLURM"
    ):
        fitted(suite(engine, AXES), "srun", Places())
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "4")
    assert fitted(suite(engine, AXES), "srun", Places())[1].nodes == 4


@pytest.mark.parametrize(
    ("launcher", "derives"),
    [
        ("srun", True),
        ("flux", True),
        ("mpiexec", False),
        ("aprun -n {ranks}", False),
        ("aprun -n {ranks} -N {per_node}", True),
    ],
)
def test_a_launcher_gets_the_nodes_that_the_cases_need(
    engine: Engine, launcher: str, *, derives: bool
) -> None:
    read, places = fitted(suite(engine, AXES), launcher, Places(), is_plan=True)
    assert (places.nodes, places.per_node) == ((4, 4) if derives else (None, None))
    assert read.plan.ranks == 16


def test_without_placement_nothing_changes(engine: Engine) -> None:
    read = suite(engine, "clients = 6")
    assert fitted(read, "srun", Places()) == (read, Places())


def test_simulated_nodes_need_no_hosts(engine: Engine) -> None:
    read = suite(engine, AXES, None, "suite.ranks_per_node=4")
    assert fitted(read, "mpiexec", Places()) == (read, Places())


def test_hosts_have_ranks_for_the_widest_case_and_slots_are_counted(engine: Engine) -> None:
    read, places = fitted(suite(engine, "nodes = 2\nper_node = 4"), "mpiexec", places_of("a,b,c"))
    assert places.mapping(read.plan.ranks).counts == [4, 4, 4]
    read, places = fitted(suite(engine, "nodes = 2\nper_node = 2"), "mpiexec", places_of("a:2,b:3"))
    assert places.mapping(read.plan.ranks).counts == [2, 3]
    with pytest.raises(StriderError, match="case 1 has 6 ranks, but the first 2 hosts have slots for 5"):
        fitted(suite(engine, "nodes = 2\nper_node = 3"), "mpiexec", places_of("a:2,b:3"))


def test_the_size_of_an_allocation_is_read_as_schedulers_give_it(tmp_path: Path) -> None:
    file = tmp_path / "nodes"
    file.write_text("n1\nn1\nn2\n")
    assert allocation({"SLURM_JOB_NUM_NODES": "3"}) == Allocation(3, "SLURM_JOB_NUM_NODES")
    assert allocation({"PBS_NODEFILE": str(file)}) == Allocation(2, "PBS_NODEFILE")
    assert allocation({"PBS_NODEFILE": str(tmp_path / "missing")}) is None
    assert allocation({"SLURM_JOB_NUM_NODES": "many"}) is None
