"""The manual's promises: each sentence of the pages that promise something names the tests that prove it.

`make promises` keeps the files beside this one in step with the pages; CONTRIBUTING.md says how to classify.
"""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import promises  # noqa: E402 - a tool of the tree, not a package

OPEN = 5
"""Promises that no test proves yet; a new one gets a test instead."""
CPP_TEST = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)


def cpp_tests() -> set[str]:
    """Names of all C++ tests, `Suite.Name`."""
    return {
        f"{suite}.{name}"
        for file in (ROOT / "tests").rglob("*.cpp")
        for suite, name in CPP_TEST.findall(file.read_text(encoding="utf-8"))
    }


def python_tests(file: Path) -> set[str]:
    """Names of the tests of a file, those of a class as `Class::name`."""
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        functions = [each for each in members if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
        found |= {prefix + each.name for each in functions if each.name.startswith("test_")}
    return found


def missing(tests: set[str]) -> set[str]:
    """Those of some tests that are not there."""
    python = {test for test in tests if "::" in test}
    files = {test.split("::", 1)[0] for test in python}
    there = {
        f"{file}::{name}" for file in files if (ROOT / file).exists() for name in python_tests(ROOT / file)
    }
    return (python - there) | (tests - python - cpp_tests())


@pytest.mark.parametrize("page", promises.PAGES)
def test_each_sentence_of_a_page_is_classified(page: str) -> None:
    known = promises.read(page)
    sentences = promises.on_page(page)
    assert list(known) == sentences, "run make promises, then classify what it prints"
    open_ones = [text for text in sentences if not known[text].tests and not known[text].kind]
    assert not open_ones, f"name the tests, or the kind: {promises.KINDS}"


@pytest.mark.parametrize("page", promises.PAGES)
def test_a_sentence_has_either_tests_or_a_kind(page: str) -> None:
    for statement in promises.read(page).values():
        assert bool(statement.tests) != bool(statement.kind), statement.text
        assert statement.kind in ("", *promises.KINDS), statement.text


def test_promises_without_a_test_do_not_become_more() -> None:
    found = [s.text for page in promises.PAGES for s in promises.read(page).values() if s.kind == "open"]
    assert len(found) <= OPEN, found
    assert len(found) == OPEN, f"there are fewer now: set OPEN to {len(found)}"


@pytest.mark.parametrize("page", promises.PAGES)
def test_each_test_that_is_named_exists(page: str) -> None:
    tests = {test for statement in promises.read(page).values() for test in statement.tests}
    assert missing(tests) == set()


def test_a_test_that_does_not_exist_is_found() -> None:
    here = "tests/promises/test_promises.py"
    gone = {f"{here}::test_gone", "tests/none.py::test_x", "NoSuite.NoTest"}
    assert missing({f"{here}::test_a_test_that_does_not_exist_is_found"} | gone) == gone


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("One is. Two is, e.g. `x`.\n", ["One is.", "Two is, e.g. `x`."]),
        ("# Head\n\nA wrapped\nsentence.\n- one\n- two\n", ["A wrapped sentence.", "one", "two"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", ["| a | b |", "| 1 | 2 |"]),
        ("- Before:\n\n  ```sh\n  no. Sentence.\n  ```\n  After.\n", ["Before:", "After."]),
        ("Before:\n```sh\nno. Sentence.\n```\nAfter.\n", ["Before:", "After."]),
    ],
)
def test_sentences_of_a_page(markdown: str, expected: list[str]) -> None:
    assert list(promises.sentences(markdown)) == expected
