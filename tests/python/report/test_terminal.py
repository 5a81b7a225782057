"""Tables in a terminal: narrow ones lose columns or become several tables, and no digit."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from strider.report.blocks import Table
from strider.report.output.terminal import show_block

OPERATIONS = ("write", "read", "read-modify-write")
HEADS = ("rate", "context switches", "read-modify-write", "what limits it", "packets in", "p99")


def printed(table: Table, width: int) -> str:
    console = Console(width=width, file=io.StringIO())
    show_block(table, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def table(numbers: list[list[int]], splits: bool, optional: tuple[str, ...] = ()) -> Table:
    heads = [(HEADS[number % len(HEADS)], "MiB/s") for number in range(len(numbers[0]))]
    rows = [
        ["segmented, random order, verify full", OPERATIONS[number % 3], *map(str, row)]
        for number, row in enumerate(numbers)
    ]
    return Table("t", [("pattern", ""), ("operation", ""), *heads], rows, 2, splits=splits, optional=optional)


@settings(max_examples=60)
@given(
    numbers=st.integers(1, 12).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 10**9), min_size=n, max_size=n), min_size=1, max_size=4)
    ),
    splits=st.booleans(),
    width=st.sampled_from([60, 80, 120]),
)
def test_no_digit_and_no_word_is_cut(numbers: list[list[int]], splits: bool, width: int) -> None:
    text = printed(table(numbers, splits), width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    found = set(re.findall(r"\d+", text))
    assert {str(number) for row in numbers for number in row} <= found


@pytest.mark.parametrize(("width", "shown"), [(80, False), (200, True)])
def test_optional_columns_go_first(width: int, shown: bool) -> None:
    text = printed(table([[1234567] * 6], False, optional=HEADS[3:]), width)
    assert ("p99" in text) is shown
    assert "switches" in text
