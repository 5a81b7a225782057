"""Numbers of a card in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strider.card.model import Rate
from strider.card.wording import cut, in_words, rounded, scaled, time, wrapped


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (2.94e9, 2, "2.9 GB/s"),
        (9.96e9, 2, "10 GB/s"),
        (999.6e6, 3, "1.00 GB/s"),
        (386, 2, "390 B/s"),
        (0, 2, "0 B/s"),
    ],
)
def test_rates_have_few_digits_and_the_largest_unit(value: float, digits: int, said: str) -> None:
    assert in_words(Rate(value=value, unit="B/s"), digits) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.73, "0.73 us"), (9.4, "9.4 us"), (91.3, "91 us"), (1234, "1.2 ms"), (2.3e6, "2.3 s")],
)
def test_times_have_their_unit(value: float, said: str) -> None:
    assert time(value) == said


@given(st.floats(1e-3, 1e15), st.integers(2, 3))
def test_a_rounded_number_is_close(value: float, digits: int) -> None:
    number, prefix = scaled(value, digits)
    back = float(number) * 1000 ** ("", "k", "M", "G", "T").index(prefix)
    assert back == pytest.approx(value, rel=10.0 ** (1 - digits) / 2 * 1.001)
    assert "e" not in rounded(value, digits)


def test_lines_keep_numbers_and_units_together() -> None:
    assert wrapped("Reads at 4.9 k/s and 20 MB/s.", 13) == ["Reads at", "4.9 k/s and", "20 MB/s."]


@pytest.mark.parametrize(("text", "shown"), [("appends", "appends"), ("creates!", "crea...")])
def test_a_text_is_cut_to_its_width(text: str, shown: str) -> None:
    assert cut(text, 7) == shown
