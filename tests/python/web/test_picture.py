"""Pictures show the engine's accesses, rank by rank."""

from pathlib import Path

import pytest

from strider.engine import Engine, Json
from strider.errors import StriderError
from strider.suite import Plan
from strider.web.checking import checked_plan
from strider.web.picture import MOST_ITEMS, MOST_RANKS, MOST_REQUESTS, picture
from strider.web.site import Site


def plan_of(engine: Engine, case: str) -> Plan:
    text = f'[suite]\nname = "x"\n[[case]]\ninterface = "posix"\n{case}\n'
    return checked_plan(text, Site(engine, Path("/store"), (Path("/"),))).suite.plan


def offsets(drawn: Json, rank: int) -> list[int]:
    return [offset for _, offset, _ in drawn["ranks"][rank]["extents"]]


def test_a_strided_pattern_alternates(engine: Engine) -> None:
    drawn = picture(
        engine, plan_of(engine, 'pattern = "strided"\ntransfer = 10\ncount = 3\nclients = 2'), 1, None
    )
    assert offsets(drawn, 0) == [0, 20, 40]
    assert offsets(drawn, 1) == [10, 30, 50]
    assert [rank["size"] for rank in drawn["ranks"]] == [60, 60]
    assert all(rank["whole"] for rank in drawn["ranks"])


def test_each_rank_has_its_own_file_where_it_has(engine: Engine) -> None:
    case = 'pattern = "segmented"\ntransfer = 10\nblock = 20\nclients = 3\nsharing = "per-rank"'
    assert [rank["file"] for rank in picture(engine, plan_of(engine, case), 1, None)["ranks"]] == [
        "0",
        "1",
        "2",
    ]


def test_reading_what_another_rank_wrote_is_another_picture(engine: Engine) -> None:
    case = 'pattern = "segmented"\ntransfer = 10\nclients = 2\nreadback = "shift"'
    plan = plan_of(engine, case)
    assert (
        offsets(picture(engine, plan, 1, "write"), 0) == offsets(picture(engine, plan, 1, "read"), 1) == [0]
    )


def test_a_random_order_is_drawn_up_to_the_limit(engine: Engine) -> None:
    case = f'pattern = "strided"\ntransfer = 1\ncount = {MOST_REQUESTS + 1}\nclients = {MOST_RANKS + 1}'
    case += '\norder = "random"'
    drawn = picture(engine, plan_of(engine, case), 1, None)
    assert (len(drawn["ranks"]), drawn["clients"]) == (MOST_RANKS, MOST_RANKS + 1)
    assert [len(set(offsets(drawn, rank))) for rank in range(MOST_RANKS)] == [MOST_REQUESTS] * MOST_RANKS
    assert not drawn["ranks"][0]["whole"]


def test_of_metadata_the_first_items_are_shown(engine: Engine) -> None:
    case = f'tree = "balanced"\nitems = {MOST_ITEMS + 1}\noperations = "create"\nclients = 2'
    items = picture(engine, plan_of(engine, case), 1, None)["items"]
    assert [(len(rank["paths"]), rank["whole"]) for rank in items] == [(MOST_ITEMS, False)] * 2
    assert items[0]["paths"] != items[1]["paths"]


@pytest.mark.parametrize(("case", "operation"), [(0, None), (2, None), (1, "reread")])
def test_what_is_not_in_the_plan_has_no_picture(case: int, operation: str | None, engine: Engine) -> None:
    with pytest.raises(StriderError):
        picture(engine, plan_of(engine, 'pattern = "strided"'), case, operation)
