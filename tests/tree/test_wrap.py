"""Pages are wrapped at one width, and mean the same afterwards."""

from pathlib import Path

import pytest

import wrap

ROOT = Path(__file__).resolve().parents[2]
WORDS = "word " * 24


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("one\ntwo\n\nthree\n", "one two\n\nthree\n"),
        (WORDS, f"{'word ' * 19}word\nword word word word"),
        (f"- {WORDS}\n- b", f"- {'word ' * 18}word\n  word word word word word\n- b"),
        (f"1. a\n   b\n\n   {WORDS}", f"1. a b\n\n   {'word ' * 18}word\n   word word word word word"),
        (f"{'a' * 98} - b", f"{'a' * 98} -\nb"),  # a hyphen at the beginning would make an item
        (f"{'a' * 90} `b c d e f`", f"{'a' * 90}\n`b c d e f`"),
        ("a\n| b |\n|---|\n| c |\nd\ne", "a\n| b |\n|---|\n| c |\nd e"),
        ("- a\n\n      code  is\n      code", "- a\n\n      code  is\n      code"),
        ("```\na\nb\n```\nc\nd", "```\na\nb\n```\nc d"),
        ("# a\nb\nc", "# a\nb c"),
        (f"{'a' * 90}<!--anchor-of-a-promise--> b c", f"{'a' * 90}<!--anchor-of-a-promise--> b c"),
        (
            f"{wrap.GENERATED[0]}\na\nb\n{wrap.GENERATED[1]}\nc\nd",
            f"{wrap.GENERATED[0]}\na\nb\n{wrap.GENERATED[1]}\nc d",
        ),
    ],
)
def test_paragraphs_and_items_are_wrapped_and_nothing_else(page: str, expected: str) -> None:
    assert wrap.wrap(page) == expected
    assert wrap.wrap(expected) == expected


def test_the_pages_of_the_manual_mean_the_same_wrapped() -> None:
    markdown = pytest.importorskip("markdown_it", reason="needs markdown-it-py (dependency group manual)")
    reader = markdown.MarkdownIt("commonmark").enable("table")
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        before, after = (" ".join(reader.render(text).split()) for text in (page, wrap.wrap(page)))
        assert before == after, path
