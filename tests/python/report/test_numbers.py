"""Numbers are short, and never suggest more than three digits unless they are whole."""

from __future__ import annotations

import math

import pytest

from strider.report.words.numbers import percent, significant, time_unit


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12345.6, "12346"),
        (812.4, "812"),
        (81.23, "81.2"),
        (8.0, "8.00"),
        (0.08123, "0.0812"),
        (0, "0"),
        (math.nan, "–"),
        (None, "–"),
    ],
)
def test_significant(value: float | None, text: str) -> None:
    assert significant(value) == text


@pytest.mark.parametrize(("share", "text"), [(0.123, "12"), (0.0123, "1.2"), (0.0999, "10"), (math.nan, "–")])
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("seconds", "unit"),
    [([2.0, 0.5, 3.0], "s"), ([0.002], "ms"), ([3e-6, 2e-6], "µs"), ([4e-8], "ns"), ([], "s")],
)
def test_a_column_has_the_unit_of_its_middle_value(seconds: list[float], unit: str) -> None:
    assert time_unit(seconds).name == unit
