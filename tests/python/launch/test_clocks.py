"""Sentences on clocks of nodes that differ."""

import pytest

from strider.launch.clocks import clock_note
from strider.launch.nodes import run_clock_note


@pytest.mark.parametrize(
    ("offsets", "said"),
    [
        ([], ""),
        ([0.0], ""),
        ([0.0, 0.9, -0.9], ""),
        ([0.0, 5.0], "the clocks of n0 and n1 differ by 5.0 s; times of day"),
        ([0.0, 5.0, 0.1, 0.0], "the clock of n1 is +5.0 s off that of the others; "),
        ([0.0, -30.0, -30.1, -30.0], "the clock of n0 is +30.0 s off that of the others; "),
        (
            [0.0, 2.0, 0.0, -3.0, 0.0],
            "2 clocks are off those of the other 3 nodes: n1 (+2.0 s), n3 (-3.0 s); ",
        ),
        ([0.0, 0.0, 5.0, 5.0], "the clocks of n0 and n2 differ by 5.0 s; "),
    ],
)
def test_the_odd_clock_is_named(offsets: list[float], said: str) -> None:
    found = clock_note([(f"n{number}", off_s) for number, off_s in enumerate(offsets)])
    assert found.startswith(said)
    assert bool(found) == bool(said)


def test_many_wrong_clocks_are_one_short_line() -> None:
    """The first of 10 000 nodes is wrong, and so are a hundred others."""
    one = clock_note([("n0", 0.0), *((f"n{number}", -7.0) for number in range(1, 10_000))])
    assert one.startswith("the clock of n0 is +7.0 s off")
    several = clock_note([(f"n{number}", 5.0 if number % 100 == 0 else 0.0) for number in range(10_000)])
    assert several.startswith(
        "100 clocks are off those of the other 9900 nodes: n0 (+5.0 s), n100 (+5.0 s), "
    )
    assert "n700 (+5.0 s) and 92 more; " in several
    assert len(several) < 400


def test_nodes_without_names_are_numbered() -> None:
    nodes = [{"name": "", "time_of_day_offset_s": off_s} for off_s in (0.0, 0.0, 4.0)]
    assert run_clock_note({"event": "run", "nodes": nodes}).startswith("the clock of node 2 is +4.0 s off")
    assert run_clock_note({"event": "run"}) == ""
    assert run_clock_note({"event": "end"}) == ""
