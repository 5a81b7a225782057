"""The graph of folders is found in the sources, and what it says of this tree is so."""

from pathlib import Path

import graph

ROOT = Path(__file__).resolve().parents[2]


def small() -> graph.Graph:
    """Three folders on each other, and two that use each other."""
    made = graph.Graph()
    made.add("top", "1\n", {"middle", "low", "left"})
    made.add("middle", "1\n2\n", {"low"})
    made.add("low", "1\n", {"low"})
    made.add("left", "1\n", {"right"})
    made.add("right", "1\n", {"left"})
    return made


def test_uses_that_lead_back_are_found() -> None:
    assert small().backward() == {("left", "right"), ("right", "left")}


def test_what_is_used_by_way_of_another_is_not_drawn() -> None:
    drawn = small().drawn()
    assert ("top", "middle") in drawn
    assert ("middle", "low") in drawn
    assert ("top", "low") not in drawn


def test_a_folder_stands_above_what_it_uses() -> None:
    depths = small().depths()
    assert depths["top"] < depths["middle"] < depths["low"]


def test_the_picture_shows_every_folder_and_what_leads_back_in_red() -> None:
    svg = graph.picture(small())
    assert all(f">{name}</text>" in svg for name in small().files)
    assert svg.count("#c0392b") == 2


def test_nothing_in_c_plus_plus_leads_back() -> None:
    assert graph.cpp_graph(ROOT).backward() == set()


def test_engine_and_service_meet_in_the_client_alone() -> None:
    uses = graph.cpp_graph(ROOT).uses
    between = {
        (one, other)
        for one in uses
        for other in uses[one]
        if {one.split("/")[0], other.split("/")[0]} == {"engine", "listio"}
    }
    assert between == {("engine/interfaces", "listio/client")}
    assert uses["foundation"] == set()
