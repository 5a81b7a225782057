"""The suite that verifies a data set reads and nothing else, whatever its marker says."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_builders import use
from strider.datasets.marker import Marker, Owner
from strider.datasets.verification import Findings, suite_text
from strider.engine import Description, Json
from strider.errors import StriderError
from strider.suite.vocabulary import Vocabulary

INJECTED = 'x"\noperations = ["write"]\n[[case]]\ndataset = "victim"\noperations = ["write"]\npattern = "x'
COMMON: Json = {"clients": 2, "sharing": "shared", "order": "forward", "seed": 3}


def marker(**case: Json) -> Marker:
    return Marker(
        id="abc",
        name="kept",
        state="complete",
        owner=Owner.me(),
        made=use(),
        seed=5,
        generation=1,
        last_generation=1,
        files=[(1, 4096)],
        parts=[(1, 1024), (1, 4096)],
        case={**COMMON, **case},
    )


def cases(one: Marker, vocabulary: Vocabulary) -> list[dict[str, Json]]:
    text = suite_text(Findings(one, [], [(0, 1, 4096)]), Path('/a "b"\n[x]'), "posix", 2, vocabulary)
    document = tomllib.loads(text)
    assert document["suite"]["target"] == '/a "b"\n[x]'
    assert set(document) == {"suite", "case"}
    found: list[dict[str, Json]] = document["case"]
    return found


@pytest.fixture(scope="session")
def vocabulary(description: Description) -> Vocabulary:
    return Vocabulary.of(description)


def test_a_set_that_was_written_in_part_is_read_by_its_pattern(vocabulary: Vocabulary) -> None:
    (case,) = cases(marker(pattern={"name": "segmented", "block": 1024, "transfer": 512}), vocabulary)
    assert case == {
        "block": 1024,
        "transfer": 512,
        "sharing": "shared",
        "order": "forward",
        "seed": 3,
        "dataset": "kept",
        "interface": "posix",
        "clients": 2,
        "pattern": "segmented",
        "operations": ["read"],
        "verify": "full",
        "repetitions": 1,
    }


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ({"name": INJECTED}, r'there is no pattern "x"\\u000aoperations'),
        ({"name": "segmented", INJECTED: 1}, r'has no parameter "x"\\u000aoperations'),
        ({"name": "segmented", "operations": ["write"]}, 'has no parameter "operations"'),
        ({"name": "segmented", "dataset": "victim"}, 'has no parameter "dataset"'),
        ({"name": "segmented", "sync": "each"}, 'has no parameter "sync"'),
        ({}, "its case has no pattern"),
        ("segmented", "its case has no pattern"),
        (None, "its case has no pattern"),
    ],
)
def test_words_that_a_suite_does_not_have_are_refused(
    vocabulary: Vocabulary, pattern: Json, reason: str
) -> None:
    with pytest.raises(StriderError, match=reason):
        cases(marker(pattern=pattern), vocabulary)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(0, 1 << 62) | st.text(max_size=20) | st.just(INJECTED),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=5,
)


@given(sharing=ANY, order=ANY, seed=ANY, block=ANY)
def test_no_value_of_a_marker_adds_a_case_or_an_operation(
    vocabulary: Vocabulary, sharing: Json, order: Json, seed: Json, block: Json
) -> None:
    one = marker(sharing=sharing, order=order, seed=seed, pattern={"name": "segmented", "block": block})
    try:
        found = cases(one, vocabulary)
    except StriderError:
        return
    assert [case["operations"] for case in found] == [["read"]]
    assert [case["dataset"] for case in found] == ["kept"]
