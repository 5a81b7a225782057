"""The sentence of a card."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from card_builders import append, card, line, place, ratio
from strider.card.verdict import MOST_CHARACTERS, verdict

NAMES = (
    "read.sequential",
    "write.sequential",
    "read.deep",
    "read.random",
    "read.random.deep",
    "append.fsync",
)


def test_the_parts_have_one_order() -> None:
    made = card(
        append(),
        line("read.random", 17_234),
        line("read.sequential", 1.04e9),
        line("write.sequential", 2.91e9),
    )
    assert verdict(made) == (
        "Local ext4 on vda: 1.0 GB/s reads, 2.9 GB/s durable writes, 17 k random reads/s; a 4 KiB append "
        "with fsync costs 198 us."
    )


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("memory", "Memory (tmpfs): 8.5 GB/s reads, 7.9 GB/s writes."),
        ("network", "Network nfs4: 8.5 GB/s reads (servers may cache), 7.9 GB/s synced writes."),
        ("fuse", "FUSE mergerfs: 8.5 GB/s reads (servers may cache), 7.9 GB/s synced writes."),
    ],
)
def test_each_kind_of_storage_has_its_words(kind: str, says: str) -> None:
    made = card(line("read.sequential", 8.5e9), line("write.sequential", 7.9e9), kind=kind)
    assert verdict(made) == says


def test_a_network_through_fuse_is_named_so() -> None:
    made = card(line("read.sequential"), place=place("network", fs="fuse.glusterfs"))
    assert verdict(made).startswith("Network glusterfs through FUSE: ")


@pytest.mark.parametrize("grade", ["C", "D", ""])
@pytest.mark.parametrize("name", NAMES)
def test_a_number_below_grade_b_is_never_in_it(name: str, grade: str) -> None:
    bad = append(grade=grade) if name == "append.fsync" else line(name, 777, grade=grade)
    others = [line(other, 1000) for other in NAMES if other not in (name, "append.fsync")]
    said = verdict(card(bad, *others))
    assert "777" not in said
    assert "append" not in said


def test_a_part_without_its_own_number_is_not_replaced_by_another_line() -> None:
    made = card(line("read.sequential", grade="C"), line("write.sequential", 2e9))
    assert verdict(made) == "Local ext4 on vda: 2.0 GB/s durable writes."


def test_without_any_trusted_number_the_reasons_are_named() -> None:
    made = card(
        line("read.sequential", grade="C", reasons=["spread"]),
        line("read.random", grade="C", reasons=["spread"]),
        line("append.fsync", grade="C", reasons=["2 repetitions"]),
    )
    assert verdict(made) == (
        "Nothing here could be measured well enough for a sentence: rates differ from round to round, "
        "2 rounds."
    )


def test_a_ratio_does_not_stand_alone() -> None:
    assert verdict(card(line("read.sequential", grade="C"), ratios=[ratio("clients.read", 1.6)])).startswith(
        "Nothing here"
    )


def test_another_trusted_line_is_better_than_nothing() -> None:
    made = card(line("read.sequential", grade="C"), line("write.random.deep", 30_400, label="random write"))
    assert verdict(made) == "Local ext4 on vda: random write at 30 k/s."


def test_a_ratio_is_said_only_with_a_word() -> None:
    lines = [line("read.sequential"), line("write.sequential")]
    assert verdict(card(*lines, ratios=[ratio("clients.read", 1.6)])).endswith(
        "; 2 clients read at x1.6 the rate of one."
    )
    for word in (None, "same"):
        assert "clients" not in verdict(card(*lines, ratios=[ratio("clients.read", 1.6, word=word)]))
    slower = ratio("shared.write", 0.5, word="slower")
    assert verdict(card(*lines, ratios=[slower])).endswith(
        "; writes of one shared file reach x0.50 of a file each."
    )


def test_of_a_long_sentence_the_last_part_goes_first() -> None:
    lines = [line("read.sequential"), line("write.sequential"), line("read.random", 1000)]
    deep = line("read.random.deep", 9000, depth=16)
    made = card(*lines, deep, append(), ratios=[ratio("clients.read", 1.6)])
    said = verdict(made)
    assert "a 4 KiB append with fsync costs 198 us." in said
    assert "clients" not in said


@given(
    values=st.lists(st.floats(1, 1e12), min_size=6, max_size=6),
    grades=st.lists(st.sampled_from("ABCD"), min_size=6, max_size=6),
    kind=st.sampled_from(["local", "memory", "network", "fuse"]),
)
def test_it_is_short_and_holds_few_numbers(values: list[float], grades: list[str], kind: str) -> None:
    lines = [
        append(value, grade=grade)
        if name == "append.fsync"
        else line(name, value, grade=grade, depth=16, reasons=["a reason of this line, which is long"])
        for name, value, grade in zip(NAMES, values, grades, strict=True)
    ]
    said = verdict(card(*lines, kind=kind, ratios=[ratio("clients.read", 1.6)]))
    assert len(said) <= MOST_CHARACTERS
    assert said.endswith(".")
    body = said.partition(": ")[2]
    assert len(re.findall(r"\d+(?:\.\d+)? ?(?:[kMGT]?B/s|[kMGT]? ?(?:random|from)|[um]?s\b)", body)) <= 5
