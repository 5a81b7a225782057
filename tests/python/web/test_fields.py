"""Texts of fields and values of suites are the same thing in two forms."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strider.engine import Json, Parameter, ParameterKind
from strider.web.fields import to_text, to_value, written


def parameter(kind: ParameterKind) -> Parameter:
    return Parameter(name="x", kind=kind)


@pytest.mark.parametrize(
    ("kind", "typed", "value"),
    [
        ("bytes", "4KiB, 1 MiB", ["4KiB", "1 MiB"]),
        ("bytes", "4096", 4096),
        ("count", "1,2 , 4", [1, 2, 4]),
        ("seconds", "1.5", 1.5),
        ("seconds", "30s", "30s"),
        ("flag", "true, false", [True, False]),
        ("choice", "random", "random"),
        ("sharing", "shared, 4", ["shared", 4]),
        ("operations", "write, read", ["write", "read"]),
        ("operations", '[["write"], ["read"]]', [["write"], ["read"]]),
        ("repetitions", "5", 5),
        ("repetitions", '{ min = 3, max = 20, until = "5%" }', {"min": 3, "max": 20, "until": "5%"}),
        ("numbers", "[2048, 2048]", [2048, 2048]),
        ("text", "a, b", "a, b"),
        ("text", "ufs:", "ufs:"),
        ("map", "{ romio_cb_write = 'enable' }", {"romio_cb_write": "enable"}),
        ("count", "  ", None),
        ("count", "many", "many"),
        ("levels", "[[2", "[[2"),
        ("levels", '1\nevil = "x"', '1\nevil = "x"'),
    ],
)
def test_what_is_typed_means_what_it_looks_like(kind: ParameterKind, typed: str, value: Json) -> None:
    assert to_value(parameter(kind), typed) == value


WORDS = st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), max_size=8)
SCALARS = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.booleans(), WORDS, st.sampled_from(["4KiB", "30s", "5%", "12"])
)
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, min_size=1, max_size=4),
    st.lists(st.lists(SCALARS, max_size=3), min_size=1, max_size=3),
    st.dictionaries(WORDS.filter(bool), SCALARS, max_size=3),
)


@given(value=VALUES)
def test_any_value_is_written_as_toml_that_means_the_same(value: Json) -> None:
    assert tomllib.loads(f"x = {written(value)}")["x"] == value


PLAIN: dict[ParameterKind, st.SearchStrategy[Json]] = {
    "bytes": st.one_of(st.integers(0, 2**63 - 1), st.sampled_from(["4KiB", "1 MiB"])),
    "seconds": st.one_of(st.integers(0, 100), st.floats(0, 1e6), st.sampled_from(["30s", "2min"])),
    "flag": st.booleans(),
    "choice": st.sampled_from(["random", "true", "4"]),
    "sharing": st.one_of(st.integers(1, 64), st.just("per-rank")),
    "operations": st.sampled_from(["write", "read-modify-write"]),
    "text": WORDS,
}


@pytest.mark.parametrize("kind", PLAIN)
@given(data=st.data())
def test_what_a_field_shows_is_read_back(kind: ParameterKind, data: st.DataObject) -> None:
    one = PLAIN[kind]
    value = data.draw(st.one_of(one, st.lists(one, min_size=1, max_size=4)))
    text = to_text(parameter(kind), value)
    assert to_value(parameter(kind), text) == value, text
