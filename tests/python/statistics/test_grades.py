"""The words of grades: each reason has a meaning and a remedy, and the manual has the same."""

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

from strider.card import history, make
from strider.compare import trusting
from strider.statistics import trust
from strider.statistics.grades import CRITERIA, GRADES, LETTERS, REASONS, plain, reason_of

MANUAL = (Path(__file__).resolve().parents[3] / "docs/trust.md").read_text(encoding="utf-8")


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def code(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def words_in(module: ModuleType) -> set[str]:
    """The words after a letter in a source, such as `yield "C", "clock"`."""
    found = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        values = node.elts if isinstance(node, ast.Tuple) else node.args if isinstance(node, ast.Call) else []
        if len(values) == 2 and isinstance(values[0], ast.Constant) and values[0].value in LETTERS:
            found |= {
                one.value
                for one in ast.walk(values[1])
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
    return found


@pytest.mark.parametrize(("module", "at_least"), [(trust, 12), (trusting, 1)])
def test_each_word_beside_a_letter_has_a_reason(module: ModuleType, at_least: int) -> None:
    found = words_in(module) - {*LETTERS, " earlier runs", " pairs"}
    assert len(found) >= at_least, "the test reads the source in vain"
    assert [word for word in found if reason_of(word) is None] == []


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("cache", "cache"),
        ("1 repetition", "N repetitions"),
        ("4 repetitions", "N repetitions"),
        ("5 pairs", "N pairs"),
        ("7 earlier runs", "N earlier runs"),
        ("touch", "touch"),
    ],
)
def test_a_word_names_its_reason(word: str, name: str) -> None:
    reason = reason_of(word)
    assert reason is not None
    assert reason.name == name


def test_words_of_comparisons_and_cards_are_those_of_their_sources() -> None:
    for word in trusting._WORDS.values():
        assert reason_of(word) is not None
    assert '"touch"' in inspect.getsource(make)
    assert reason_of(history.REASON) is not None
    assert f"fewer than {trusting.MANY_PAIRS} pairs" in {one.meaning for one in REASONS}


def test_each_reason_of_a_criterion_is_explained() -> None:
    for one in CRITERIA:
        assert all(reason_of(word) for word in one.reasons), one.name


def test_a_grade_lists_its_needs() -> None:
    needs = {one.name: {need.criterion: need.need for need in one.needs} for one in GRADES}
    assert needs["A"]["repetitions that count and last 1 s or more"] == "5"
    assert needs["B"]["half-width of the 95 % interval"] == "15 %"
    assert needs["D"]["rate above that of the device or the network"] == "yes"
    assert "target in memory (tmpfs)" not in needs["A"]


def test_the_manual_has_the_same_tables() -> None:
    rows = [
        *(row(one.name, one.meaning) for one in GRADES),
        *(row(one.name, *one.needs, code(one.reasons)) for one in CRITERIA),
        *(row(f"`{one.name}`", one.grades, one.meaning, one.remedy) for one in REASONS),
    ]
    missing = [one for one in (re.sub(" +", " ", row) for row in rows) if one not in MANUAL.splitlines()]
    assert not missing, "write these rows in docs/trust.md:\n" + "\n".join(missing)


def test_marks_of_markdown_are_for_the_manual_alone() -> None:
    assert plain("set `sync`") == "set sync"
