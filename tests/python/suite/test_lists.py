"""Keys of which one value is a list: lists of numbers, and levels."""

import pytest

from strider.engine import Description, Json, Parameter, Pattern
from strider.errors import StriderError
from strider.suite import Changes, Suite
from strider.suite.document import parse
from strider.suite.load import build
from strider.suite.values import convert

HEAD = '[suite]\nname = "s"\ntarget = "/data"\n[[case]]\ninterface = "posix"\n'
DIMS = Parameter(name="dims", kind="numbers", minimum=1)
LEVELS = Parameter(name="levels", kind="levels", minimum=1)


@pytest.fixture
def lists(description: Description) -> Description:
    """A description with a pattern for each kind of list."""
    patterns = [Pattern(name="array", parameters=[DIMS]), Pattern(name="nested", parameters=[LEVELS])]
    return description.model_copy(update={"patterns": [*description.patterns, *patterns]})


def suite(lists: Description, keys: str) -> Suite:
    return build(parse(HEAD + keys, "s.toml"), lists, Changes())


def values(lists: Description, pattern: str, keys: str) -> list[Json]:
    """Values of a pattern's only parameter in each case."""
    cases = suite(lists, f'pattern = "{pattern}"\n{keys}').plan.cases
    return [next(value for key, value in case.pattern.items() if key != "name") for case in cases]


class TestNumbers:
    def test_a_list_is_one_value(self, lists: Description) -> None:
        assert values(lists, "array", "dims = [2048, 1024]") == [[2048, 1024]]

    def test_a_list_of_lists_is_crossed(self, lists: Description) -> None:
        assert values(lists, "array", "dims = [[4, 4], [8, 8, 8]]") == [[4, 4], [8, 8, 8]]

    def test_zip_takes_lists(self, lists: Description) -> None:
        cases = suite(
            lists, 'pattern = "array"\n[case.zip]\nclients = [1, 2]\ndims = [[4, 4], [8, 8]]'
        ).plan.cases
        assert [(case.clients, case.pattern["dims"]) for case in cases] == [(1, [4, 4]), (2, [8, 8])]

    @pytest.mark.parametrize(
        ("typed", "message"),
        [
            (2048, "2048 is not a list of whole numbers: write for example [2048, 2048]"),
            ([2.5], "2.5 is not a whole number"),
            (["4KiB"], '"4KiB" is not a whole number'),
            ([4, 0], "0 is too small: at least 1"),
        ],
    )
    def test_what_is_no_list_of_numbers_is_a_mistake(self, typed: Json, message: str) -> None:
        with pytest.raises(ValueError, match=message.replace("[", r"\[")):
            convert(DIMS, typed)


class TestLevels:
    def test_pairs_are_one_value(self, lists: Description) -> None:
        assert values(lists, "nested", 'levels = [[16, "1MiB"], [8, 65536]]') == [[[16, 1 << 20], [8, 65536]]]

    def test_counts_alone_leave_the_strides_to_the_engine(self, lists: Description) -> None:
        assert values(lists, "nested", "levels = [16, 8]") == [[[16], [8]]]

    def test_a_list_of_such_lists_is_crossed(self, lists: Description) -> None:
        keys = 'levels = [[[16, "1k"]], [[4, "4k"], [2, "1k"]]]'
        assert values(lists, "nested", keys) == [[[16, 1024]], [[4, 4096], [2, 1024]]]

    @pytest.mark.parametrize(
        ("typed", "message"),
        [
            (16, "16 is not a list of levels"),
            ([[1, 2, 3]], r"\[1, 2, 3\] is not a level"),
            ([["4k", 1]], "is not a level"),
            ([[16, "x"]], '"x" is not a size'),
            ([[16, 1.5]], "1.5 is not a stride in bytes"),
            ([[0, 4096]], "0 is too small"),
        ],
    )
    def test_what_is_no_list_of_levels_is_a_mistake(self, typed: Json, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            convert(LEVELS, typed)


@pytest.mark.parametrize(
    ("pattern", "keys"),
    [
        ("array", "dims = [4, 8]"),
        ("nested", "levels = [4, 8]"),
        ("strided", 'operations = ["write", "read"]'),
    ],
)
def test_a_single_list_cannot_be_zipped(lists: Description, pattern: str, keys: str) -> None:
    with pytest.raises(
        StriderError, match=r"s\.toml:8: zip: .* write a list of lists, one list for each step"
    ):
        suite(lists, f'pattern = "{pattern}"\n[case.zip]\n{keys}\nclients = [1, 2]')
