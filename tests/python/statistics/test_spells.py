"""The slow time of a straggler is found from the intervals of its timeline."""

from __future__ import annotations

import json
import random
from pathlib import Path

from builders import CaseSpec, RunBuilder
from strider.statistics.spells import Spell, slow_spell, spell_of
from strider.statistics.stragglers import LastRank
from strider.store import load


def test_a_stall_is_found_among_noise() -> None:
    noise = random.Random(7)
    others = [100.0] * 60
    own = [100 + noise.uniform(-5, 5) for _ in range(60)]
    own[20:31] = [0.0] * 11
    found = spell_of(own + [100.0] * 11, others + [0.0] * 11, 0.1)
    assert found is not None
    assert (2.0 <= found.begin_s < 2.4, 2.7 < found.end_s <= 3.1, found.all_along) == (True, True, False)


# proves measuring: slow-period, slow-period-interval, whole-phase
def test_half_the_speed_is_slow_all_along() -> None:
    found = spell_of([50.0] * 40, [100.0] * 20 + [0.0] * 20, 0.1)
    assert found is not None
    assert found.all_along
    assert found.end_s <= 2.0


# proves measuring: slow-period, slow-period-interval, whole-phase
def test_the_shortest_time_is_reported() -> None:
    own = [0.0, 8.0, 8.0, 0.0, 0.0, 0.0, 0.0, 8.0]
    assert spell_of(own, [8.0] * 8, 0.5) == Spell(1.5, 3.5, all_along=False)


def test_who_was_never_behind_has_no_spell() -> None:
    assert spell_of([9.0] * 10, [8.0] * 10, 0.1) is None


def test_few_intervals_tell_nothing() -> None:
    assert spell_of([0.0] * 4, [8.0] * 4, 0.1) is None


def test_the_timeline_of_several_nodes_together_is_not_that_of_another_node(tmp_path: Path) -> None:
    spec = CaseSpec(operations=("write",), timelines=[[8] * 10, [8] * 10, [8, 8, 0, 0, 0, 8, 8, 8, 8, 8]])
    directory = RunBuilder([spec], repetitions=1).write(tmp_path / "run")
    together = directory / "events.jsonl"
    lines = [json.loads(line) for line in together.read_text(encoding="utf-8").splitlines()]
    timelines = [line for line in lines if line["event"] == "timeline"]
    for number, line in enumerate(timelines):
        line |= {"rank": None, "node": number}
    timelines[0] |= {"node": None, "nodes": 40, "requests": [320] * 10}
    together.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    last = LastRank(
        repetition=0,
        rank=2,
        node="n2",
        node_number=2,
        done_s=1.0,
        lateness=2.0,
        whole_node=True,
        lost=0.3,
    )
    found = slow_spell(load(directory), "write", 1, last)
    assert found is not None
    assert (round(found.begin_s, 9), round(found.end_s, 9), found.all_along) == (0.2, 0.5, False)
