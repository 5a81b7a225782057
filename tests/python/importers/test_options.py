"""Options of another benchmark: values by kind, notes and refusals of those that ask for something."""

import pytest

from strider.errors import StriderError
from strider.importers.options import Option, Settings, parse_size
from strider.suite.mistakes import Mistakes, Place

HERE = Place(0, "-x")


@pytest.mark.parametrize(
    ("text", "size"),
    [("8", 8), ("4k", 4096), ("2 MiB", 2 << 20), ("1G", 1 << 30), ("3tb", 3 << 40), ("-1", -1)],
)
def test_units_are_powers_of_two(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "k", "1.5m", "4x", "1 2"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        parse_size(text)


@pytest.mark.parametrize(("kind", "example"), [("flag", "0 or 1"), ("number", "a whole number")])
def test_a_number_has_digits_alone(kind: str, example: str) -> None:
    option = Option("x", kind="flag" if kind == "flag" else "number")
    with pytest.raises(ValueError, match=example):
        Settings("IOR").add(option, "1k", HERE)


def test_an_option_that_asks_for_nothing_is_neither_noted_nor_refused() -> None:
    settings, mistakes = Settings("IOR"), Mistakes()
    options = [
        *(Option(f"note{i}", kind="text", unused=("none",), note="for a reason") for i in range(3)),
        *(Option(f"refusal{i}", kind="text", unused=("none",), refusal="for a reason") for i in range(3)),
    ]
    for option, text in zip(options, ["", "none", "all"] * 2, strict=True):
        settings.add(option, text, Place(0, option.name))
    settings.refuse(mistakes)
    assert settings.notes() == ["note2: for a reason"]
    with pytest.raises(StriderError) as caught:
        mistakes.raise_if_any()
    assert caught.value.message.count("is not supported") == 1
    assert "refusal2 is not supported: for a reason" in caught.value.message


def test_a_copy_for_the_next_test_of_a_script_is_its_own() -> None:
    settings = Settings("IOR")
    settings.add(Option("size", kind="size"), "1k", HERE)
    copy = settings.copy(line=9)
    copy.add(Option("size", kind="size"), "2k", HERE)
    assert (settings.number("size"), copy.number("size")) == (1024, 2048)
    assert copy.place("segments") == Place(9, "the defaults of IOR")
    assert copy.place("segments", "size") == HERE
