"""Arguments as IOR and mdtest take them, in every form in which people type them."""

import pytest

from strider.errors import StriderError
from strider.importers.arguments import ArgumentReader
from strider.importers.options import Option, Settings
from strider.suite.mistakes import Mistakes

WRITE, KEEP, SIZE = Option("write", "w"), Option("keep", "k"), Option("size", "t", "size", ("transferSize",))
OPTIONS = (WRITE, KEEP, SIZE)


def read(*arguments: str) -> tuple[dict[str, object], str]:
    """Values by name, and the mistakes."""
    settings, mistakes = Settings("IOR"), Mistakes()
    by_name = {name.lower(): option for option in OPTIONS for name in option.names}
    ArgumentReader(settings, {option.letter: option for option in OPTIONS}, by_name, mistakes).read(arguments)
    values = {name: given.value for name, given in settings.by_name.items()}
    try:
        mistakes.raise_if_any()
    except StriderError as error:
        return values, error.message
    return values, ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("-wt1m",),
        ("-w", "-t", "1m"),
        ("-w", "-t=1m"),
        ("--write", "--size=1m"),
        ("--WRITE", "--transfersize", "1m"),
    ],
)
def test_a_flag_and_a_value_in_any_form(arguments: tuple[str, ...]) -> None:
    assert read(*arguments) == ({"write": 1, "size": 1 << 20}, "")


def test_a_flag_is_counted_and_the_last_value_counts() -> None:
    assert read("-kk", "-k", "-t1k", "-t", "2k")[0] == {"keep": 3, "size": 2048}


@pytest.mark.parametrize(
    ("arguments", "mistake"),
    [
        (("-x",), "IOR has no option -x"),
        (("--sise=1",), 'did you mean "size"'),
        (("-t",), "a value is missing"),
        (("-t", "big"), '"big" is not a size'),
        (("ior",), "it is not an option: after --, give the options of IOR only, without mpiexec and ior"),
    ],
)
def test_what_is_wrong_is_named_and_the_rest_is_read(arguments: tuple[str, ...], mistake: str) -> None:
    values, message = read("-w", *arguments)
    assert mistake in message
    assert values == {"write": 1}
