"""The table of placement: the ranks of each case on each node."""

from strider.engine import Engine
from strider.suite import Changes, Suite
from strider.suite.case_ranks import MOST_LINES, WIDTH, has_placement, lines, ranks_by_case
from strider.suite.document import parse
from strider.suite.load import build

HEAD = '[suite]\nname = "s"\ntarget = "/data"\n'
CASE = '[[case]]\ninterface = "posix"\npattern = "segmented"\n'


def suite(engine: Engine, keys: str) -> Suite:
    return build(parse(HEAD + CASE + keys, "s.toml"), engine.description, Changes())


def table(engine: Engine, keys: str, rooms: list[int] | None = None, *names: str) -> list[str]:
    return lines(ranks_by_case(suite(engine, keys).plan, rooms or [], names))[1:]


def test_pack_fills_and_spread_takes_turns(engine: Engine) -> None:
    assert table(engine, "nodes = 2\nper_node = 4") == ["  case 1: n0: 0-3, n1: 4-7"]
    assert table(engine, "nodes = 2\nper_node = 2\nplacement = 'spread'") == ["  case 1: n0: 0 2, n1: 1 3"]
    assert table(engine, "nodes = 3\nclients = 5") == ["  case 1: n0: 0-1, n1: 2-3, n2: 4"]
    assert table(engine, "clients = 1\nnodes = 1") == ["  case 1: n0: 0"]


def test_nodes_of_the_run_have_their_names(engine: Engine) -> None:
    keys = "clients = [2, 4]\nplacement = ['pack', 'spread']"
    assert table(engine, keys, [2, 2], "a1", "a2") == [
        "  case 1: a1: 0-1",
        "  case 2: a1: 0, a2: 1",
        "  case 3: a1: 0-1, a2: 2-3",
        "  case 4: a1: 0 2, a2: 1 3",
    ]


def test_a_plan_without_placement_has_no_table(engine: Engine) -> None:
    assert not has_placement(suite(engine, "clients = 8").plan)
    assert has_placement(suite(engine, "clients = 8\nplacement = 'spread'").plan)
    assert table(engine, "clients = 8\nplacement = 'spread'") == [
        "  case 1: as the launcher places the ranks"
    ]


def test_a_thousand_ranks_fit_into_the_columns_of_a_terminal(engine: Engine) -> None:
    keys = "nodes = [1, 125, 250, 500, 1000]\nclients = 1000\nplacement = ['pack', 'spread']"
    shown = table(engine, keys)
    assert max(map(len, shown)) <= WIDTH
    assert "  cases 1-2: n0: 0-999" in shown
    assert "  case 4: n0: 0 125 … 875, n1: 1 126 … 876, …, n124: 124 249 … 999 (125 nodes)" in shown
    assert "  cases 9-10: n0: 0, n1: 1, n2: 2, n3: 3, n4: 4, …, n999: 999 (1000 nodes)" in shown


def test_many_different_seats_are_cut_and_all_are_kept_on_request(engine: Engine) -> None:
    plan = suite(engine, f"clients = {list(range(1, 31))}\nnodes = 1").plan
    shown = lines(ranks_by_case(plan))
    assert len(shown) == 1 + MOST_LINES + 1
    assert shown[-1] == "  … 18 further lines: strider plan SUITE --seats"
    assert len(lines(ranks_by_case(plan), are_all=True)) == 1 + 30


def test_as_json_each_rank_has_its_node(engine: Engine) -> None:
    found = ranks_by_case(suite(engine, "nodes = 2\nper_node = 2\nplacement = 'spread'").plan)
    assert [one.to_json() for one in found] == [
        {"case": 1, "nodes": [{"node": "n0", "ranks": [0, 2]}, {"node": "n1", "ranks": [1, 3]}]}
    ]
