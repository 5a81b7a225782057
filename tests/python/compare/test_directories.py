"""Two directories: the sentence and the table."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import KIB, MIB, CaseSpec
from comparison_builders import in_turns, rated
from strider.compare.directories import (
    HEIGHT,
    WIDTH,
    Directories,
    Directory,
    compare_directories,
    lines,
    sentence,
)
from strider.store import Case, Run

NAMES = ("/home", "/scratch")
TRIALS = 100


def spec(
    name: str, *operations: str, served: float = 1.0, transfer: int = MIB, shape: str = "segmented"
) -> CaseSpec:
    pattern = {"name": shape, "transfer": transfer, "block": 64 * MIB}
    direct = {"name": "posix", "direct": True}
    common = {"verify": "off"}
    return CaseSpec(direct, pattern, 1, operations, common, name, served=served)


def suite(served: float = 1.0) -> list[CaseSpec]:
    return [
        spec("sequential", "write"),
        spec("sequential", "read", served=served),
        spec("random", "read", "rewrite", transfer=4 * KIB, shape="random"),
        spec("append", "write", transfer=4 * KIB),
    ]


def directories(kind: str = "local") -> tuple[Directory, Directory]:
    first, second = (Directory(name, kind, "ext4 on vda, 252 GB, 72 GB free") for name in NAMES)
    return first, second


def measured(
    folder: Path,
    slow: dict[str, float] | None = None,
    *,
    served: tuple[float, float] = (1.0, 1.0),
    pairs: int = 6,
    noise: float = 0.01,
    seed: int = 1,
    kind: str = "local",
) -> Directories:
    """Two directories of the same rates, except for the named cases of the second."""

    def factor(case: Case, _: int) -> float:
        return (slow or {}).get(case.name, 1.0)

    base, other = in_turns(
        folder, suite(served[0]), suite(served[1]), pairs=pairs, factor=factor, noise=noise, seed=seed
    )
    return compare_directories(directories(kind), base, other)


def test_equal_directories_are_called_different_in_at_most_one_of_twenty(tmp_path: Path) -> None:
    base, other = in_turns(tmp_path, suite(), pairs=6)
    drawn = random.Random(5)

    def again(runs: list[Run]) -> list[Run]:
        return [rated(run, [1000 * drawn.gauss(1, 0.05) for _ in run.samples]) for run in runs]

    found = [sentence(compare_directories(directories(), again(base), again(other))) for _ in range(TRIALS)]
    assert sum("times as fast" in one for one in found) <= TRIALS / 20


# proves comparing: two-directories
def test_the_faster_one_is_named_with_how_much_and_the_interval(tmp_path: Path) -> None:
    found = measured(tmp_path, {"sequential": 0.5, "append": 2.0})
    text = sentence(found)
    match = re.fullmatch(
        r"/home is ([12]\.\d+) times as fast as /scratch for stable 1 MiB writes \[(.*)–(.*)\]; "
        r"[12]\.\d+ times for cold 1 MiB reads \[.*\]; "
        r"/scratch is (.*) times as fast for 4 KiB appends with fsync \[.*\]; "
        r"the same within 10 % for random 4 KiB reads\.",
        text,
    )
    assert match, text
    assert float(match[2]) <= float(match[1]) <= float(match[3])


# proves comparing: same-and-unknown
def test_ten_percent_are_seen_and_equal_lines_are_the_same(tmp_path: Path) -> None:
    found = measured(tmp_path, dict.fromkeys(["sequential", "random", "append"], 0.9))
    assert [row.word for row in found.rows] == ["slower"] * 5
    assert sentence(found).startswith("/home is 1.1")
    same = measured(tmp_path, seed=3)
    assert {row.word for row in same.rows} == {"same"}
    assert sentence(same).startswith(
        "/home and /scratch are equally fast within 10 % for stable 1 MiB writes, "
    )


def test_a_ratio_that_may_be_anything_is_no_evidence(tmp_path: Path) -> None:
    found = measured(tmp_path, pairs=3, noise=0.5)
    grades = {str(row.trust) for row in found.comparison.rows if row.trust and row.verdict == "no verdict"}
    assert grades
    assert all(grade.startswith("C") and "spread" in grade for grade in grades)


@pytest.mark.parametrize(("served", "words"), [((1.0, 0.0), {"?"}), ((0.0, 0.0), {"?"})])
# proves comparing: words-need-one-source
def test_rates_of_caches_get_no_word(tmp_path: Path, served: tuple[float, float], words: set[str]) -> None:
    found = measured(tmp_path, {"sequential": 0.5}, served=served)
    read = next(row for row in found.rows if row.wanted.id == "read.sequential")
    assert {read.word} == words
    assert read.row.trust is not None
    assert read.row.trust.grade == "D"
    assert "cold 1 MiB reads" not in sentence(found)
    assert "stable 1 MiB writes" in sentence(found)


@pytest.mark.parametrize(("served", "is_explained"), [((1.0, 0.0), True), ((1.0, 1.0), False)])
def test_the_sign_for_no_verdict_is_explained(
    tmp_path: Path, served: tuple[float, float], is_explained: bool
) -> None:
    slow = dict.fromkeys(("sequential", "random", "append"), 0.5)
    found = measured(tmp_path, slow, served=served)
    assert any(row.word == "?" for row in found.rows) is is_explained
    meaning = "(?: neither a difference nor equality within 10 % is shown at grade A or B)"
    assert (meaning in lines(found, "6 pairs, 231 s")) is is_explained


def test_each_column_has_a_heading_above_it(tmp_path: Path) -> None:
    shown = lines(measured(tmp_path, {"sequential": 0.5}), "6 pairs, 231 s")
    first = next(number for number, line in enumerate(shown) if line.startswith("6 pairs, 231 s"))
    upper, lower, row = (line.ljust(WIDTH) for line in shown[first : first + 3])
    assert " ".join(upper.split()) == "6 pairs, 231 s rate rate ratio B / A verdict"
    assert " ".join(lower.split()) == "in A in B [95 % interval] on B grade"
    for heading, value in (
        (upper.index("ratio B / A"), row.index("x")),
        (lower.index("[95 % interval]"), row.index("x")),
        (upper.index("verdict"), row.index("slower")),
        (lower.index("on B"), row.index("slower")),
        (lower.index("grade") + 2, row.index(" A ") + 1),
    ):
        assert heading == value
    in_a, in_b = (lower.index(name) + len(name) for name in ("in A", "in B"))
    assert row[:in_a].endswith("B/s")
    assert row[:in_b].endswith("B/s")


def test_memory_is_neither_stable_nor_cold(tmp_path: Path) -> None:
    text = "\n".join(lines(measured(tmp_path, {"sequential": 0.5}, kind="memory"), "6 pairs"))
    assert "stable" not in text
    assert "cold" not in text


@settings(max_examples=30, deadline=None)
@given(
    factors=st.lists(st.floats(0.01, 100.0), min_size=3, max_size=3),
    noise=st.floats(0.0005, 0.3),
    pairs=st.integers(3, 8),
    seed=st.integers(0, 1000),
)
# proves comparing: sentence-of-four-lines
def test_the_answer_fits_a_screen_and_says_nothing_that_the_table_does_not(
    tmp_path_factory: pytest.TempPathFactory, factors: list[float], noise: float, pairs: int, seed: int
) -> None:
    slow = dict(zip(("sequential", "random", "append"), factors, strict=True))
    folder = tmp_path_factory.mktemp("pairs")
    found = measured(folder, slow, noise=noise, pairs=pairs, seed=seed)
    text = sentence(found)
    shown = lines(found, f"{pairs} pairs, 231 s", ["a caution " * 20] * 9)
    assert len(shown) <= HEIGHT
    assert max(map(len, shown)) <= WIDTH
    named = [row for row in found.rows if row.word in ("faster", "slower") and row.phrase]
    assert text.count("[") == min(len(named), 4) or "Over all" in text
    for row in named:
        assert row.row.trust is not None
        assert row.row.trust.grade in "AB"
        change = row.row.change
        assert change is not None
        assert (change.ratio > 1) == (row.word == "faster")
    for value, low, high in re.findall(r"([\d.]+) times[^[]*\[([\d.]+)–([\d.]+)\]", text):
        assert 1.0 <= float(low) <= float(value) <= float(high)
