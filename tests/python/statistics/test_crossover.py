"""A crossover is where a line through the ratios is 1, if it is surely below before and above behind."""

from __future__ import annotations

import pytest

from strider.statistics.crossover import crossover

SCATTER = (0.99, 1.0, 1.01)


def rates(*typical: float, lengths: tuple[int, ...] = (128, 512, 2048)) -> dict[int, list[float]]:
    return {
        length: [one * factor for factor in SCATTER] for length, one in zip(lengths, typical, strict=True)
    }


def flat(*typical: float) -> dict[int, list[float]]:
    return {length: [one] * 3 for length, one in zip((128, 512, 2048), typical, strict=True)}


def test_it_is_where_the_ratio_is_1_with_an_interval_around_it() -> None:
    found = crossover(rates(50, 100, 200), flat(100, 100, 100))
    assert found is not None
    assert found.length == pytest.approx(512, rel=0.02)
    assert found.low < found.length < found.high
    assert found.high / found.low < 1.1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (rates(200, 200, 200), flat(100, 100, 100)),  # faster throughout
        (rates(120, 150, 200), flat(100, 100, 100)),  # more so at each length
        (rates(40, 60, 80), flat(100, 100, 100)),
        (rates(50, 50, 50), flat(100, 100, 100)),
        (rates(100, 100, 100), flat(100, 100, 100)),  # identical
        (rates(200, 100, 50), flat(100, 100, 100)),  # the other way
        ({128: [50.0] * 2, 512: [100.0] * 2, 2048: [200.0] * 2}, flat(100, 100, 100)),  # two repetitions
        ({128: [50.0] * 3, 2048: [200.0] * 3}, flat(100, 100, 100)),  # two lengths
        ({128: [50.0, 0.0, 50.0], 512: [100.0] * 3, 2048: [200.0] * 3}, flat(100, 100, 100)),
    ],
)
def test_it_is_none_where_it_is_not_shown(
    first: dict[int, list[float]], second: dict[int, list[float]]
) -> None:
    assert crossover(first, second) is None
