"""Where keys and values stand."""

from strider.suite.positions import positions

TEXT = """\
[suite]
name = "x"
limits = { min = 1,
  max = 2 }

[[case]]
posix.direct = true
transfer = [
  "1k",  # a comment
  "2k",
]
[case.zip]
"a b" = [1]
[[case]]
transfer = 3
[case.mpiio]
hints = [{}, { a = 1 }]
"""


def test_keys_have_lines() -> None:
    found = positions(TEXT)
    assert found.key_line(("suite",)) == 1
    assert found.key_line(("suite", "name")) == 2
    assert found.key_line(("suite", "limits", "max")) == 4
    assert found.key_line(("case", 0, "posix", "direct")) == 7
    assert found.key_line(("case", 0, "zip", "a b")) == 13


def test_elements_of_lists_have_lines() -> None:
    found = positions(TEXT)
    assert found.value_line(("case", 0, "transfer")) == 8
    assert found.value_line(("case", 0, "transfer", 1)) == 10


def test_arrays_of_tables_are_counted() -> None:
    found = positions(TEXT)
    assert found.key_line(("case", 0)) == 6
    assert found.key_line(("case", 1)) == 14
    assert found.key_line(("case", 1, "transfer")) == 15
    assert found.value_line(("case", 1, "mpiio", "hints", 1, "a")) == 17


def test_what_is_not_written_has_the_line_of_what_is_around_it() -> None:
    found = positions(TEXT)
    assert found.key_line(("case", 1, "clients")) == 14
    assert found.key_line(("nothing",)) == 1


def test_keys_that_are_given_twice_are_found() -> None:
    assert positions("a = 1\nb = 2\na = 3\n").duplicates == [(("a",), 3)]


def test_a_text_with_a_mistake_is_read_as_far_as_it_goes() -> None:
    assert positions("a = 1\nb =\nc = 3\n").key_line(("c",)) == 3
