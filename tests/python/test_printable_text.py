"""Texts that other users wrote are printed without control characters, each in its line."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strider.engine import to_json
from strider.text import forbidden, printable, printable_json

#: With characters that are not allowed, escapes, and text that looks like them.
TEXTS = st.text('a\\u0\n\t\x00\x1b\x7f\x85\u202e\u2028\ud800\udc00\U0001f600é"/') | st.text()
DOCUMENTS = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
    max_leaves=8,
)


def printed(document: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The document with every string as it is printed."""
    match document:
        case str():
            return printable(document)
        case list():
            return [printed(each) for each in document]
        case dict():
            return {key: printed(each) for key, each in document.items()}
    return document


@given(DOCUMENTS, st.booleans())
def test_the_strings_of_a_document_are_read_as_they_are_printed(document: object, is_ascii: bool) -> None:
    text = json.dumps(document, ensure_ascii=is_ascii)
    # A pair of escaped surrogates is one character.
    assert json.loads(printable_json(text)) == printed(json.loads(text))


def test_text_that_is_no_json_stays_an_error() -> None:
    for text in (r'"\x"', r'"\u12"', "\\"):
        with pytest.raises(ValueError, match=r"Invalid|Expecting"):
            json.loads(printable_json(text))


@given(DOCUMENTS)
def test_a_printed_document_commands_no_terminal_and_has_its_values(document: object) -> None:
    text = to_json(document)
    assert all(forbidden(line) is None for line in text.split("\n"))
    assert json.loads(text) == json.loads(json.dumps(document))
