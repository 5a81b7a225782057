"""Promises of the manual: a test proves each anchored sentence, and tests name no other anchors.

CONTRIBUTING.md says how to write them; tools/promises.py reads them.
"""

import re
from pathlib import Path

import pytest

import promises
from promises import Proof, Sentence

OPEN = 5
"""Promises that no test proves yet; a new one gets a test instead."""
WITHOUT_PROMISE = {"comparing": 36, "limits": 31, "listio": 244, "measuring": 177}
"""Sentences without an anchor: advice, definitions, examples, reasons, measurements, heads of tables."""

SKIPPED = re.compile(r"^\s*(@|pytestmark = )pytest\.mark\.skip\b", re.MULTILINE)


@pytest.fixture(scope="module")
def proofs() -> list[Proof]:
    return promises.all_proofs()


def anchors(page: str, *, is_open: bool | None = None) -> list[str]:
    """The anchors of a page, `page:anchor`."""
    found = [each for each in promises.on_page(page) if is_open in (None, each.is_open)]
    return [f"{page}:{anchor}" for each in found for anchor in each.anchors]


@pytest.mark.parametrize("page", promises.PAGES)
def test_each_sentence_without_an_anchor_is_meant_to_have_none(page: str) -> None:
    found = sum(not each.anchors for each in promises.on_page(page))
    assert found == WITHOUT_PROMISE[page], (
        "make promises lists new sentences without an anchor. One that promises something gets an anchor and "
        "a test; for one that promises nothing, change WITHOUT_PROMISE"
    )


@pytest.mark.parametrize("page", promises.PAGES)
def test_anchors_of_a_page_are_unique(page: str) -> None:
    found = anchors(page)
    assert [anchor for anchor in dict.fromkeys(found) if found.count(anchor) > 1] == []


@pytest.mark.parametrize("page", promises.PAGES)
def test_each_promise_has_a_test(page: str, proofs: list[Proof]) -> None:
    named = {promise for proof in proofs for promise in proof.promises}
    assert [anchor for anchor in anchors(page, is_open=False) if anchor not in named] == []


def test_tests_name_promises_that_are_not_open(proofs: list[Proof]) -> None:
    known = {anchor for page in promises.PAGES for anchor in anchors(page, is_open=False)}
    unknown = {f"{proof.file}::{proof.test}": set(proof.promises) - known for proof in proofs}
    assert {test: names for test, names in unknown.items() if names} == {}


def test_promises_without_a_test_do_not_become_more() -> None:
    found = [anchor for page in promises.PAGES for anchor in anchors(page, is_open=True)]
    assert len(found) <= OPEN, found
    assert len(found) == OPEN, f"there are fewer now: set OPEN to {len(found)}"


def test_tests_that_prove_promises_are_built_and_not_skipped(proofs: list[Proof]) -> None:
    """A C++ test is in a list of sources; a Python test has no mark that skips it everywhere."""
    lists = "".join(file.read_text("utf-8") for file in (promises.ROOT / "tests").rglob("CMakeLists.txt"))
    for file in {proof.file for proof in proofs}:
        if file.suffix == ".cpp":
            assert re.search(rf"\b{file.stem}\b", lists), file
        else:
            assert not SKIPPED.search(file.read_text("utf-8")), file


def test_all_anchors_and_proofs_are_read() -> None:
    """What looks like one and is misspelt would count for nothing."""
    for page in promises.PAGES:
        text = (promises.ROOT / "docs" / f"{page}.md").read_text("utf-8")
        assert text.count("<!--") - text.count("<!-- ") == len(anchors(page)), page


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
    assert [each.text for each in promises.sentences(markdown)] == expected


def test_anchors_belong_to_the_sentence_before_them() -> None:
    page = "One is.<!--one--> Two\nis (so.)<!--open:two--> Three.\n\n| a | b<!--row--> |\n"
    assert list(promises.sentences(page)) == [
        Sentence("One is.", ("one",)),
        Sentence("Two is (so.)", ("two",), is_open=True),
        Sentence("Three."),
        Sentence("| a | b |", ("row",)),
    ]


PYTHON = "@slow\n# proves listio: one, two\n# proves limits: three\ndef test_it() -> None:\n    pass\n"
CPP = "// Why.\n// proves listio: one\nTEST_F(Suite, Name) {\n"


def test_tests_name_what_they_prove(tmp_path: Path) -> None:
    python, cpp = tmp_path / "test_x.py", tmp_path / "x_test.cpp"
    python.write_text(PYTHON)
    cpp.write_text(CPP)
    assert promises.all_proofs(tmp_path) == [
        Proof(python, "test_it", ("listio:one", "listio:two", "limits:three")),
        Proof(cpp, "Suite.Name", ("listio:one",)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# proves listio: one\n\ndef test_it() -> None: ...\n",
        "# proves listio: one\ndef helper() -> None: ...\n",
        "// proves listio: one\nTEST(Suite, DISABLED_Name) {\n",
    ],
)
def test_a_proof_is_directly_above_a_test_that_runs(tmp_path: Path, text: str) -> None:
    file = tmp_path / "test_x.py"
    file.write_text(text)
    with pytest.raises(ValueError, match="not directly above a test"):
        list(promises.proofs(file))
