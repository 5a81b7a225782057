"""When a straggler fell behind is told from the intervals of its timeline."""

from __future__ import annotations

import random

from strider.statistics.spells import Spell, spell_of


def test_a_stall_is_found_among_noise() -> None:
    noise = random.Random(7)
    others = [100.0] * 60
    own = [100 + noise.uniform(-5, 5) for _ in range(60)]
    own[20:31] = [0.0] * 11
    found = spell_of(own + [100.0] * 11, others + [0.0] * 11, 0.1)
    assert found is not None
    assert (2.0 <= found.begin_s < 2.4, 2.7 < found.end_s <= 3.1, found.all_along) == (True, True, False)


def test_half_the_speed_is_slow_all_along() -> None:
    found = spell_of([50.0] * 40, [100.0] * 20 + [0.0] * 20, 0.1)
    assert found is not None
    assert found.all_along
    assert found.end_s <= 2.0


def test_the_shortest_time_is_reported() -> None:
    own = [0.0, 8.0, 8.0, 0.0, 0.0, 0.0, 0.0, 8.0]
    assert spell_of(own, [8.0] * 8, 0.5) == Spell(1.5, 3.5, all_along=False)


def test_who_was_never_behind_has_no_spell() -> None:
    assert spell_of([9.0] * 10, [8.0] * 10, 0.1) is None


def test_few_intervals_tell_nothing() -> None:
    assert spell_of([0.0] * 4, [8.0] * 4, 0.1) is None
