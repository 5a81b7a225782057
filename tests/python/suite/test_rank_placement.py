"""The nodes of the cases, as far as a plan knows them."""

import pytest

from strider.engine import Engine
from strider.suite import Changes, Suite, checked
from strider.suite.document import parse
from strider.suite.load import build
from strider.suite.mistakes import SuiteError
from strider.suite.placement import RankPlacement

HEAD = '[suite]\nname = "s"\ntarget = "/data"\n'
CASE = '[[case]]\ninterface = "posix"\npattern = "segmented"\n'


def suite(engine: Engine, keys: str, *settings: str) -> Suite:
    return build(parse(HEAD + CASE + keys, "s.toml"), engine.description, Changes(list(settings)))


def placements(of: Suite) -> list[tuple[int, int, int]]:
    """Nodes, ranks per node and clients of each case."""
    found = [RankPlacement.of(case) for case in of.plan.cases]
    return [(one.nodes, one.per_node, one.clients) for one in found]


def test_clients_are_nodes_times_ranks_on_each(engine: Engine) -> None:
    found = suite(engine, "nodes = [1, 2]\nper_node = [1, 4]")
    assert placements(found) == [(1, 1, 1), (1, 4, 4), (2, 1, 2), (2, 4, 8)]


def test_a_zip_and_the_command_line_set_them_too(engine: Engine) -> None:
    zipped = suite(engine, "[case.zip]\nnodes = [1, 4]\nper_node = [8, 2]")
    assert placements(zipped) == [(1, 8, 8), (4, 2, 8)]
    assert zipped.plan.ranks == 32, "each node has as many ranks as a case needs on one"
    changed = suite(engine, "clients = 4\nplacement = 'pack'", "case.nodes=2,4", "case.placement=spread")
    assert placements(changed) == [(2, 0, 4), (4, 0, 4)]
    assert {case.get("placement") for case in changed.plan.cases} == {"spread"}


def test_a_plan_without_nodes_has_the_ranks_of_the_largest_case(engine: Engine) -> None:
    assert suite(engine, "clients = [2, 6]\nplacement = ['pack', 'spread']").plan.ranks == 6
    assert suite(engine, "clients = 6\nnodes = 4").plan.ranks == 8
    assert suite(engine, "clients = 2\nnodes = 2", "suite.ranks_per_node=4").plan.ranks == 5


def test_ranks_on_each_node_alone_need_a_number_of_clients(engine: Engine) -> None:
    with pytest.raises(
        SuiteError, match=r"s\.toml:7: per_node: the number of clients is not known: add nodes"
    ):
        suite(engine, "per_node = 4")
    assert placements(suite(engine, "clients = 8\nper_node = 4")) == [(0, 4, 8)]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("clients = 5\nnodes = 2\nper_node = 4", "s.toml:7: clients = 5 is not nodes x per_node = 2 x 4"),
        ("clients = 2\nnodes = 3", "s.toml:8: the case is on 3 nodes, but has only 2 clients"),
    ],
)
def test_contradictions_are_named_with_their_line(engine: Engine, keys: str, message: str) -> None:
    contradictory = suite(engine, keys)
    with pytest.raises(SuiteError) as error:
        checked.check(contradictory, engine)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("placement", "ranks_per_node", "fewest"),
    [
        (RankPlacement(5, 0, 0, spreads=False), 4, 1),
        (RankPlacement(5, 0, 0, spreads=True), 4, 2),
        (RankPlacement(5, 2, 0, spreads=False), 0, 2),
        (RankPlacement(6, 0, 4, spreads=False), 0, 2),
        (RankPlacement(6, 0, 4, spreads=True), 0, 3),
        (RankPlacement(6, 3, 2, spreads=False), 0, 2),
        (RankPlacement(6, 0, 0, spreads=False), 0, None),
        (RankPlacement(6, 0, 0, spreads=True), 0, 1),
    ],
)
def test_the_node_with_the_fewest_clients_follows_from_the_placement(
    placement: RankPlacement, ranks_per_node: int, fewest: int | None
) -> None:
    assert placement.fewest(8, ranks_per_node, is_alone=False) == fewest
